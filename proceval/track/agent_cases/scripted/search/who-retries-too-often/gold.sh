grep -rn 'retry\|persist\|attempt' lib jobs > /dev/null
cat <<'END'
`times` counts the retries, so three calls are times=2.

jobs/import_users.py:import_users
jobs/mail.sh:send_all
lib/client.py:upload
END
