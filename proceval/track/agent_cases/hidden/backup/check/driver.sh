# Names of every kind, in a source and a target that have spaces themselves; then relative names with a hyphen.
export LC_ALL=C
folder=$(mktemp -d)
cp backup.sh "$folder/backup.sh"
cd "$folder" || exit 1
mkdir -p "the source/a b" "the source/-n" "the source/empty"
echo 1 > "the source/a b/one file"
echo 2 > "the source/-n/-rf"
echo 3 > "the source/*"
echo 4 > "the source/a b/*"
echo 5 > "the source/[x]"
echo 6 > "the source/-n/"$'two\nlines'
echo 7 > "the source/ends with newline"$'\n'
: > "the source/-n/one file"
show() { (cd -- "$1" && for copy in *; do printf '%q: ' "$copy"; tr '\n' ' ' < "./$copy"; echo; done); }
bash backup.sh "the source" "the target"
show "the target"
bash backup.sh "the source/empty" "nothing"
ls -A nothing | wc -l
cd "the source" && bash ../backup.sh -n ./-t && show ./-t
