import json
import subprocess
import sys
import tomllib

sys.path.append(".")
with open("app.toml", "rb") as file:
    print(json.dumps(tomllib.load(file), sort_keys=True))
import reader

print(json.dumps(reader.load(), sort_keys=True))
print(json.dumps(reader.load("check/other.toml"), sort_keys=True))
try:
    reader.load("nowhere.toml")
except FileNotFoundError:
    print("missing")
ran = subprocess.run([sys.executable, "tool.py"], capture_output=True, text=True)
print(*sorted(ran.stdout.splitlines()), ran.returncode, sep="\n")
