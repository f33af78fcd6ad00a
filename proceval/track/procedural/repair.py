"""Repair cases: a package in which one function holds a bug, two that interact, or a solution that is right but slow."""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from proceval.audit.material import Material
from proceval.errors import InputError
from proceval.protocols import Instance
from proceval.schema import Json
from proceval.seeding import canonical, rng, text_digest
from proceval.track.procedural import package, slow
from proceval.track.procedural.package import Distance, Layout
from proceval.track.procedural.refactor import rewrite
from proceval.track.procedural.stock import Shelf, Tried

VERSION = 1
"""Raised whenever equal seeds no longer give equal cases."""
_ATTEMPTS = 200
_NAMES = ("toolbox", "solvers", "puzzles", "kernel", "methods", "answers", "workshop", "library")
_HIDDEN_SMALL, _HIDDEN_KILLING = 12, 8
"""Small instances in a hidden suite that any text meets, and that this very bug fails on."""


@dataclass(frozen=True)
class Class:
    """One class of cases."""

    group: str
    difficulty: str
    bugs: int
    """Edits of the function: one, two that interact, or none for a slow solution."""
    distance: Distance
    apart: bool
    others: int
    steps: int
    """Honest rewritings."""


EASY = Class("repair", "easy", 1, "function", False, 1, 2)
MEDIUM = Class("repair", "medium", 1, "service", True, 2, 4)
HARD = Class("repair", "hard", 2, "batch", True, 3, 5)
SLOW = Class("slow", "medium", 0, "function", True, 2, 3)
CLASSES = (EASY, MEDIUM, HARD, EASY, MEDIUM, HARD, MEDIUM, SLOW)
"""The class of a case follows from its number."""


@dataclass(frozen=True)
class Made:
    """One case, ready to be written."""

    id: str
    kind: Class
    layout: Layout
    fixture: dict[str, str]
    """Files by path."""
    gold: dict[str, str]
    """The files that differ when it is repaired."""
    calls: tuple[tuple[Instance, Json], ...]
    """The hidden suite."""
    probe: tuple[str, str] | None
    """Of a slow case: the hidden script, and what it prints where it is right."""
    edits: tuple[str, ...]
    """For people: what was changed."""


@dataclass(frozen=True)
class _Function:
    """The function as it was and as it is to be found, both rewritten and tested."""

    shelf: Shelf
    honest: str
    broken: str
    tried: Tried
    edits: tuple[str, ...]


def repairs(shelves: Mapping[str, Shelf], seed: int | str, count: int) -> Iterator[Made]:
    """`count` cases, in none of which the broken function is that of another. Raises InputError where there are no more."""
    seen: set[str] = set()
    for number in range(count):
        kind, path = CLASSES[number % len(CLASSES)], ("procedural repair", VERSION, seed, number)
        for attempt in range(_ATTEMPTS):
            random = rng(*path, attempt)
            found = _slow(shelves, kind, random) if kind is SLOW else _broken(shelves, kind, random)
            if found is not None and text_digest(found.broken) not in seen:
                break
        else:
            raise InputError(
                f"count={count}: the material yields no {kind.difficulty} {kind.group} case after {number}"
            )
        seen.add(text_digest(found.broken))
        yield _case(shelves, found, kind, number, random)


def _broken(shelves: Mapping[str, Shelf], kind: Class, random: Random) -> _Function | None:
    """A function with one bug or two, or None where the draw does not hold what it must."""
    able = sorted(name for name, shelf in shelves.items() if len(shelf.telling) >= kind.bugs)
    if not able:
        return None
    shelf = shelves[random.choice(able)]
    bugs = random.sample(shelf.telling, kind.bugs)
    text: str | None = shelf.original
    for bug in bugs:
        text = shelf.with_edit(text, bug) if text is not None else None
    if text is None or (kind.bugs == 2 and not _interact(shelf, bugs, text)):
        return None
    first = "extract_helper" if kind.apart else None
    rewritten = rewrite((shelf.original, text), shelf.family.entry_point, random, kind.steps, first)
    honest, broken = shelf.run(rewritten.texts)
    if not honest.alike or not shelf.tells(broken):
        return None
    edits = tuple(f"{bug.before} -> {bug.after}" for bug in bugs)
    return _Function(shelf, rewritten.texts[0], rewritten.texts[1], broken, edits)


