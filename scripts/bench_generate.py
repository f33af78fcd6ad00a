"""Memory and CPU of stage=generate at several sizes: the parent's peak memory must not grow with the dataset.

Each size runs in a process of its own; memory is the parent's VmHWM, CPU is parent and workers together.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path


def measure(count: int, words: list[str]) -> dict[str, float]:
    """Generate once in this process and say what it took."""
    from proceval import config
    from proceval.folder import RunFolder

    settings = config.compose("stage=generate", f"count={count}", *words)
    stage = config.build(settings["stage"], "stage")
    with tempfile.TemporaryDirectory() as home:
        folder = RunFolder(path=Path(home) / "run", settings=settings, inputs="bench", outputs=Path(home), dataset=None)
        with folder.open(fresh=True, writes=True):
            stage.run(folder)
            problems = sum(1 for _ in folder.problems())
            megabytes = (folder / "dataset.jsonl").stat().st_size / 1e6
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "problems": problems,
        "dataset_mb": megabytes,
        "parent_peak_mb": used[0].ru_maxrss / 1024,
        "worker_peak_mb": used[1].ru_maxrss / 1024,
        "cpu_s": sum(u.ru_utime + u.ru_stime for u in used),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[100, 1000], help="problems per family and tier")
    parser.add_argument("--words", nargs="*", default=["domain=arrays", "difficulty=medium"], help="overrides")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        found = measure(arguments.one, arguments.words)
        print(
            "  ".join(f"{name} {value:,.0f}" for name, value in found.items()),
            f" per problem {1000 * found['cpu_s'] / found['problems']:.1f} ms CPU",
        )
        return
    for count in arguments.counts:
        command = [sys.executable, __file__, "--one", str(count), "--words", *arguments.words]
        subprocess.run(
            command,
            check=True,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        )


if __name__ == "__main__":
    main()
