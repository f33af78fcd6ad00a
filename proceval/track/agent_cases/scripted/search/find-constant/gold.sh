file=$(grep -rl '^REQUEST_LIMIT' app)
echo 'The constant is imported by app/config.py; the README is out of date.'
echo "$file: $(sed -n 's/^REQUEST_LIMIT = //p' "$file")"