def _interact(shelf: Shelf, bugs: list[Material], both: str) -> bool:
    """Whether some instance gets from both edits what neither gives alone, so that the faults do not come apart."""
    rows = [*(shelf.tried[bug.mutant].row for bug in bugs), shelf.run([both])[0].row]
    if any(row.fault is not None for row in rows):
        return False
    return any(third not in (first, second) for first, second, third in zip(*(row.values for row in rows), strict=True))


def _slow(shelves: Mapping[str, Shelf], kind: Class, random: Random) -> _Function | None:
    known = slow.solutions()
    able = sorted(known.keys() & shelves.keys())
    if not able:
        raise InputError(f"no slow solution is known for any of {', '.join(shelves)}")
    shelf = shelves[random.choice(able)]
    tree = ast.parse(shelf.original)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    other = ast.parse(known[shelf.family.name].function).body[0]
    assert isinstance(other, ast.FunctionDef)
    function.body = [function.body[0], *other.body]  # the contract stays
    texts = [
        rewrite((text,), shelf.family.entry_point, random, kind.steps).texts[0]
        for text in (shelf.original, ast.unparse(tree))
    ]
    honest, broken = shelf.run(texts)
    if not honest.alike or broken.row.fault is not None or set(broken.row.kills) - {None, "step_budget"}:
        return None
    return _Function(shelf, texts[0], texts[1], broken, ("a slow solution in place of the reference",))


def _case(shelves: Mapping[str, Shelf], found: _Function, kind: Class, number: int, random: Random) -> Made:
    shelf, name = found.shelf, found.shelf.family.name
    others = random.sample(sorted(shelves.keys() - {name}), min(kind.others, len(shelves) - 1))
    functions = tuple(random.sample([name, *others], len(others) + 1))
    layout = Layout(random.choice(_NAMES), functions, name, kind.distance, kind.apart)
    around = {other: random.choice(shelves[other].variants) for other in others}
    public = _public(shelves, found, kind, others, random)
    broken, honest = (package.files(layout, text, around, public) for text in (found.broken, found.honest))
    probe = None
    if kind is SLOW:
        stress = slow.solutions()[name].stress
        broken["tests/test_public.py"] = package.speed_test(layout, stress, slow.BOUND_S)
        probe = package.probe(layout, stress), _digest(shelf, stress)
    return Made(
        id=f"{number:04d}-{kind.difficulty}",
        kind=kind,
        layout=layout,
        fixture=broken,
        gold={
            path: text for path, text in honest.items() if broken.get(path) != text and not path.startswith("tests/")
        },
        calls=_hidden(found, random),
        probe=probe,
        edits=found.edits,
    )


def _public(
    shelves: Mapping[str, Shelf], found: _Function, kind: Class, others: list[str], random: Random
) -> list[tuple[str, dict[str, Json], Json]]:
    """Calls of the public test: one that fails, two that do not where there are such, and for a report other functions'."""
    shelf, name = found.shelf, found.shelf.family.name
    wrong = set(found.tried.wrong)
    right = [number for number in range(len(shelf.small)) if number not in wrong]
    chosen = [shelf.tests[number] for number in random.sample(right, min(2, len(right)))]
    witness = shelf.witness(found.tried)
    calls = [(name, *test) for test in chosen] + ([(name, *witness[:2])] if witness else [])
    if kind.distance == "batch":
        for other in others:
            calls += [(other, *test) for test in random.sample(shelves[other].small, 2)]
    random.shuffle(calls)
    return calls


def _hidden(found: _Function, random: Random) -> tuple[tuple[Instance, Json], ...]:
    """The tests of one problem, which kill every mutant; small instances; and some on which this text fails."""
    shelf = found.shelf
    tests = [(test.arguments, test.expected) for test in random.choice(shelf.problems).tests]
    tests += random.sample(shelf.small, min(_HIDDEN_SMALL, len(shelf.small)))
    wrong = found.tried.wrong
    tests += [shelf.tests[number] for number in random.sample(wrong, min(_HIDDEN_KILLING, len(wrong)))]
    by_input = {canonical(arguments): (arguments, expected) for arguments, expected in tests}
    return tuple(by_input[key] for key in sorted(by_input, key=lambda key: (len(key), key)))


def _digest(shelf: Shelf, stress: str) -> str:
    """What the probe prints where the function is right; our own code, run here."""
    names: dict[str, object] = {}
    exec(compile(shelf.original + stress, "<probe>", "exec"), names)
    function, calls = names[shelf.family.entry_point], names[f"{shelf.family.name}_stress"]
    values = [function(**arguments) for arguments in calls()]  # type: ignore[operator]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
