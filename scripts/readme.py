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
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from proceval.console.drawing import draw  # noqa: E402

README = ROOT / "README.md"
PICTURE = "docs/assets/readme-instance.svg"
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


def proceval(home: Path, *words: str, status: int = 0) -> tuple[str, str, str]:
    """What `python -m proceval WORDS` prints: its progress, its tables, and where they lie. Raises on another status."""
    run = subprocess.run(
        [sys.executable, "-m", "proceval", *words],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "WANDB_SILENT": "true"},
        capture_output=True,
        text=True,
    )
    if run.returncode != status:
        said = f"{run.stdout[-6000:]}\n{run.stderr}"
        raise SystemExit(f"python -m proceval {' '.join(words)}: status {run.returncode}\n{said}")
    head = [line for line in run.stderr.splitlines() if not line.startswith(("results", "next"))]
    tail = [line for line in run.stderr.splitlines() if line.startswith(("results", "next"))]
    return "\n".join(head), run.stdout.rstrip(), "\n".join(tail)


def blocks(home: Path) -> tuple[dict[str, str], str]:
    """Name -> fresh text of every block, and the picture of the problem that is shown."""
    head, tables, tail = proceval(home)
    (folder,) = (path for path in home.glob("outputs/[!.]*") if path.is_dir())
    chosen = _chosen(folder)
    _, show, _ = proceval(home, "stage=show", f"id={chosen['id']}")
    _, sweep, _ = proceval(home, "--multirun", "model=mock,gold", "difficulty=easy,hard", "count=2", "samples=3")
    ((_, drawn),) = draw(chosen["arguments"], chosen["expected"])
    return {
        "head": _fenced("text", f"{head}\n...\n{tail}"),
        "main": _fenced("text", tables),
        "show": _fenced("text", show.strip()),
        "smt": _fenced("smt2", _queries(folder, chosen["id"])),
        "picture": f"![a graph of {chosen['arguments']['n']} vertices, its source marked]({PICTURE})\n",
        "sweep": _fenced("text", _sections(sweep, "Jobs", "Evaluation")),
        **_tracks(home),
    }, drawn + "\n"


def _tracks(home: Path) -> dict[str, str]:
    """What the two tracks print offline: a review is a measurement, an agent's failed case is a finding."""
    _, review, _ = proceval(home, "track=review", "model=scripted_reviewer", "tracker=off", "figures=false")
    _, agent, _ = proceval(home, "track=agent", "model=scripted_agent", "tracker=off", "figures=false")
    return {
        "review": _fenced("text", _sections(review, "Review:")),
        "agent": _fenced("text", _sections(agent, "PASS", "FAIL", "30/30")),
    }


def _sections(text: str, *heads: str) -> str:
    """The paragraphs that begin with one of these words; of several alike, as in a sweep, the last."""
    found: dict[str, str] = {}
    for paragraph in text.split("\n\n"):
        first = paragraph.strip("\n").split("\n")[0]
        if first.startswith(heads):
            found.pop(first, None)
            found[first] = paragraph.strip("\n")
    return "\n\n".join(found.values())


def _chosen(folder: Path) -> dict[str, Any]:
    """The smallest graph on which the model once gave a wrong answer."""
    failed = {row["problem_id"] for row in _rows(folder / "verdicts.jsonl") if row["outcome"] == "wrong_answer"}
    rows = [row for row in _rows(folder / "dataset.jsonl") if row["family"] == "dag_reachability"]
    return min(
        rows,
        key=lambda row: (row["id"] not in failed, row["difficulty"] == "hard", len(str(row["arguments"])), row["id"]),
    )


def _queries(folder: Path, problem_id: str) -> str:
    """Both queries of the main instance, the second as what it adds to the first."""
    proofs = _rows(folder / "certificates" / "index.jsonl")
    proof = next(row for row in proofs if row["problem_id"] == problem_id and row["test"] == 0)
    first, last = (_smt(folder, proof["queries"][place]["smt_sha256"]) for place in (0, -1))
    added = "\n".join(line for line in last.splitlines() if line not in first.splitlines())
    verdicts = [query["verdict"] for query in proof["queries"]]
    return f"{first}(check-sat)   ; {verdicts[0]}\n\n; and for uniqueness, on top of it\n{added}\n(check-sat)   ; {verdicts[-1]}"


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


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
        fresh, drawn = blocks(Path(home))
    before = README.read_text(encoding="utf-8")
    after = BLOCK.sub(lambda found: found[1] + fresh[found[2]] + found[3], before)
    picture = ROOT / PICTURE
    if arguments.check:
        stale = not picture.is_file() or picture.read_text(encoding="utf-8") != drawn
        stale = stale or MACHINE.sub("", after) != MACHINE.sub("", before)
        if stale:
            print("README.md is stale: run python scripts/readme.py", file=sys.stderr)
            pairs = zip(MACHINE.sub("", before).splitlines(), MACHINE.sub("", after).splitlines(), strict=False)
            print("\n".join(f"- {old}\n+ {new}" for old, new in pairs if old != new), file=sys.stderr)
        return int(stale)
    picture.write_text(drawn, encoding="utf-8")
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
