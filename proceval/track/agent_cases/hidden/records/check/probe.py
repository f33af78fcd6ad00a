import json
import sys
from pathlib import Path

sys.path.append(".")
import book

for path in sorted(Path("records").iterdir()):
    record = book.read(path)
    print(path.name, json.dumps(record, sort_keys=True, ensure_ascii=True), book.label(record), book.numbers(record))
for name in ("old", "odd"):
    try:
        print(book.read(f"check/{name}.json"))
    except ValueError as error:
        print(f"{name}.json" in str(error))
book.write("check/new.json", "Kim", None, mobile="00 1 2", notes="new")
print(json.dumps(json.loads(Path("check/new.json").read_text(encoding="utf-8")), sort_keys=True))
book.write("check/new.json", "Kim", "Possible", home="5 5")
print(json.dumps(book.read("check/new.json"), sort_keys=True), book.label(book.read("check/new.json")))
