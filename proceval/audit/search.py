"""Looks for an instance that kills what the targeted pool leaves alive: open integers on the shapes of known instances."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from proceval.audit.guard import Guard, Limits
from proceval.audit.runner import Function
from proceval.errors import Malformed
from proceval.protocols import Family, Instance, Section
from proceval.prover.symbolic import Explored, differences
from sandbox.worker import Worker

MOST_PATHS = 200
"""Paths walked for one seed."""
MOST_MODELS = 6
"""Instances taken from one seed; several, because those outside the contract are no use."""
_STEPS_FACTOR, _STEPS_BASE = 5, 50
"""Steps of a mutant on a path, by the reference's: far fewer than in an audit, because more only makes a candidate."""


@dataclass(frozen=True)
class Hunt:
    """What a search for one mutant gave."""

    witness: Instance | None
    """An instance within the contract that kills the mutant, confirmed by running it."""
    seeds: int
    """Seeds that were explored."""
    proved: int
    """Seeds for which no integers of their sign and weak order tell the mutant apart."""


@dataclass(frozen=True)
class _Work:
    reference: str
    mutant: str
    entry_point: str
    seed: Instance


def hunt(family: Family, mutants: Mapping[str, str], seeds: Sequence[Instance], guard: Guard) -> dict[str, Hunt]:
    """Search each mutant (id -> text) on these seeds until an instance kills it; runs in a killable child."""
    limits = Limits(cpu_s=5.0, wall_s=300.0, memory_bytes=guard.limits.memory_bytes)
    if not mutants or not seeds:
        return {name: Hunt(None, 0, 0) for name in mutants}
    with Worker(_explore, **vars(limits)) as worker:
        return {name: _one(family, text, seeds, guard, worker) for name, text in mutants.items()}


def _one(family: Family, mutant: str, seeds: Sequence[Instance], guard: Guard, worker: Worker) -> Hunt:
    proved = 0
    for number, seed in enumerate(seeds, 1):
        reply = worker.call(_Work(family.reference, mutant, family.entry_point, seed))
        found, explored = reply.value if reply.status == "done" else ([], None)
        for instance in found:
            if _kills(family, mutant, instance, guard):
                return Hunt(instance, number, proved)
        # Candidates that break the contract, or that do not kill, leave the seed unproved.
        proved += bool(explored and explored.complete and explored.open_integers and not found)
    return Hunt(None, len(seeds), proved)


def _kills(family: Family, mutant: str, instance: Instance, guard: Guard) -> bool:
    try:
        family.validate(instance)
    except Malformed:
        return False
    truth = family.oracle(instance)
    if truth.status != "unique":
        return False
    misses, rows = guard.run(family.reference, family.entry_point, [(instance, truth.answer)], [mutant])
    return not misses and any(rows[0].kills)


def _explore(work: _Work, section: Section) -> tuple[list[Instance], Explored | None]:
    """In the child: candidates from one seed, and how far the exploration went."""
    section("explore")
    steps = 0
    reference, mutant = Function(work.reference, work.entry_point), Function(work.mutant, work.entry_point)

    def first(arguments: Callable[[], dict[str, Any]]) -> tuple[str, Any]:
        nonlocal steps
        kill, value, steps = reference.attempt(arguments, 100_000)
        return kill or "value", value

    def second(arguments: Callable[[], dict[str, Any]]) -> tuple[str, Any]:
        kill, value, _ = mutant.attempt(arguments, _STEPS_FACTOR * steps + _STEPS_BASE)
        return kill or "value", value

    candidates: list[Instance] = []
    stream: Iterator[dict[str, Any] | Explored] = differences(first, second, work.seed, MOST_PATHS)
    for found in islice(stream, MOST_MODELS + 1):
        if isinstance(found, Explored):
            return candidates, found
        candidates.append(found)
    return candidates, None
