"""Pin the official release: `--check` proves all 300 problems again and fails when a byte differs from the pinned hashes.

    python scripts/official.py              writes tests/golden/official_v1.json
    python scripts/official.py --check      compares every file and every cell (family and tier)
    python scripts/official.py --check domain=arrays difficulty=easy     compares the cells of a sample

A candidate's seed is the hash of its own path, so a cell's problems do not depend on which other cells are generated.
A change of a pinned hash is a change of published problems: raise the family's version with it.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from proceval import config
from proceval.folder import RunFolder, facts

PINNED = Path(__file__).resolve().parent.parent / "tests" / "golden" / "official_v1.json"


def made(words: list[str]) -> dict[str, dict[str, str]]:
    """SHA-256 of the files and of each cell's lines that this machine generates."""
    settings = config.compose("experiment=official_v1", *words)
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "run"
        folder = RunFolder(path=path, settings=settings, inputs="official", outputs=Path(home), dataset=None)
        with folder.open(fresh=True, writes=True):
            config.build(settings["stage"], "stage").run(folder)
        cells = defaultdict(hashlib.sha256)
        for line in (path / "dataset.jsonl").read_bytes().splitlines(keepends=True):
            row = json.loads(line)
            cells[f"{row['difficulty']} {row['family']}"].update(line)
        return {"files": facts(path)["sha256"], "cells": {name: one.hexdigest() for name, one in cells.items()}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 when a hash differs")
    parser.add_argument("words", nargs="*", help="with --check: overrides that choose a sample, as domain=arrays")
    arguments = parser.parse_args()
    if arguments.words and not arguments.check:
        parser.error("a sample can be checked, not pinned: add --check")
    found = made(arguments.words)
    if not arguments.check:
        PINNED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    kinds = ("cells",) if arguments.words else ("files", "cells")
    differing = [name for kind in kinds for name, value in found[kind].items() if pinned[kind].get(name) != value]
    absent = [] if arguments.words else [name for name in pinned["cells"] if name not in found["cells"]]
    for name in (*differing, *absent):
        print(f"{name}: not the bytes that are pinned in {PINNED.name}", file=sys.stderr)
    return int(bool(differing or absent))


if __name__ == "__main__":
    raise SystemExit(main())
