"""Fill README.md's output blocks with what the commands really print; `--check` fails when a block is stale.

Versions, commits, paths and times are masked before comparing: they differ between machines and say nothing.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"(<!-- block: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
VOLATILE = (
    (re.compile(r"^proceval \d.*$", re.MULTILINE), "proceval VERSION, python VERSION, commit COMMIT"),
    (re.compile(r"^results  .*?outputs/", re.MULTILINE), "results  outputs/"),
    (re.compile(r"dataset=\S*?outputs/"), "dataset=outputs/"),
    (re.compile(r"median\s+latency\s+[\d.]+ s"), "median latency 0.00 s"),
    (re.compile(r"-[0-9a-f]{8}$", re.MULTILINE), "-IDENTITY"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)

MACHINE = re.compile(
    r"^(evaluate|passed|wrong_answer|timeout|resource_limit|runtime_error|no_code|refused|truncated|did not occur"
    r"|mock|  easy|  medium|  hard|median|== replay)\b.*$",
    re.MULTILINE,
)
"""Lines whose numbers may differ between machines (a hog dies of memory here, of time there): shown, not compared."""


def proceval(home: Path, *words: str) -> str:
    """What `python -m proceval WORDS` prints, standard error first. Raises CalledProcessError when it fails."""
    run = subprocess.run(
        [sys.executable, "-m", "proceval", *words],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "WANDB_SILENT": "true"},
        capture_output=True,
        text=True,
        check=True,
    )
    head = [line for line in run.stderr.splitlines() if not line.startswith(("results", "next"))]
    tail = [line for line in run.stderr.splitlines() if line.startswith(("results", "next"))]
    return "\n".join([*head, run.stdout.rstrip(), *tail])


def blocks(home: Path) -> dict[str, str]:
    """Name -> fresh text of every block."""
    main = proceval(home)
    (folder,) = (path for path in home.glob("outputs/[!.]*") if path.is_dir())
    rows = [json.loads(line) for line in (folder / "dataset.jsonl").read_text(encoding="utf-8").splitlines()]
    chosen = next(row for row in rows if row["family"] == "dag_reachability" and row["difficulty"] == "easy")
    show = proceval(home, "stage=show", f"id={chosen['id']}")
    index = [
        json.loads(line) for line in (folder / "certificates" / "index.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    proof = next(item for item in index if item["problem_id"] == chosen["id"] and item["test"] == 0)
    texts = [_smt(folder, query["smt_sha256"]) for query in proof["queries"]]
    added = "\n".join(line for line in texts[-1].splitlines() if line not in texts[0].splitlines())
    smt = f"{texts[0]}(check-sat)   ; {proof['queries'][0]['verdict']}\n\n; and for uniqueness, on top of it\n{added}\n"
    if "(check-sat)" in texts[0]:
        smt = f"{texts[0]}\n; and for uniqueness, on top of it\n{added}\n"
    return {"main": _fenced("text", main), "show": _fenced("text", show.strip()), "smt": _fenced("smt2", smt.strip())}


def _smt(folder: Path, sha256: str) -> str:
    return gzip.decompress((folder / "certificates" / sha256[:2] / f"{sha256}.smt2.gz").read_bytes()).decode()


def _fenced(language: str, text: str) -> str:
    for pattern, mask in VOLATILE:
        text = pattern.sub(mask, text)
    return f"````{language}\n{text}\n````\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 when a block is stale")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        fresh = blocks(Path(home))
    before = README.read_text(encoding="utf-8")
    after = BLOCK.sub(lambda found: found[1] + fresh[found[2]] + found[3], before)
    if arguments.check:
        stale = MACHINE.sub("", after) != MACHINE.sub("", before)
        if stale:
            print("README.md is stale: run python scripts/readme.py", file=sys.stderr)
            pairs = zip(MACHINE.sub("", before).splitlines(), MACHINE.sub("", after).splitlines(), strict=False)
            print("\n".join(f"- {old}\n+ {new}" for old, new in pairs if old != new), file=sys.stderr)
        return int(stale)
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
