for commit in $(git rev-list --reverse HEAD); do
  if [ "$(git show "$commit:convert.py" | python3 - 100)" != 212 ]; then
    bad=$commit
    break
  fi
done
git revert --no-edit "$bad" > /dev/null
git log -1 --format=%s "$bad"
