cat > README.md <<'END'
# pack

Packs a folder: `python3 pack.py FOLDER`. Options: `--level`, `--output`, `--exclude`, `--follow-links`, `--threads`.
More in docs/options.md.
END
cat > docs/options.md <<'END'
# Options

| option | default | meaning |
|---|---|---|
| `--level` | 6 | how hard to try, 1 to 9 |
| `--output` | none | file to write |
| `--exclude` | none | pattern to leave out; may be given again |
| `--follow-links` | none | pack what links lead to |
| `--threads` | 2 | at a time |
END
echo 'Both name the five options now.'
