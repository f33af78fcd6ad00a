"""What one execution costs in each sandbox, beside what others do: `python scripts/bench_sandbox.py [--rounds 5]`.

One execution is the same small solution on the same ten tests. Every round runs all methods in a random order; the table
shows medians over the rounds. CPU is that of all processes involved, the driver's included, without the sandbox's start.
The rows of others are our own minimal versions of their designs, which put the expected values beside the code. The rows
called floor run no code: what they cost no design on this machine saves that forks, or makes such namespaces.
"""

import argparse
import asyncio
import contextlib
import gc
import io
import json
import multiprocessing
import os
import platform
import random
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from sandbox import wire  # noqa: E402
from sandbox.contract import Job, Limits  # noqa: E402
from sandbox.isolated import Isolated  # noqa: E402
from sandbox.process import Process  # noqa: E402

CODE = """
def f(numbers):
    squares = []
    for number in numbers:
        if number % 2 == 0:
            squares.append(number * number)
    return sorted(squares, reverse=True)
"""
INPUTS = [{"numbers": list(range(count))} for count in range(1, 11)]
EXPECTED = [sorted((n * n for n in range(count) if n % 2 == 0), reverse=True) for count in range(1, 11)]
TEXTS = [wire.encode(value) for value in EXPECTED]
LIMITS = Limits(cpu_s=2.0, wall_s=10.0, memory_bytes=512 << 20, output_bytes=1 << 20, file_bytes=1 << 20)
JOB = Job(CODE, "f", INPUTS, LIMITS)
BATCH = Job(CODE, "f", INPUTS * 50, LIMITS)
LEAVES = Job("import os\nos._exit(0)", "f", INPUTS[:1], LIMITS)

Method = Callable[[int], None]


def script() -> str:
    tests = zip(INPUTS, EXPECTED, strict=True)
    return CODE + "\n".join(f"assert f(**{arguments!r}) == {value!r}" for arguments, value in tests)


BARE = """
import gc, os, sys
sys.path.insert(0, sys.argv[2])
from sandbox import syscalls
fork, first, each = os.fork, 0, 0
if sys.argv[3] != "fork":
    first = syscalls.NEWUSER
if sys.argv[3] == "pid":
    fork = lambda made=None: pid if (pid := clone()) == 0 else os.close(clone.pidfd()) or pid
if sys.argv[3] == "all":
    each = syscalls.NEWNS | syscalls.NEWNET | syscalls.NEWIPC | syscalls.NEWUTS
if first:
    syscalls.unshare(first)
clone = syscalls.Fork()
gc.collect()
gc.freeze()
for _ in range(int(sys.argv[1])):
    child = fork()
    if child == 0:
        if each:
            syscalls.unshare(each)
        os._exit(0)
    os.waitpid(child, 0)
"""


def bare(kind: str) -> Method:
    """A floor: fork a small clean interpreter, leave, wait; as it is, into a process namespace, or with all namespaces."""

    def run(executions: int) -> None:
        folder = os.path.dirname(os.path.dirname(os.path.abspath(wire.__file__)))
        command = [sys.executable, "-I", "-S", "-B", "-c", BARE, str(executions), folder, kind]
        subprocess.run(command, check=True, capture_output=True)

    return run


