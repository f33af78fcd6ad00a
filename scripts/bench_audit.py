"""What one mutant with its suite costs: our runner beside a fork, a fresh interpreter, and two published tools.

    python scripts/bench_audit.py                            our runner, fork per mutant, fresh interpreter
    python scripts/bench_audit.py --verdicts 100000          and that many verdicts by our runner, timed
    python scripts/bench_audit.py --rivals VENV              and cosmic-ray and mutmut from a virtual environment

All arms judge the same references with the same tests in one run. CPU seconds are of this process and its children.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import rivals
from ledger import parts

from proceval.audit.gate import Gate
from proceval.audit.runner import Case, Function, measure
from proceval.audit.template import template
from proceval.protocols import Family
from proceval.schema import Test
from proceval.seeding import rng

REFERENCES = ("monotonic_split", "dag_reachability", "dag_topological_position")
CPU_S = 1
"""CPU limit of a mutant in the arms that know no step budget."""


class Counts(NamedTuple):
    """What an arm found."""

    mutants: int
    killed: int
    stopped: int
    """Killed by a clock or a resource limit."""


@dataclass(frozen=True)
class Subject:
    """One reference with a suite that passes the gate."""

    family: Family
    tests: list[Test]
    mutants: list[str]


def subject(family: Family, gate: Gate) -> Subject:
    for index in range(1000):
        main = family.sample(rng("bench", family.name, index), "hard")
        if family.oracle(main).status == "unique":
            break
    chosen = gate.choose(family, main, family.oracle(main).answer, rng("bench"))
    tests = [Test(arguments=i, expected=family.oracle(i).answer, origin="targeted") for i in (main, *chosen)]
    return Subject(family, tests, [m.text for m in template(family.reference, gate.tiers).runnable])


def in_process(one: Subject, gate: Gate) -> Counts:
    calls = [(test.arguments, test.expected) for test in one.tests]
    _, rows = gate.guard.run(one.family.reference, one.family.entry_point, calls, one.mutants)
    return Counts(len(rows), sum(any(row.kills) for row in rows), sum(row.note is not None for row in rows))


def program(text: str, one: Subject) -> str:
    """A mutant and its tests as one program: exit status 0 when all pass."""
    calls = [(test.arguments, test.expected) for test in one.tests]
    return (
        f"{text}\nimport resource\nresource.setrlimit(resource.RLIMIT_CPU, ({CPU_S}, {CPU_S}))\n"
        f"for arguments, expected in {calls!r}:\n    value = {one.family.entry_point}(**arguments)\n"
        "    if type(value) is not type(expected) or value != expected: raise SystemExit(1)\n"
    )


def forked(run: Callable[[], bool]) -> int:
    """Wait status of a forked child: 0 when the run says that nothing was killed."""
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        status = 1
        try:
            status = int(run())
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


def fork_each(one: Subject, gate: Gate) -> Counts:
    """A child for each mutant, which runs it under our step budget."""
    reference = Function(one.family.reference, one.family.entry_point)
    cases = measure(reference, [(t.arguments, t.expected) for t in one.tests], gate.guard.factor, gate.guard.base)

    def killed(text: str) -> bool:
        mutant = Function(text, one.family.entry_point)
        return any(isinstance(case, Case) and mutant.call(case).kill for case in cases)

    statuses = [forked(lambda text=text: killed(text)) for text in one.mutants]  # type: ignore[misc]
    return Counts(len(statuses), sum(map(bool, statuses)), 0)


def fork_each_by_clock(one: Subject, gate: Gate) -> Counts:
    """A child for each mutant, with a CPU limit and no step budget."""

    def killed(text: str) -> bool:
        exec(compile(program(text, one), "<mutant>", "exec"), {"__name__": "mutant"})
        return False

    statuses = [forked(lambda text=text: killed(text)) for text in one.mutants]  # type: ignore[misc]
    return Counts(len(statuses), sum(map(bool, statuses)), sum(map(os.WIFSIGNALED, statuses)))


def fresh_interpreter(one: Subject, gate: Gate) -> Counts:
    killed = stopped = 0
    for text in one.mutants:
        status = subprocess.run(
            [sys.executable, "-I", "-c", program(text, one)], capture_output=True, check=False
        ).returncode
        killed += status != 0
        stopped += status < 0
    return Counts(len(one.mutants), killed, stopped)


def spent_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def timed(label: str, work: Callable[[], Counts], gate: Gate) -> None:
    """Print one row; our guard's child is ended before and after, so that all its CPU time is counted."""
    gate.close()
    cpu_s, wall_s = spent_s(), time.monotonic()
    counts = work()
    gate.close()
    cpu_s, wall_s = spent_s() - cpu_s, time.monotonic() - wall_s
    row(label, counts, cpu_s, wall_s)


def row(label: str, counts: Counts, cpu_s: float, wall_s: float) -> None:
    each = 1000 * cpu_s / counts.mutants
    print(
        f"{label:32}{counts.mutants:8}{counts.killed:8}{counts.stopped:9}{cpu_s:10.2f}{each:13.3f}{wall_s:8.1f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=int, default=20_000, help="verdicts of the last row of our runner")
    parser.add_argument("--rivals", type=Path, help="a virtual environment with cosmic-ray, mutmut and pytest")
    chosen = parser.parse_args()
    families, gate = parts()
    subjects = [subject(families[name], gate) for name in REFERENCES]
    suites = ", ".join(f"{one.family.name} {len(one.mutants)} mutants, {len(one.tests)} tests" for one in subjects)
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores; {suites}\n")
    print(f"{'arm':32}{'mutants':>8}{'killed':>8}{'by clock':>9}{'CPU s':>10}{'CPU ms each':>13}{'wall s':>8}")

    def over_all(arm: Callable[[Subject, Gate], Counts]) -> Counts:
        return Counts(*map(sum, zip(*(arm(one, gate) for one in subjects), strict=True)))

    def many() -> Counts:
        total = Counts(0, 0, 0)
        while total.mutants < chosen.verdicts:
            total = Counts(*map(sum, zip(total, over_all(in_process), strict=True)))
        return total

    timed("in process, step budget (cold)", lambda: over_all(in_process), gate)
    timed("in process, step budget (many)", many, gate)
    timed("fork per mutant, step budget", lambda: over_all(fork_each), gate)
    timed("fork per mutant, CPU limit", lambda: over_all(fork_each_by_clock), gate)
    timed("fresh interpreter, CPU limit", lambda: over_all(fresh_interpreter), gate)
    for tool in ("cosmic-ray", "mutmut") if chosen.rivals else ():
        ran = [
            rivals.run(tool, chosen.rivals, one.family.reference, one.family.entry_point, one.tests) for one in subjects
        ]
        mutants, alive = sum(len(one.mutants) for one in ran), sum(len(one.fate("survived")) for one in ran)
        counts = Counts(mutants, mutants - alive, sum(one.stopped for one in ran))
        row(tool, counts, sum(one.cpu_s for one in ran), sum(one.wall_s for one in ran))


if __name__ == "__main__":
    main()
