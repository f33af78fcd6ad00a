"""The options that each of the two texts names, and the defaults of the table. Nothing of the workspace is run."""

import re

for path in ("README.md", "docs/options.md"):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    print(path, *sorted(set(re.findall(r"--[a-z][a-z-]*", text))))
rows = {}
for line in text.splitlines():
    cells = [cell.strip(" `") for cell in line.strip().strip("|").split("|")]
    if re.match("--[a-z]", cells[0]) and len(cells) >= 2:
        rows.setdefault(cells[0].split()[0], []).append(cells[1])
for name, defaults in sorted(rows.items()):
    print(name, *defaults)
