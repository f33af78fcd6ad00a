"""Review cases in pairs: a real bug and its harmless twin, hidden among the same honest rewritings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from string import Template
from typing import Any

from proceval.audit.material import Material
from proceval.errors import InputError
from proceval.protocols import Instance
from proceval.schema import Json
from proceval.scorer.finding import Key
from proceval.seeding import rng, text_digest
from proceval.track.procedural.refactor import Change, Rewritten, changes, rewrite
from proceval.track.procedural.stock import Shelf, Tried

VERSION = 2
"""Raised whenever equal seeds no longer give equal cases."""
TIERS: dict[str, tuple[float, float, int]] = {"easy": (0.5, 1.01, 2), "medium": (0.2, 0.5, 4), "hard": (0.0, 0.2, 6)}
"""A bug is of the tier where low <= share of the small instances that show it < high; and how much is rewritten."""
_ATTEMPTS = 200
_PROMPT = Template((Path(__file__).parent / "review.md").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Made:
    """One case, ready to be written."""

    name: str
    twin: str | None
    difficulty: str
    text: str
    """The file under review."""
    prompt: str
    key: Key
    change: Change | None
    """From the harmless twin to this file, for the rubric; None in the harmless one."""


@dataclass(frozen=True)
class _Pair:
    """Twins after rewriting, both tested."""

    shelf: Shelf
    bug: Material
    harmless: Material | None
    rewritten: Rewritten
    """original, honest (with the harmless edit where there is one), buggy (with the bug as well)."""
    tried: Tried
    witness: tuple[Instance, Json, Json]


def pairs(shelves: Mapping[str, Shelf], seed: int | str, count: int) -> Iterator[tuple[Made, ...]]:
    """`count` cases, two at a time; no text stands twice. Raises InputError where the material has no more."""
    seen: set[str] = set()
    for number in range((count + 1) // 2):
        tier = list(TIERS)[number % len(TIERS)]
        pair, path = None, ("procedural review", VERSION, seed, number)
        for attempt in range(_ATTEMPTS):
            pair = _drawn(shelves, tier, rng(*path, attempt))
            if pair is not None and not seen & {text_digest(text) for text in pair.rewritten.texts[1:]}:
                break
        else:
            raise InputError(f"count={count}: the material yields no {tier} case that is new after {2 * number} cases")
        seen |= {text_digest(text) for text in pair.rewritten.texts[1:]}
        made = _cases(pair, tier, number, rng(*path, "order"))
        yield made if count - 2 * number > 1 else (replace(made[0], twin=None),)


def _drawn(shelves: Mapping[str, Shelf], tier: str, random: Random) -> _Pair | None:
    """A pair of the tier, or None where the draw does not hold what it must."""
    low, high, steps = TIERS[tier]
    stocked = {
        name: [bug for bug in shelf.bugs if low <= shelf.tried[bug.mutant].revealed_by < high]
        for name, shelf in shelves.items()
    }
    able = [name for name, bugs in stocked.items() if bugs]
    if not able:
        return None
    name = random.choice(able)
    shelf, bug = shelves[name], random.choice(stocked[name])
    texts = _twins(shelf, bug, random)
    rewritten = rewrite(texts, shelf.family.entry_point, random, steps)
    honest, buggy = shelf.run(rewritten.texts[1:])
    if not honest.alike or buggy.row.fault is not None or not low <= buggy.revealed_by < high:
        return None
    witness = shelf.witness(buggy)
    # A helper cut out around the bug may carry it into its parameters; a case has one place that is wrong.
    if witness is None or len(changes(*rewritten.texts[1:])) != 1:
        return None
    harmless = next((m for m in shelf.harmless if m.edited + "\n" == texts[1]), None)
    return _Pair(shelf, bug, harmless, rewritten, buggy, witness)


def _twins(shelf: Shelf, bug: Material, random: Random) -> tuple[str, str, str]:
    """original, honest, buggy: of the same place where there are such twins, else with a harmless edit in both."""
    same_place = [m for m in shelf.harmless if m.mutant in bug.twins]
    if same_place:
        return shelf.original, random.choice(same_place).edited + "\n", bug.edited + "\n"
    if shelf.harmless and random.random() < 0.75:
        harmless = random.choice(shelf.harmless)
        both = shelf.with_edit(harmless.edited, bug)
        if both is not None:
            return shelf.original, harmless.edited + "\n", both
    return shelf.original, shelf.original, bug.edited + "\n"


def _cases(pair: _Pair, tier: str, number: int, random: Random) -> tuple[Made, Made]:
    """Both cases; which comes first says nothing."""
    names = [f"{pair.shelf.family.name.replace('_', '-')}-{number:04d}-{letter}" for letter in "ab"]
    if random.random() < 0.5:
        names.reverse()
    _, honest, buggy = pair.rewritten.texts
    common: dict[str, Any] = {
        "family": pair.shelf.family.name,
        "entry_point": pair.shelf.family.entry_point,
        "file": f"{pair.shelf.family.name}.py",
        "reference": pair.shelf.family.reference,
        "rewritings": pair.rewritten.steps,
        "tested": len(pair.shelf.tests),
    }
    [change] = changes(honest, buggy)
    given, expected, actual = pair.witness
    bug = Key(
        truth="bug",
        lines=change.lines,
        operator=pair.bug.operator,
        witness={"line": change.lines[0], "input": given, "expected": expected, "actual": actual},
        revealed_by=round(pair.tried.revealed_by, 4),
        proof=_proof(pair, buggy),
        **common,
    )
    clean = Key(
        truth="harmless",
        lines=(),
        operator=None,
        witness=None,
        revealed_by=None,
        proof=_proof(pair, honest),
        **common,
    )
    prompt = _PROMPT.substitute(
        file=common["file"],
        entry_point=common["entry_point"],
        contract="\n> ".join(pair.shelf.family.statement.strip().splitlines()).replace("> \n", ">\n"),
        example=", ".join(f'"{name}": ...' for name in pair.shelf.family.parameters),
    )
    cases = (
        Made(names[0], names[1], tier, buggy, prompt, bug, change),
        Made(names[1], names[0], tier, honest, prompt, clean, None),
    )
    return cases if names[0] < names[1] else (cases[1], cases[0])


def _proof(pair: _Pair, text: str) -> dict[str, Json] | None:
    """What is known of the harmless edit, with its lines as they stand in the text; None where it is not in it."""
    if pair.harmless is None or pair.harmless.proof is None:
        return None
    original, honest, _ = pair.rewritten.texts
    made = changes(original, honest)
    if not {(change.gone, change.come) for change in made} <= {
        (change.gone, change.come) for change in changes(original, text)
    }:
        return None
    return {
        "before": pair.harmless.before,
        "after": pair.harmless.after,
        "lines": [line.strip() for change in made for line in change.come],
        "missing": [line.strip() for change in made if not change.come for line in change.gone],
        "method": pair.harmless.proof.method,
        "bound": pair.harmless.proof.bound,
        "lemma": pair.harmless.proof.lemma,
    }
