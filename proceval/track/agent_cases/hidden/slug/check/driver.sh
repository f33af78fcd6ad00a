# What the tests say of the code as it is, and of each version beside this script: some are broken, some only written otherwise.
for version in slug.py check/*.py; do
  folder=$(mktemp -d)
  cp "$version" "$folder/slug.py"
  cp -r tests "$folder/tests"
  (cd "$folder" && python3 -P -m unittest discover -q -s tests -t . > log 2>&1)
  status=$?
  [ $status = 0 ] && grep -q '^Ran [1-9]' "$folder/log" && echo "$version pass" || echo "$version fail"
done
