"""Runs mutants in a killable child, because a step budget does not stop one endless operation inside C.

A mutant that the guard had to kill for its CPU time is run once more alone; only when that happens again is it a kill.
Wall time, a lost child and a MemoryError that does not come back are faults: never a kill.
"""

import os
import reprlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proceval.audit.runner import Case, Function, Kill, Outcome, measure
from proceval.protocols import Section
from proceval.schema import Json
from sandbox.worker import Reply, Worker

Rows = list["Row"]
_SHOWN = 200
_FRAMES = 3000
"""Calls that a mutant may nest, however deep its caller stands."""


@dataclass(frozen=True)
class Row:
    """What one mutant did on every test."""

    kills: tuple[Kill | None, ...]
    values: tuple[Any, ...] = ()
    """What it returned or raised, as text; only when asked for."""
    fault: str | None = None
    """Why there is no answer for this mutant: the runner's failure, not the mutant's."""
    note: str | None = None
    """For a kill by the guard: which limit."""


@dataclass(frozen=True)
class _Work:
    reference: str
    entry_point: str
    tests: Sequence[tuple[Mapping[str, Json], Json]]
    mutants: Sequence[str]
    factor: int
    base: int
    values: bool


@dataclass(frozen=True)
class _Done:
    misses: dict[int, str]
    """Tests on which the reference itself fails, with what it did; text, so that no foreign object leaves the child."""
    rows: Rows


@dataclass(frozen=True)
class Limits:
    """Bounds of one mutant on all its tests together."""

    cpu_s: float
    wall_s: float
    memory_bytes: int


class Guard:
    """A lazily forked child, kept from problem to problem; a process forked from its owner gets a child of its own."""

    def __init__(self, limits: Limits, *, factor: int, base: int) -> None:
        self.limits, self.factor, self.base = limits, factor, base
        self._worker: Worker | None = None
        self._owner = 0

    def run(
        self,
        reference: str,
        entry_point: str,
        tests: Sequence[tuple[Mapping[str, Json], Json]],
        mutants: Sequence[str],
        *,
        values: bool = False,
        patience: int = 1,
    ) -> tuple[dict[int, str], Rows]:
        """(tests on which the reference itself fails and what it did, one row per mutant text).

        `values` asks for what each call gave; `patience` multiplies the step budget. Raises RuntimeError when the
        reference cannot be run at all.
        """

        def work(texts: Sequence[str]) -> Reply:
            factor, base = self.factor * patience, self.base * patience
            return self._child().call(_Work(reference, entry_point, tests, texts, factor, base, values))

        rows: dict[int, Row] = {}
        open_places = list(range(len(mutants)))
        while True:
            reply = work([mutants[i] for i in open_places])
            if reply.status == "done":
                rows.update(zip(open_places, reply.value.rows, strict=True))
                return reply.value.misses, [rows[i] for i in range(len(mutants))]
            if not reply.section:
                raise RuntimeError(f"the reference did not run: {_why(reply)}")
            place = open_places.pop(int(reply.section))
            again = work([mutants[place]])
            rows[place] = again.value.rows[0] if again.status == "done" else self._judge(reply, again, len(tests))

    def close(self) -> None:
        if self._worker is not None and self._owner == os.getpid():
            self._worker.close()
        self._worker = None

    def _child(self) -> Worker:
        if self._worker is None or self._owner != os.getpid():
            self._worker = Worker(_handle, **vars(self.limits))
            self._owner = os.getpid()
        return self._worker

    @staticmethod
    def _judge(first: Reply, second: Reply, tests: int) -> Row:
        if first.status == second.status and first.status in ("cpu", "memory"):
            spent: Kill = "step_budget"
            return Row((spent,) * tests, note=f"stopped by the {first.status} limit, twice")
        return Row((None,) * tests, fault=f"{_why(first)}; again alone: {_why(second)}")


def _why(reply: Reply) -> str:
    last = (reply.error or "").strip().splitlines()[-1:]
    return f"{reply.status}{': ' + last[0] if last else ''}"


def _handle(work: _Work, section: Section) -> _Done:
    """In the child: measure the reference, then run every mutant on every test."""
    sys.setrecursionlimit(_depth() + _FRAMES)
    measured = measure(Function(work.reference, work.entry_point), work.tests, work.factor, work.base)
    misses = {i: _did(case) for i, case in enumerate(measured) if isinstance(case, Outcome)}
    rows = []
    for place, text in enumerate(work.mutants):
        section(str(place))
        function = Function(text, work.entry_point)
        outcomes = [function.call(case) if isinstance(case, Case) else None for case in measured]
        kills = tuple(outcome.kill if outcome else None for outcome in outcomes)
        rows.append(Row(kills, tuple(map(_text, outcomes)) if work.values else ()))
    return _Done(misses, rows)


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


class _Brief(reprlib.Repr):
    """A repr of bounded length that no value can make fail."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 50
        self.maxstring = self.maxother = self.maxlong = _SHOWN

    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # more digits than Python writes out
            return f"an integer of {x.bit_length()} bits"


def shown(value: Any) -> str:
    """A value as people read it, cut at 200 characters."""
    text = _Brief().repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _did(outcome: Outcome) -> str:
    if outcome.kill == "step_budget":
        return f"went over {outcome.steps:,} steps"
    return f"raised {outcome.value}" if outcome.kill == "exception" else f"returned {shown(outcome.value)}"


def _text(outcome: Outcome | None) -> str | None:
    """A few words on what a call gave."""
    if outcome is None or outcome.kill == "step_budget":
        return None
    return f"raises {outcome.value}" if outcome.kill == "exception" else repr(outcome.value)[:200]
