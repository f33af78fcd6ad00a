folder=$(mktemp -d)
here=$PWD
cd "$folder" || exit 1
mkdir -p site/sub/deeper siteless "site/a..b"
echo secret > secret; echo other > siteless/file; echo top > site/top.txt; echo low > site/sub/deeper/low.txt
echo dots > "site/a..b/..c"; echo hidden > site/.profile
ln -s ../top.txt site/sub/inside; ln -s ../secret site/outside; ln -s /etc/passwd site/absolute; ln -s ../siteless site/folder
ln -s sub site/short
paths='"top.txt", "/top.txt", "//sub/deeper/low.txt", "a..b/..c", ".profile", "sub/../top.txt", "sub/inside", "short/deeper/low.txt",
"../secret", "....//secret", "sub/../../secret", "..././secret", "../siteless/file", "outside", "absolute", "folder/file", "/etc/passwd",
"missing", "sub", "", "top.txt\u0000", "short/../../secret"'
cd "$here" || exit 1
for site in "$folder/site" "$folder/site/"; do
  echo "[\"$site\", $paths]" | python3 -P check/probe.py | tr '\000' '0'
done
cd "$folder" && cp "$here/served.py" . && mkdir check && cp "$here/check/probe.py" check/
echo '["site", "top.txt", "../secret", "outside"]' | python3 -P check/probe.py
