"""How much of one set stands in another: the same instance, or the same up to a relabelling that keeps the answer.

A private set is worth something only while nobody has seen its problems; this says how many somebody may have.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from proceval import folder as files
from proceval.errors import InputError, Malformed
from proceval.protocols import Family
from proceval.release import recheck
from proceval.release.rows import problem
from proceval.schema import Problem
from proceval.seeding import digest

Families = Mapping[str, Family]


def problems(place: str) -> Iterator[Problem]:
    """The problems of a run folder, a dataset.jsonl or a release. Raises InputError where there are none."""
    path = Path(place)
    if (path / "manifest.json").is_file():
        try:
            yield from (problem(row) for _, row in recheck.rows(path))
        except ValueError as error:
            raise InputError(str(error)) from error
        return
    file = path / "dataset.jsonl" if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"against={place}: no such file, and no folder that holds a dataset.jsonl or a manifest.json")
    yield from files.read(file, Problem)


def overlap(ours: Iterable[Problem], theirs: Iterable[Problem], families: Families) -> tuple[list[str], list[str]]:
    """(ids that stand there with the same instance, further ids that stand there relabelled), in our order.

    Main instances are compared. Tests and examples are not: small ones are shared on purpose. Problems of a family that
    is not among `families` can only be compared exactly. Raises InputError for an instance that breaks its contract.
    """
    exact, shapes = set[str](), set[str]()
    for other in theirs:
        exact.add(_instance(other))
        shapes.add(_shape(other, families))
    same, relabelled = [], []
    for own in ours:
        if _instance(own) in exact:
            same.append(own.id)
        elif _shape(own, families) in shapes:
            relabelled.append(own.id)
    return same, relabelled


def compare(ours: Callable[[], Iterable[Problem]], place: str, families: Families, say: Callable[[str], None]) -> int:
    """stage=verify against=: print the overlap by family and tier; exit status 1 when there is any."""
    same, relabelled = overlap(ours(), problems(place), families)
    found = dict.fromkeys(same, "same instance") | dict.fromkeys(relabelled, "relabelled")
    cells: Counter[tuple[str, str, str]] = Counter()
    total = 0
    for own in ours():
        total += 1
        if own.id in found:
            cells[own.difficulty, own.family, found[own.id]] += 1
    for (tier, family, how), count in sorted(cells.items()):
        print(f"{tier} {family}: {count} {how}")
    for identity, how in sorted(found.items()):
        print(f"{identity}: {how}")
    say(
        f"verify   {total} problems against {place}: {len(same)} stand there too, {len(relabelled)} more relabelled"
        " (nothing was proved again; leave out against= for that)"
    )
    return 1 if found else 0


def _instance(one: Problem) -> str:
    return digest([one.family, one.arguments])


def _shape(one: Problem, families: Families) -> str:
    family: Any = families.get(one.family)
    if family is None:
        return _instance(one)
    try:
        family.validate(one.arguments)
        return digest([one.family, family.canonical(one.arguments, one.difficulty)])
    except Malformed as error:
        raise InputError(f"problem {one.id}: breaks the contract of {one.family}: {error}") from error
