cat > backup.sh <<'END'
#!/bin/bash
# backup.sh SOURCE TARGET: copies every regular file below SOURCE into the one folder TARGET, as NAME, or as NAME.1, NAME.2
# and so on where the name is taken; says how many there were. Files are taken in the order of `sort` in the C locale.
source=$1
target=$2
case $source in -*) source=./$source ;; esac
mkdir -p -- "$target"
count=0
while IFS= read -r -d '' file; do
  name=${file##*/}
  copy=$name
  number=0
  while [ -e "$target/$copy" ]; do
    number=$((number + 1))
    copy=$name.$number
  done
  cp -- "$file" "$target/$copy"
  count=$((count + 1))
done < <(find "$source" -type f -print0 | LC_ALL=C sort -z)
echo "$count files"
END
echo 'All names are quoted and read with a zero byte between them.'
