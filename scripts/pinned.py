"""Pin the bytes of small datasets: `--check` fails when the same seed gives other bytes than the ones pinned.

A change of any pinned hash is a change of published problems: raise the family's version with it. A new family changes
none: those that are pinned are made by name, and without `--check` all that there are.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from proceval import config  # noqa: E402
from proceval.folder import RunFolder  # noqa: E402

PINNED = ROOT / "tests" / "golden" / "pinned.json"
WORDS = ("difficulty=[easy,hard,frontier]", "seed=0")
FILES = ("dataset.jsonl", "rejections.jsonl", "certificates/index.jsonl")


def families() -> list[str]:
    """All that conf/domain names."""
    return [name for group in config.compose(*WORDS)["domain"].values() for name in group]


def hashes(families: list[str]) -> dict[str, str]:
    """File -> SHA-256 of what this machine generates, one problem of each family and tier."""
    each = ",".join(f"{name}: 1" for name in families)
    settings = config.compose("stage=generate", f"count={{{each}}}", *WORDS)
    with tempfile.TemporaryDirectory() as home:
        folder = RunFolder(
            path=Path(home) / "run", settings=settings, inputs="pinned", outputs=Path(home), dataset=None
        )
        with folder.open(fresh=True, writes=True):
            config.build(settings["stage"], "stage").run(folder)
        return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 when a hash differs")
    check = parser.parse_args().check
    pinned = json.loads(PINNED.read_text(encoding="utf-8")) if check else {"families": families()}
    fresh = {"words": list(WORDS), "families": pinned["families"], "sha256": hashes(pinned["families"])}
    if not check:
        PINNED.write_text(json.dumps(fresh, indent=1) + "\n", encoding="utf-8")
        return 0
    for name, found in fresh["sha256"].items():
        if pinned["sha256"].get(name) != found:
            print(
                f"{name}: {found[:16]} instead of the pinned {pinned['sha256'].get(name, 'nothing')[:16]}",
                file=sys.stderr,
            )
    return int(pinned != fresh)


if __name__ == "__main__":
    raise SystemExit(main())
