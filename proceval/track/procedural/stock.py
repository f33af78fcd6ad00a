"""What procedural cases are made of: an audit's judged mutants, and each family's instances to test against."""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

from proceval import folder as files
from proceval.audit.guard import Guard, Row
from proceval.audit.material import Material
from proceval.audit.mutate import apply, edits
from proceval.audit.operators import GATE
from proceval.errors import Finding, InputError
from proceval.protocols import Family, Instance
from proceval.schema import Json, Problem
from proceval.seeding import canonical, rng, text_digest
from proceval.track.procedural.refactor import rewrite

TARGETED = 60
"""Targeted instances that a text is tested on, beside all small ones."""
MOST_SMALL = 2_000
"""Small instances of a family, at most; the families that exist have fewer."""
VARIANTS = (2, 3, 4, 4, 5, 6)
"""Rewritings of each variant of a function that stands beside the one in question."""

Tests = list[tuple[Instance, Json]]


@dataclass(frozen=True)
class Tried:
    """What one text did on all of a family's instances."""

    row: Row
    small: int
    """How many of the instances are small ones; they come first."""

    @property
    def wrong(self) -> list[int]:
        """Numbers of the instances on which it does not give the right value."""
        return [number for number, kill in enumerate(self.row.kills) if kill is not None]

    @property
    def revealed_by(self) -> float:
        """Share of the small instances that show it."""
        return sum(number < self.small for number in self.wrong) / self.small

    @property
    def alike(self) -> bool:
        """Whether it is right on every instance, small and targeted."""
        return not self.wrong and self.row.fault is None


@dataclass
class Shelf:
    """Everything about one family."""

    family: Family
    guard: Guard
    problems: list[Problem] = field(default_factory=list)
    bugs: list[Material] = field(default_factory=list)
    harmless: list[Material] = field(default_factory=list)

    @cached_property
    def small(self) -> Tests:
        """All small instances within the contract, with their answers."""
        return list(islice(self._within(self.family.small()), MOST_SMALL))

    @cached_property
    def tests(self) -> Tests:
        """The small instances and then the targeted ones."""
        drawn = islice(
            self.family.targeted(rng("procedural targeted", self.family.name, self.family.version)), TARGETED
        )
        return self.small + list(self._within(drawn))

    def _within(self, instances: Iterable[Instance]) -> Iterator[tuple[Instance, Json]]:
        for drawn in instances:
            instance = json.loads(json.dumps(drawn))
            truth = self.family.oracle(instance)
            if truth.status == "unique":
                yield instance, truth.answer

    @cached_property
    def original(self) -> str:
        """The reference in the normal form that mutants are written in."""
        return ast.unparse(ast.parse(self.family.reference)) + "\n"

    @cached_property
    def variants(self) -> list[str]:
        """The original and honest rewritings of it, for packages in which nothing is wrong with it."""
        random = rng("procedural variants", self.family.name, self.family.version)
        drawn = [rewrite((self.original,), self.family.entry_point, random, steps).texts[0] for steps in VARIANTS]
        return [self.original, *(text for text, one in zip(drawn, self.run(drawn), strict=True) if one.alike)]

    @cached_property
    def tried(self) -> dict[str, Tried]:
        """Bug -> what it does on every instance."""
        tried = self.run([bug.edited for bug in self.bugs])
        return {bug.mutant: one for bug, one in zip(self.bugs, tried, strict=True)}

    @cached_property
    def telling(self) -> list[Material]:
        """The bugs that never only go on and on, which would make every check wait."""
        return [bug for bug in self.bugs if self.tells(self.tried[bug.mutant])]

    def tells(self, tried: Tried) -> bool:
        """Whether it gives a wrong value or raises somewhere, and ends everywhere."""
        ends = tried.row.fault is None and "step_budget" not in tried.row.kills
        return ends and self.witness(tried) is not None

    def run(self, texts: Sequence[str]) -> list[Tried]:
        """Each text on every instance, under the audit's step budget. Raises Finding when the reference itself fails."""
        misses, rows = self.guard.run(self.family.reference, self.family.entry_point, self.tests, texts, values=True)
        if misses:
            raise Finding(f"{self.family.name}: reference and oracle disagree on {self.tests[min(misses)][0]}")
        return [Tried(row, len(self.small)) for row in rows]

    @cached_property
    def _sizes(self) -> list[tuple[int, int]]:
        return [(len(canonical(instance)), number) for number, (instance, _) in enumerate(self.tests)]

    def witness(self, tried: Tried) -> tuple[Instance, Json, Json] | None:
        """The smallest instance with a wrong value or an exception: (input, expected, actual as a claim says it)."""
        for number in sorted(tried.wrong, key=self._sizes.__getitem__):
            said, actual = tried.row.values[number], None
            if tried.row.kills[number] == "exception":
                actual = said
            elif tried.row.kills[number] in ("value", "type") and said is not None:
                try:
                    actual = ast.literal_eval(said)
                    canonical(actual)
                except (ValueError, SyntaxError, TypeError):
                    continue
                if json.loads(json.dumps(actual)) != actual:
                    continue
            if actual is not None:
                return *self.tests[number], actual
        return None

    def with_edit(self, text: str, edit: Material) -> str | None:
        """A text with a known mutant's edit on top, or None where its place is no longer there."""
        wanted, tree = edit.mutant.partition(":")[2], ast.parse(text)
        for identity, _, place, change in edits(text, tree, [GATE]):
            if identity.partition(":")[2] == wanted:
                return apply(tree, place, change.node) + "\n"
        return None


def stock(source: Path, families: Mapping[str, Family], guard: Guard) -> dict[str, Shelf]:
    """Shelves by family, of a run folder that was audited. Raises InputError where that is missing or does not fit."""
    if not (source / "material.jsonl").is_file():
        raise InputError(f"{source} holds no material.jsonl; run stage=audit dataset={source} first")
    shelves: dict[str, Shelf] = {}
    for material in files.read(source / "material.jsonl", Material):
        family = families.get(material.family)
        if family is None:
            raise InputError(f"{source} is about {material.family}, too; choose its domain=")
        if text_digest(family.reference) != material.template_sha256:
            raise InputError(f"{source} was audited with another reference of {material.family}; run stage=audit again")
        shelf = shelves.setdefault(material.family, Shelf(family, guard))
        if material.truth == "bug" and material.witness is not None and material.witness.got is not None:
            shelf.bugs.append(material)
        elif material.truth == "harmless" and material.proof is not None:
            shelf.harmless.append(material)
    for problem in files.read(source / "dataset.jsonl", Problem):
        if problem.family in shelves:
            shelves[problem.family].problems.append(problem)
    return shelves
