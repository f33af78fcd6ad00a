cat > busiest.sh <<'END'
#!/bin/bash
# busiest.sh N LOG...: the visitors with the most successful requests.
wrong() {
  echo "busiest.sh: $1" >&2
  exit 2
}
[[ $1 =~ ^[1-9][0-9]*$ ]] || wrong "N must be a positive whole number"
most=$1
shift
[ $# -gt 0 ] || wrong "no log"
for log in "$@"; do
  [ -f "$log" ] && [ -r "$log" ] || wrong "$log cannot be read"
done
cat -- "$@" | sed -nE 's/^([^ ]+) .*" 2[0-9][0-9] [0-9-]+$/\1/p' | LC_ALL=C sort | uniq -c |
  LC_ALL=C sort -k1,1nr -k2,2 | head -n "$most" | sed -E 's/^ +//'
END
bash busiest.sh 2 access.log
