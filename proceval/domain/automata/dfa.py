"""Complete deterministic finite automata: sizes, the check of an instance, random automata, forms free of labels."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from random import Random
from typing import Annotated, Any

from pydantic import Field

from proceval.domain import family
from proceval.domain.family import is_integer
from proceval.errors import Malformed
from proceval.protocols import Instance
from proceval.schema import Json

Dfa = dict[str, Any]
"""states, alphabet, start, accept (list of states), delta (delta[state][symbol] is the next state)."""


MOST_SYMBOLS = 64
"""Largest alphabet: with it the longest strings allowed still give counts that Python reads back from JSON."""


class Level(family.Level):
    """Sizes of one tier."""

    states: Annotated[
        family.Range, family.span(1, 300), Field(description="two integers [low, high] with 1 <= low <= high <= 300")
    ]
    length: Annotated[
        family.Range, family.span(0, 2_000), Field(description="two integers [low, high] with 0 <= low <= high <= 2000")
    ]
    """Symbols in a string; families without strings ignore it."""

    def sizes(self, instance: Instance) -> dict[str, list[int]]:
        lengths = {"length": [instance["length"]]} if "length" in instance else {}
        return {"states": [value["states"] for value in instance.values() if isinstance(value, dict)], **lengths}


def check_dfa(name: str, dfa: Json) -> None:
    """Raises Malformed unless the value is a complete DFA with at least one state and one symbol."""
    if not isinstance(dfa, dict) or set(dfa) != {"states", "alphabet", "start", "accept", "delta"}:
        raise Malformed(f"{name} must have exactly states, alphabet, start, accept and delta")
    states, accept, delta = dfa["states"], dfa["accept"], dfa["delta"]
    if not is_integer(states, 1) or not is_integer(dfa["alphabet"], 1):
        raise Malformed(f"{name} must have a positive number of states and of symbols")
    if not is_integer(dfa["start"], 0, states - 1):
        raise Malformed(f"the start of {name} must be a state")
    if not isinstance(accept, list) or not all(is_integer(state, 0, states - 1) for state in accept):
        raise Malformed(f"accept of {name} must be a list of states")
    if len(set(accept)) != len(accept):
        raise Malformed(f"accept of {name} names a state twice")
    if not isinstance(delta, list) or len(delta) != states:
        raise Malformed(f"delta of {name} must have one row per state")
    for row in delta:
        whole = isinstance(row, list) and len(row) == dfa["alphabet"]
        if not whole or not all(is_integer(state, 0, states - 1) for state in row):
            raise Malformed(f"a row of delta of {name} must hold one state per symbol")


def build(start: int, accept: Sequence[int], delta: Sequence[Sequence[int]]) -> Dfa:
    return {
        "states": len(delta),
        "alphabet": len(delta[0]),
        "start": start,
        "accept": sorted(accept),
        "delta": [list(row) for row in delta],
    }


def random_dfa(rng: Random, states: int, alphabet: int) -> Dfa:
    delta = [[rng.randrange(states) for _ in range(alphabet)] for _ in range(states)]
    return build(rng.randrange(states), [s for s in range(states) if rng.random() < 0.5], delta)


def all_dfas(states: int, alphabet: int) -> Iterator[Dfa]:
    """Every DFA of the size, all starts and accepting sets."""
    rows = list(product(range(states), repeat=alphabet))
    for delta in product(rows, repeat=states):
        for start in range(states):
            for size in range(states + 1):
                for accept in combinations(range(states), size):
                    yield build(start, accept, delta)


def renumbered(dfa: Dfa, symbols: Sequence[int]) -> Json:
    """The accessible part with states numbered in the order of a breadth-first walk that takes `symbols` in turn."""
    number = {dfa["start"]: 0}
    walk = [dfa["start"]]
    rows = []
    for state in walk:
        row = []
        for symbol in symbols:
            following = dfa["delta"][state][symbol]
            if following not in number:
                number[following] = len(number)
                walk.append(following)
            row.append(number[following])
        rows.append(row)
    return [rows, sorted(number[state] for state in dfa["accept"] if state in number)]


def form(dfas: Sequence[Dfa]) -> Json:
    """Equal for automata that differ in names of states, in states that no string reaches, or in names of symbols.

    All automata share one renaming of the symbols; beyond four symbols their names are kept.
    """
    alphabet = range(dfas[0]["alphabet"])
    renamings = list(permutations(alphabet)) if len(alphabet) <= 4 else [tuple(alphabet)]
    return min([renumbered(dfa, symbols) for dfa in dfas] for symbols in renamings)


def accessible(states: int, alphabet: int) -> Iterator[Dfa]:
    """Every DFA in which all states are accessible, up to names of states: each breadth-first numbering once."""
    for delta in product(product(range(states), repeat=alphabet), repeat=states):
        first_seen = list(dict.fromkeys([0, *(state for row in delta for state in row)]))
        if first_seen != list(range(states)):
            continue
        # In a breadth-first numbering every state is named before its own row comes up.
        if any(max((0, *(x for row in delta[:k] for x in row))) < k for k in range(1, states)):
            continue
        for size in range(states + 1):
            for accept in combinations(range(states), size):
                yield build(0, accept, delta)