def set_limits() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (2, 3))
    resource.setrlimit(resource.RLIMIT_AS, (LIMITS.memory_bytes, LIMITS.memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMITS.file_bytes, LIMITS.file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fresh_interpreter(executions: int) -> None:
    """`python -I -c` with rlimits in a process group of its own; success is exit code 0."""
    for _ in range(executions):
        command = [os.path.realpath(sys.executable), "-I", "-c", script()]
        done = subprocess.run(command, process_group=0, preexec_fn=set_limits, timeout=10, capture_output=True)
        assert done.returncode == 0


def guarded(programme: str, verdicts: Any) -> None:
    """In the child: exec with an alarm, tell the shared list."""

    def alarm(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, 10)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(programme, {})
    verdicts.append("passed")


def multiprocessing_style(executions: int) -> None:
    """As in HumanEval's harness: a manager's list and a forked process per execution."""
    forking = multiprocessing.get_context("fork")
    for _ in range(executions):
        with forking.Manager() as manager:
            verdicts = manager.list()
            child = forking.Process(target=guarded, args=(script(), verdicts))
            child.start()
            child.join(11)
            assert list(verdicts) == ["passed"]


def check(execution: Any, texts: list[Any]) -> None:
    assert [result.wire for result in execution.results] == texts, execution.fault or execution.results[:1]


def with_box(
    kind: type[Isolated] | type[Process], job: Job = JOB, workers: int = 1, *, loop: bool = False, leaves: bool = False
) -> Method:
    """One after the other, or on an event loop as many at once as there are workers."""
    texts = [None] if leaves else TEXTS * (len(job.inputs) // len(TEXTS))

    def run(executions: int) -> None:
        box = kind(workers=workers, degraded="warn", limits=LIMITS)
        box.start()
        try:
            if not loop:
                for _ in range(executions):
                    check(box.run(job), texts)
            else:
                asyncio.run(together(box, executions))
        finally:
            box.close()

    async def together(box: Isolated | Process, executions: int) -> None:
        for execution in await asyncio.gather(*[box.arun(job) for _ in range(executions)]):
            check(execution, texts)

    return run


def methods(slow: int, fast: int) -> dict[str, tuple[Method, int, int]]:
    """Name: method, executions per round, test cases per execution that the figures are divided by."""
    return {
        "floor: bare fork": (bare("fork"), fast, 1),
        "floor: bare clone, process namespace": (bare("pid"), fast, 1),
        "floor: bare fork, fresh mount, net, ipc and uts namespaces": (bare("all"), fast, 1),
        "fresh python -I -c, rlimits": (fresh_interpreter, slow, 1),
        "multiprocessing, HumanEval style": (multiprocessing_style, slow, 1),
        "process": (with_box(Process), slow, 1),
        "floor: isolated, code that leaves at once": (with_box(Isolated, LEAVES, leaves=True), fast, 1),
        "isolated": (with_box(Isolated), fast, 1),
        "isolated, event loop, 1 worker": (with_box(Isolated, loop=True), fast, 1),
        "isolated, event loop, 2 workers": (with_box(Isolated, workers=2, loop=True), fast, 1),
        "isolated, per test of a batch of 500": (with_box(Isolated, BATCH), max(1, fast // 50), len(BATCH.inputs)),
    }


def cpu_s() -> float:
    """CPU seconds of this process and of all it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def measure(method: Method, executions: int) -> tuple[float, float]:
    """Wall and CPU seconds of `executions`, less those of none."""
    taken = []
    for count in (0, executions):
        gc.collect()
        wall, cpu = time.perf_counter(), cpu_s()
        method(count)
        taken.append((time.perf_counter() - wall, cpu_s() - cpu))
    return taken[1][0] - taken[0][0], taken[1][1] - taken[0][1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow", type=int, default=20, help="executions per round of what takes tens of milliseconds")
    parser.add_argument("--fast", type=int, default=300, help="executions per round of the rest")
    parser.add_argument("--json", help="write the figures there, too")
    options = parser.parse_args()
    rows: dict[str, dict[str, list[float]]] = {}
    chosen = methods(options.slow, options.fast)
    for _ in range(options.rounds):
        for name in random.sample(list(chosen), len(chosen)):
            method, executions, cases = chosen[name]
            wall, cpu = measure(method, executions)
            row = rows.setdefault(name, {"wall_ms": [], "cpu_ms": []})
            row["wall_ms"].append(1000 * wall / executions / cases)
            row["cpu_ms"].append(1000 * cpu / executions / cases)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, user {os.geteuid()}, load {load}\n")
    fresh = statistics.median(rows["fresh python -I -c, rlimits"]["cpu_ms"])
    print("| method | CPU ms | wall ms | executions/s | fresh interpreter's CPU |\n|---|---:|---:|---:|---:|")
    for name in chosen:
        cpu, wall = (statistics.median(rows[name][key]) for key in ("cpu_ms", "wall_ms"))
        print(f"| {name} | {cpu:.2f} | {wall:.2f} | {1000 / wall:.0f} | {fresh / cpu:.1f}x |")
    if options.json:
        with open(options.json, "w") as out:
            json.dump(rows, out, indent=1)


if __name__ == "__main__":
    main()
