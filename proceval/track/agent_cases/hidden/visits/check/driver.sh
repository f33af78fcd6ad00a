# What comes out, and whether wrong usage is told on standard error.
errors=$(mktemp)
run() {
  bash busiest.sh "$@" 2> "$errors"
  status=$?
  echo "status $status"
  [ $status = 0 ] || { [ -s "$errors" ] && echo "with a message" || echo "without a message"; }
}
run 2 check/one.log "check/two words.log"
run 10 "check/two words.log" check/one.log
run 1 access.log
run 0 access.log
run two access.log
run 2
run 2 access.log check/missing.log
