import json
import sys

sys.path.append(".")
from served import read_file

root, *paths = json.load(sys.stdin)
for path in paths:
    try:
        print(path, "->", read_file(root, path).strip())
    except PermissionError as error:
        print(path, "->", type(error).__name__, error)
