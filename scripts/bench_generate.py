"""Memory and CPU of stage=generate and stage=verify at several sizes: neither's memory may grow with the dataset.

    python scripts/bench_generate.py --counts 1000 20000 --words domain=arrays difficulty=medium workers=2

Each stage of each size runs in a process of its own; memory is the peak of the parent and of its largest worker, CPU is
parent and workers together.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def measure(stage_name: str, count: int, home: Path, words: list[str]) -> dict[str, float]:
    """Run one stage in this process and say what it took."""
    from proceval import config
    from proceval.folder import RunFolder

    settings = config.compose(f"stage={stage_name}", f"count={count}", *words)
    stage = config.build(settings["stage"], "stage")
    made = str(home / "run") if stage_name == "verify" else None
    folder = RunFolder(path=home / "run", settings=settings, inputs="bench", outputs=home, dataset=made)
    with folder.open(fresh=False, writes=stage.writes):
        status = stage.run(folder)
    if status:
        raise SystemExit(f"stage={stage_name} ended with status {status}")
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "parent_mb": used[0].ru_maxrss / 1024,
        "worker_mb": used[1].ru_maxrss / 1024,
        "cpu_s": sum(u.ru_utime + u.ru_stime for u in used),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[100, 1000], help="problems per family and tier")
    parser.add_argument("--words", nargs="*", default=["domain=arrays", "difficulty=medium"], help="overrides")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        stage, count, home = given.one
        print(json.dumps(measure(stage, int(count), Path(home), given.words)))
        return
    print("count a cell  problems  dataset MB  stage     parent MB  worker MB  CPU ms a problem")
    for count in given.counts:
        with tempfile.TemporaryDirectory() as home:
            for stage in ("generate", "verify"):
                command = [sys.executable, __file__, "--one", stage, str(count), home, "--words", *given.words]
                ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                       env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
                found = json.loads(ended.stdout.splitlines()[-1])
                dataset = Path(home) / "run" / "dataset.jsonl"
                problems = sum(1 for _ in dataset.open("rb"))
                print(
                    f"{count:12,}{problems:10,}{dataset.stat().st_size / 1e6:12.1f}  {stage:10}{found['parent_mb']:9.1f}"
                    f"{found['worker_mb']:11.1f}{1000 * found['cpu_s'] / problems:18.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
