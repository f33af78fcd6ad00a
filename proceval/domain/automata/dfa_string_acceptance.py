"""How many strings of a given length a DFA accepts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from random import Random
from typing import Any

from proceval.domain.automata import dfa as automaton
from proceval.domain.family import Base, is_integer
from proceval.errors import Malformed
from proceval.protocols import Instance, Truth
from proceval.schema import Json
from proceval.smt import Spec, total

BRUTE_FORCE_STRINGS = 4_096
"""Up to here the oracle runs every string; beyond, it multiplies matrices."""

AIMED_STRINGS = 1_024
"""Up to here the sampler draws the answer first, so that no count is common."""

ANSWERS = 20
ATTEMPTS = 100
"""Answers drawn before one is left to chance, and automata drawn for each: some counts are out of reach."""


def dfa_string_acceptance(dfa: dict[str, Any], length: int) -> int:
    """Count the strings of a given length that a deterministic finite automaton accepts.

    `dfa` is a dict. dfa["states"] is the number of states, which are the integers 0 to states - 1; dfa["alphabet"] is
    the number of symbols, which are the integers 0 to alphabet - 1; both are at least 1. dfa["start"] is the start
    state. dfa["accept"] is a list of distinct accepting states, possibly empty. dfa["delta"] is the complete transition
    table: dfa["delta"][state][symbol] is the next state. Some states may be out of reach. `length` is an integer, at
    least 0.

    A string is accepted if the automaton, started in the start state, is in an accepting state after its last symbol;
    the empty string is accepted if the start state is an accepting one.

    Return, as an int, the number of accepted strings of exactly `length` symbols. It may be far larger than 64 bits.

    A length may be a hundred or more, so there may be far too many strings to go through, and each call has a CPU-time
    limit of a few seconds: a call that runs into it counts as wrong. Prefer a solution whose running time is about
    length times the size of the transition table.
    """
    ways = [0] * dfa["states"]
    ways[dfa["start"]] = 1
    for _ in range(length):
        following = [0] * dfa["states"]
        for state, count in enumerate(ways):
            for target in dfa["delta"][state]:
                following[target] += count
        ways = following
    return sum(ways[state] for state in dfa["accept"])


class DfaStringAcceptance(Base[automaton.Level]):
    """Random DFAs with a planted count; layer by layer the specification balances the flow of strings."""

    domain = "automata"
    version = 1
    logic = "QF_LIA"
    oracle_name = f"all_strings to {BRUTE_FORCE_STRINGS} strings, then matrix_power"
    imports = "from typing import Any\n\n\n"
    solver = dfa_string_acceptance
    level = automaton.Level
    source = "counting walks layer by layer, the transfer matrix (Stanley, 1986)"

    def __init__(
        self,
        *,
        difficulty: Mapping[str, Any],
        states: Sequence[int] | None,
        length: Sequence[int] | None,
        alphabet: int,
    ):
        super().__init__(difficulty=difficulty, own={"states": states, "length": length})
        self.alphabet = self.counted("alphabet", alphabet, automaton.MOST_SYMBOLS)

    def sample(self, rng: Random, tier: str) -> Instance:
        level = self.levels[tier]
        low, high = level.length
        for _ in range(ANSWERS if self.alphabet**high <= AIMED_STRINGS else 0):
            answer = rng.randint(0, self.alphabet**high)
            length = rng.choice([n for n in range(low, high + 1) if self.alphabet**n >= answer])
            for _ in range(ATTEMPTS):
                dfa = automaton.random_dfa(rng, rng.randint(*level.states), self.alphabet)
                accept = _subset(rng, _strings_by_state(dfa, length), answer)
                if accept is not None:
                    return {"dfa": {**dfa, "accept": accept}, "length": length}
        dfa = automaton.random_dfa(rng, rng.randint(*level.states), self.alphabet)
        return {"dfa": dfa, "length": rng.randint(low, high)}

    def validate(self, instance: Instance) -> None:
        self.fields(instance)
        automaton.check_dfa("dfa", instance["dfa"])
        if not is_integer(instance["length"], 0):
            raise Malformed("length must be an integer, at least 0")

    def specify(self, instance: Instance, spec: Spec) -> None:
        dfa, length = instance["dfa"], instance["length"]
        states = range(dfa["states"])
        layers = [[spec.int(f"strings_{step}_{state}") for state in states] for step in range(length + 1)]
        answer = spec.int("accepted")
        for state in states:
            here = int(state == dfa["start"])
            spec.rule("one empty string, at the start", f"(= {layers[0][state]} {here})")
        entering: list[list[int]] = [[] for _ in states]
        for state in states:
            for target in dfa["delta"][state]:
                entering[target].append(state)
        for layer, following in zip(layers, layers[1:], strict=False):
            for state in states:
                inflow = total([layer[origin] for origin in entering[state]])
                spec.rule("each string moves on along every symbol", f"(= {following[state]} {inflow})")
        accepting = total([layers[-1][state] for state in dfa["accept"]])
        spec.rule("accepted strings end in accepting states", f"(= {answer} {accepting})")
        spec.answer([answer], lambda values: values[answer])
        spec.direct("table", lambda count, rows: tabled(dfa, length, count, rows), lambda values: table(dfa, length))

    def oracle(self, instance: Instance) -> Truth:
        return self.verdict(instance, _count)

    def small(self) -> Iterator[Instance]:
        for states, alphabet, lengths in ((1, 1, (-1, 0, 3)), (1, 3, (2,)), (2, 2, (0, 1, 2, 3)), (3, 1, (2, 4))):
            for dfa in automaton.all_dfas(states, alphabet):
                yield from ({"dfa": dfa, "length": length} for length in lengths)
        good = automaton.build(0, [0], [[0, 1], [1, 0]])
        for broken in ({"delta": [[0, 1], [1]]}, {"accept": [2]}, {"accept": [0, 0]}, {"start": 2}, {"delta": [[0, 1]]},
                       {"states": 0}, {"alphabet": 3}, {"delta": [[0, 2], [1, 0]]}, {"start": True}):  # fmt: skip
            yield {"dfa": {**good, **broken}, "length": 1}
        yield from ({"dfa": good, "length": length} for length in (1.0, "1", None, True))

    def examples(self) -> Sequence[Instance]:
        return [
            {"dfa": automaton.build(0, [1], [[0, 1], [1, 0]]), "length": 3},
            {"dfa": automaton.build(2, [0, 2], [[0, 0], [0, 1], [1, 2]]), "length": 2},
            {"dfa": automaton.build(0, [0], [[1, 0], [1, 1]]), "length": 0},
        ]

    def targeted(self, rng: Random) -> Iterator[Instance]:
        for start, accept, delta, length in (
            (0, [0], [[0]], 0),
            (0, [], [[0]], 3),
            (0, [1], [[1, 0], [0, 1]], 0),
            (0, [0, 1], [[1, 0], [0, 1]], 5),
            (0, [0], [[0, 0, 0]], 12),
            (0, [1], [[1, 1], [0, 1]], 14),
            (0, [2], [[0, 1], [1, 0], [2, 2]], 8),
            (1, [0], [[0, 0], [2, 0], [2, 2]], 1),
            (0, [0], [[0, 1], [1, 0]], 70),
        ):
            yield {"dfa": automaton.build(start, accept, delta), "length": length}
        for _ in range(40):
            dfa = automaton.random_dfa(rng, rng.randint(1, 5), rng.randint(1, 3))
            yield {"dfa": dfa, "length": rng.randint(0, 6)}

    def canonical(self, instance: Instance, tier: str) -> Json:
        return [automaton.form([instance["dfa"]]), instance["length"]]

    def space(self, tier: str) -> int | None:
        level = self.levels[tier]
        (_, most), (low, high) = level.states, level.length
        if most > 3 or self.alphabet > 2:
            return None
        dfas = (dfa for n in range(1, most + 1) for dfa in automaton.accessible(n, self.alphabet))
        return len({repr(automaton.form([dfa])) for dfa in dfas}) * (high - low + 1)


def _strings_by_state(dfa: automaton.Dfa, length: int) -> list[int]:
    """How many strings of the length end in each state, by running them all at once over counts of (state) pairs."""
    ends = {dfa["start"]: 1}
    for _ in range(length):
        moved: dict[int, int] = {}
        for state, count in ends.items():
            for target in dfa["delta"][state]:
                moved[target] = moved.get(target, 0) + count
        ends = moved
    return [ends.get(state, 0) for state in range(dfa["states"])]


def _subset(rng: Random, weights: Sequence[int], goal: int) -> list[int] | None:
    """A random set of positions whose weights add up to the goal, or None."""
    found: dict[int, list[int]] = {0: []}
    for position in rng.sample(range(len(weights)), len(weights)):
        for reached, chosen in list(found.items()):
            more = reached + weights[position]
            if more <= goal and (more not in found or rng.random() < 0.5):
                found[more] = [*chosen, position]
    return sorted(found[goal]) if goal in found else None


def _count(dfa: automaton.Dfa, length: int) -> Truth:
    if dfa["alphabet"] ** length <= BRUTE_FORCE_STRINGS:
        return Truth("unique", sum(_accepts(dfa, text) for text in product(range(dfa["alphabet"]), repeat=length)))
    return Truth("unique", matrix_count(dfa, length))


def _accepts(dfa: automaton.Dfa, text: Sequence[int]) -> bool:
    state = dfa["start"]
    for symbol in text:
        state = dfa["delta"][state][symbol]
    return state in dfa["accept"]


def matrix_count(dfa: automaton.Dfa, length: int) -> int:
    """Accepted strings by repeated squaring of the matrix of symbol counts."""
    n = dfa["states"]
    power = [[row.count(state) for state in range(n)] for row in dfa["delta"]]
    row = [int(state == dfa["start"]) for state in range(n)]
    while length:
        columns = list(zip(*power, strict=True))
        if length % 2:
            row = [sum(map(int.__mul__, row, column)) for column in columns]
        length //= 2
        if length:
            power = [[sum(map(int.__mul__, line, column)) for column in columns] for line in power]
    return sum(row[state] for state in dfa["accept"])


def table(dfa: automaton.Dfa, length: int) -> list[list[int]]:
    """Accepted continuations of 0 to `length` symbols from every state: one row per number of symbols."""
    rows = [[int(state in dfa["accept"]) for state in range(dfa["states"])]]
    for _ in range(length):
        rows.append([sum(rows[-1][target] for target in targets) for targets in dfa["delta"]])
    return rows


def tabled(dfa: automaton.Dfa, length: int, count: object, rows: Any) -> bool:
    """A table in which every entry is the sum of the entries one symbol nearer the end, whose first row marks the
    accepting states: it can be filled in only one way."""
    if rows[0] != [int(state in dfa["accept"]) for state in range(dfa["states"])] or len(rows) != length + 1:
        return False
    for nearer, row in pairwise(rows):
        if row != [sum(nearer[target] for target in targets) for targets in dfa["delta"]]:
            return False
    return bool(rows[length][dfa["start"]] == count)
