cat > palette.py <<'END'
NAMES = ["red", "green", "teal"]  # in the order of the rainbow
OPTIONS = {"--light": "light colours", "--dark": "dark colours"}
END
printf '# Palette\n\nColours: red, green, teal. Options: --light, --dark.\n' > README.md
git add -A
git commit -q --no-edit
git log -1 --format=%s
