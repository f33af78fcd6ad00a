# The tests pass for the code as it is, and fail for each of the broken ones beside this script.
run() { (cd "$1" && python3 -P -m unittest discover -q -s tests -t . > log 2>&1); }
for version in slug.py check/*.py; do
  folder=$(mktemp -d)
  cp "$version" "$folder/slug.py"
  cp -r tests "$folder/tests"
  run "$folder"
  status=$?
  if [ "$version" = slug.py ]; then
    [ $status = 0 ] && grep -q '^Ran [1-9]' "$folder/log" || { echo "the tests fail for the right code"; exit 1; }
  else
    [ $status != 0 ] || { echo "the tests miss $version"; exit 1; }
  fi
done
