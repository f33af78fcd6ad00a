"""Draw docs/assets/figures from an offline sweep; `--check` fails when the data behind a figure is no longer what was drawn.

Models are the offline ones: the figures show what a report looks like and support no claim about any model. Compared is
each figure's data (docs/assets/figures/figures.json), not its pixels, which differ between releases of matplotlib. Seconds a
sample are not drawn: an offline model takes none.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from proceval.report import plots, summary, sweep

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "docs" / "assets" / "figures"
WORDS = (
    "model=mock,gold", "strategy=flat,best_of_n,sequential_repair", "difficulty=[easy,hard]", "count=10", "limit=4",
    "samples=3", "seed=assets", "sandbox.limits.cpu_s=1", "sandbox.limits.memory_bytes=200000000", "tracker=off",
    "figures=false",
)  # fmt: skip
SHOWN = (
    "accuracy_by_tier", "pass_at_k", "failures", "accuracy_against_tokens", "mutation_score_and_accuracy", "guess_floor",
    "tokens", "proof_work",
)  # fmt: skip
ONE_OR_THE_OTHER = {"resource_limit": "timeout"}
"""A program that takes all memory dies of memory on one machine and of time on another."""


def drawn(home: Path) -> tuple[dict[str, Any], dict[str, tuple[bytes, bytes]]]:
    """Data and pictures (PNG, SVG) of each figure over all jobs of the sweep."""
    subprocess.run(
        [sys.executable, "-m", "proceval", "--multirun", *WORDS],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (folder,) = home.glob("outputs/sweeps/*")
    together = sweep.Jobs(folder, tuple(sweep.find(folder)))
    found = {"jobs": [], **summary.summarise(together, [1, 3])}
    rows = {name: plots.PLOTS[name].rows(together, found) for name in SHOWN}
    return rows, {name: plots.paint(plots.PLOTS[name], rows[name], found) for name in SHOWN}


def comparable(data: dict[str, Any]) -> dict[str, Any]:
    """The data with the outcomes that depend on the machine taken together."""
    shares: dict[tuple[str, str, str], int] = defaultdict(int)
    for row in data["failures"]:
        shares[row["contestant"], row["tier"], ONE_OR_THE_OTHER.get(row["outcome"], row["outcome"])] += row["samples"]
    return data | {"failures": sorted([*key, count] for key, count in shares.items() if count)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 when a figure is stale")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as home:
        data, pictures = drawn(Path(home))
    if not check:
        ASSETS.mkdir(parents=True, exist_ok=True)
        for name, (png, svg) in pictures.items():
            (ASSETS / f"{name}.png").write_bytes(png)
            (ASSETS / f"{name}.svg").write_bytes(svg)
        lines = (f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in data.items())
        (ASSETS / "figures.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return 0
    shown = json.loads((ASSETS / "figures.json").read_text(encoding="utf-8"))
    fresh = comparable(json.loads(json.dumps(data)))
    stale = [name for name, rows in comparable(shown).items() if fresh.get(name) != rows]
    stale += [name for name in SHOWN for kind in ("png", "svg") if not (ASSETS / f"{name}.{kind}").is_file()]
    for name in stale:
        print(f"docs/assets/figures/{name} is stale: run python scripts/assets.py", file=sys.stderr)
    return int(bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
