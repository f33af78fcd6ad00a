"""Rewrites a function and its twin by the same honest steps, so that only what differed before differs afterwards."""

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from proceval.track.procedural.extract import extract_helper
from proceval.track.procedural.flow import blocks
from proceval.track.procedural.rewrites import RULES, Rule

_RULES: dict[str, Rule] = {**RULES, "extract_helper": extract_helper}


@dataclass(frozen=True)
class Rewritten:
    """Twins after the same rewritings."""

    texts: tuple[str, ...]
    steps: tuple[str, ...]
    """Rule and place of each rewriting, in order."""


@dataclass(frozen=True)
class Change:
    """One place where a text differs from another: nothing is gone where lines were inserted, nothing come where deleted."""

    gone: tuple[str, ...]
    come: tuple[str, ...]
    lines: tuple[int, ...]
    """Those that have come, counted from 1 in the text that has them; else the lines before and behind the gap."""


def rewrite(texts: Sequence[str], entry_point: str, rng: Random, steps: int, first: str | None = None) -> Rewritten:
    """Up to `steps` rewritings at places that all texts have in common, each rule as likely as any other.

    A rule is used at most twice, so that no case is all renaming; fewer steps where nothing else fits. `first` names the
    rule to begin with, where it fits.
    """
    modules = [ast.parse(text) for text in texts]
    done: list[str] = []
    for _ in range(steps):
        names = [name for name in _RULES if sum(step.startswith(f"{name}: ") for step in done) < 2]
        rng.shuffle(names)
        if first is not None and not done:
            names.sort(key=lambda name: name != first)
        for name in names:
            found = [dict(_RULES[name](module, _function(module, entry_point))) for module in modules]
            shared = [
                place
                for place in found[0]
                if f"{name}: {place}" not in done and all(place in places for places in found[1:])
            ]
            if shared:
                place = rng.choice(shared)
                for places in found:
                    places[place]()
                modules = [ast.parse(_written(module)) for module in modules]
                done.append(f"{name}: {place}")
                break
    return Rewritten(tuple(_written(_without_idle_lines(module)) for module in modules), tuple(done))


def changes(before: str, after: str) -> tuple[Change, ...]:
    """All places where `after` differs from `before`, from the top."""
    old, new = before.splitlines(), after.splitlines()
    # What both begin and end with is set aside first: difflib alone may pair repeated lines so that innocent ones differ.
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    found: list[Change] = []
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            continue
        gone, come, line = old[head + start : head + end], new[head + first : head + last], head + first + 1
        lines = range(line, line + len(come)) if come else range(max(line - 1, 1), min(line, len(new)) + 1)
        found.append(Change(tuple(gone), tuple(come), tuple(lines)))
    return tuple(found)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _without_idle_lines(module: ast.Module) -> ast.Module:
    """A deleted statement leaves no `pass` behind, which would give its place away."""
    for _, block in [found for node in module.body for found in blocks(node)]:
        kept = [statement for statement in block if not isinstance(statement, ast.Pass)]
        block[:] = kept or block[:1]
    return module


def _function(module: ast.Module, entry_point: str) -> ast.FunctionDef:
    return next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == entry_point)


def _written(module: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(module)) + "\n"
