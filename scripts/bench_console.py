"""How fast the console's pages are on much data: 20,000 problems and 100,000 samples made from one small run.

Each page is run as a browser would have it run, without the browser: cold, then again with a filter, then after a file
changed. Prints seconds a page by the clock and, in brackets, of CPU time in all threads (what the clock shows on an idle
machine, or more), and the memory of the process.  --parquet 0 leaves the Parquet copies out.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def small_run(home: Path) -> Path:
    """A run of one problem a family and tier, whose records are the mould of all others."""
    subprocess.run(
        [sys.executable, "-m", "proceval", "count=1", "samples=5", "tracker=off", "figures=false"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    return next(path.parent for path in home.glob("outputs/*/dataset.jsonl"))


COPIES = {
    "dataset.jsonl": "dataset.parquet",
    "audit.jsonl": "audit.parquet",
    "verdicts.jsonl": "records.parquet",
}


def identity(number: int) -> str:
    return f"{number:020x}"


def grown(rows: list[str], count: int) -> Iterator[str]:
    """`count` lines with ids of their own, from the lines of a file whose ids are kept in order of first mention."""
    by_id: dict[str, list[str]] = {}
    for row in rows:
        found = json.loads(row)
        by_id.setdefault(found.get("problem_id") or found["id"], []).append(row)
    moulds = list(by_id.items())
    for number in range(count):
        old, lines = moulds[number % len(moulds)]
        for line in lines:
            yield line.replace(old, identity(number))


def grow(source: Path, target: Path, problems: int, samples: int) -> None:
    """The same files with many problems; records get keys of their own."""
    target.mkdir()
    (target / "config.yaml").write_bytes((source / "config.yaml").read_bytes())
    (target / "certificates").mkdir()
    for name in ("dataset.jsonl", "certificates/index.jsonl", "audit.jsonl", "verdicts.jsonl", "records.jsonl"):
        rows = (source / name).read_text(encoding="utf-8").splitlines()
        count = samples // 5 if name in ("verdicts.jsonl", "records.jsonl") else problems
        with (target / name).open("w", encoding="utf-8") as out:
            for number, line in enumerate(grown(rows, count)):
                if name == "records.jsonl":
                    line = line.replace(json.loads(line)["key"], f"{number:064x}")
                out.write(line + "\n")


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def now_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def measure(folder: Path) -> None:
    """Every page, run three times by the server's own script runner."""
    from streamlit.testing.v1 import AppTest

    from proceval import config
    from proceval.console import parts
    from proceval.console.desk import Desk

    settings = config.compose("track=solve")
    track, prover, sandbox = (config.build(settings[name], name) for name in ("track", "prover", "sandbox"))
    parts.install(
        parts.Parts(root=folder, desk=Desk(families={}, prover=prover, track=track, sandbox=sandbox), pass_k=(1, 3, 5))
    )
    app = ROOT / "proceval" / "console" / "app.py"
    print(f"{'page':<10}{'cold s':>14}{'again s':>14}{'changed s':>14}{'memory MiB':>12}")
    for page in ("problems", "audit", "runs"):
        trial = AppTest.from_file(str(app), default_timeout=120)
        times: list[str] = []
        if page != "problems":
            trial.run()
            trial.switch_page(f"tabs/{page}.py")
        for turn in range(3):
            if turn == 2:
                for name in ("dataset.jsonl", "audit.jsonl", "verdicts.jsonl"):
                    _touch(folder, name)
            started, spent = time.perf_counter(), time.process_time()
            trial.run()
            times.append(f"{time.perf_counter() - started:.2f} [{time.process_time() - spent:.2f}]")
            if trial.exception:
                raise SystemExit(f"{page}: {trial.exception[0].value}")
        print(f"{page:<10}{times[0]:>14}{times[1]:>14}{times[2]:>14}{now_mib():>12.0f}")
    print(f"peak {peak_mib():.0f} MiB")


def _touch(folder: Path, name: str) -> None:
    """The same bytes with a new time; the copies follow, so that they stay fresh where they exist."""
    for path in (folder / name, folder / COPIES[name]):
        if path.is_file():
            os.utime(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=20_000)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--parquet", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder to make the data in and to keep it")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        place = chosen.keep or Path(home)
        place.mkdir(parents=True, exist_ok=True)
        target = place / "large"
        if not target.is_dir():
            grow(small_run(Path(home)), target, chosen.problems, chosen.samples)
            if chosen.parquet:
                from proceval.report import parquet, summary

                parquet.write(target)
                summary.write(target, exit_status=0, versions={}, git_commit=None, ks=[1, 3, 5])
        sizes = {path.name: path.stat().st_size / 2**20 for path in sorted(target.glob("*.*"))}
        told = ", ".join(f"{name} {size:.0f} MiB" for name, size in sizes.items())
        print(f"{chosen.problems:,} problems, {chosen.samples:,} samples: {told}")
        measure(target)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    raise SystemExit(main())
