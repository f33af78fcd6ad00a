folder=$(mktemp -d)
here=$PWD
cd "$folder" || exit 1
mkdir -p root/sub/deeper rootless "root/a..b"
echo secret > secret; echo other > rootless/file; echo top > root/top.txt; echo low > root/sub/deeper/low.txt
echo dots > "root/a..b/..c"; echo hidden > root/.profile
ln -s ../top.txt root/sub/inside; ln -s ../secret root/outside; ln -s /etc/passwd root/absolute; ln -s ../rootless root/folder
ln -s sub root/short
paths='"top.txt", "/top.txt", "//sub/deeper/low.txt", "a..b/..c", ".profile", "sub/../top.txt", "sub/inside", "short/deeper/low.txt",
"../secret", "....//secret", "sub/../../secret", "..././secret", "../rootless/file", "outside", "absolute", "folder/file", "/etc/passwd",
"missing", "sub", "", "top.txt\u0000", "short/../../secret"'
cd "$here" || exit 1
for root in "$folder/root" "$folder/root/"; do
  echo "[\"$root\", $paths]" | python3 -P check/probe.py | tr '\000' '0'
done
cd "$folder" && cp "$here/served.py" . && mkdir check && cp "$here/check/probe.py" check/
echo '["root", "top.txt", "../secret", "outside"]' | python3 -P check/probe.py
