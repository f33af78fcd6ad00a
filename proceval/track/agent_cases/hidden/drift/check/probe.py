import re
import sys

sys.path.append(".")
import pack

actions = {a.option_strings[-1]: a.default for a in pack.parser()._actions if a.option_strings and a.dest != "help"}
readme, options = (open(path, encoding="utf-8").read() for path in ("README.md", "docs/options.md"))
found = [set(re.findall(r"--[a-z][a-z-]*", text)) for text in (readme, options)]
rows = {}
for line in options.splitlines():
    cells = [cell.strip(" `") for cell in line.strip().strip("|").split("|")]
    if re.match("--[a-z]", cells[0]) and len(cells) >= 2:
        rows[cells[0].split()[0]] = cells[1]
right = {name: "none" if default in (None, [], False) else str(default) for name, default in actions.items()}
print(*("fine" if good else "wrong" for good in (found[0] == set(actions), found[1] == set(actions), rows == right)))
