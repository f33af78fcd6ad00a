cat > build.sh <<'END'
#!/bin/bash
# build.sh PARTS BOOK: join the parts of a book.
parts=$1
book=$2
mkdir -p "$(dirname "$book")"
rm -f "$book"
made=$(mktemp)
number=0
while IFS= read -r name; do
  number=$((number + 1))
  title=$(head -n 1 "$parts/$name")
  case $title in
    "# "?*) ;;
    *) echo "$name has no title" >&2; rm -f "$made"; exit 1 ;;
  esac
  echo "Chapter $number: ${title#\# }" >> "$made"
  tail -n +2 "$parts/$name" >> "$made"
done < <(ls "$parts" | grep '^part[0-9]*\.txt$' | sort -V)
mv "$made" "$book"
END
bash build.sh parts dist/book.txt && cat dist/book.txt
