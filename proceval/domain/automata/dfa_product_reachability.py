"""How many pairs of states two equivalent DFAs reach together."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

from proceval.domain.automata import dfa as automaton
from proceval.domain.family import Base
from proceval.errors import Malformed
from proceval.protocols import Instance, Truth
from proceval.schema import Json
from proceval.smt import Spec

BRUTE_FORCE_PAIRS = 16
"""Up to here the oracle runs all strings that are shorter than the number of pairs; beyond, it closes rows of bits."""

AIMED_STATES = 8
"""Up to here the sampler draws the answer first, so that no count is common; larger automata spread of themselves."""

ANSWERS = 20
ATTEMPTS = 10
STEPS = 40
"""Answers drawn before one is left to chance, automata for each, transitions changed in those to get there."""


def dfa_product_reachability(a: dict[str, Any], b: dict[str, Any]) -> int:
    """Count the pairs of states that two deterministic finite automata can be in at the same time.

    `a` and `b` are dicts of one shape. a["states"] is the number of states, which are the integers 0 to states - 1;
    a["alphabet"] is the number of symbols, which are the integers 0 to alphabet - 1; both are at least 1. a["start"] is
    the start state. a["accept"] is a list of distinct accepting states, possibly empty. a["delta"] is the complete
    transition table: a["delta"][state][symbol] is the next state. Both automata have the same number of symbols and
    accept exactly the same strings. Some states may be out of reach.

    Both automata are started in their start states and read the same string. Return, as an int, the number of distinct
    pairs (state of a, state of b) in which they can be after some string of zero or more symbols; the pair of the start
    states therefore counts.

    Automata may have dozens of states each, and each call has a CPU-time limit of a few seconds: a call that runs into
    it counts as wrong. Prefer a solution whose running time is about the number of pairs of states times the number of
    symbols.
    """
    start = (a["start"], b["start"])
    reached = {start}
    waiting = [start]
    while waiting:
        p, q = waiting.pop()
        for symbol in range(a["alphabet"]):
            pair = (a["delta"][p][symbol], b["delta"][q][symbol])
            if pair not in reached:
                reached.add(pair)
                waiting.append(pair)
    return len(reached)


class DfaProductReachability(Base[automaton.Level]):
    """Two blow-ups of one small DFA, so equivalent; the proved answer is the set of pairs, the count its size."""

    domain = "automata"
    version = 1
    logic = "QF_UF"
    oracle_name = f"all_strings to {BRUTE_FORCE_PAIRS} pairs, then bit_rows"
    imports = "from typing import Any\n\n\n"
    solver = dfa_product_reachability
    level = automaton.Level
    source = "product automaton (Rabin and Scott, 1959)"

    def __init__(self, *, difficulty: Mapping[str, Any], states: Sequence[int] | None, alphabet: int):
        super().__init__(difficulty=difficulty, own={"states": states})
        self.alphabet = self.counted("alphabet", alphabet, automaton.MOST_SYMBOLS)

    def sample(self, rng: Random, tier: str) -> Instance:
        low, high = self.levels[tier].states
        for _ in range(ANSWERS if high <= AIMED_STATES else 0):
            answer = rng.randint(1, high * high)
            sizes = [(a, b) for a in range(low, high + 1) for b in range(low, high + 1) if a * b >= answer]
            for _ in range(ATTEMPTS):
                twins, choices = _twins(rng, *rng.choice(sizes), self.alphabet, answer)
                if _steered(rng, twins, choices, answer):
                    return twins
        return _twins(rng, rng.randint(low, high), rng.randint(low, high), self.alphabet, 1)[0]

    def validate(self, instance: Instance) -> None:
        self.fields(instance)
        a, b = instance["a"], instance["b"]
        automaton.check_dfa("a", a)
        automaton.check_dfa("b", b)
        if a["alphabet"] != b["alphabet"]:
            raise Malformed("a and b must have the same number of symbols")
        if not _equivalent(a, b):
            raise Malformed("a and b must accept the same strings")

    def specify(self, instance: Instance, spec: Spec) -> None:
        a, b = instance["a"], instance["b"]
        pairs = [[spec.bool(f"pair_{p}_{q}") for q in range(b["states"])] for p in range(a["states"])]
        spec.rule("the pair of the starts is reached", pairs[a["start"]][b["start"]])
        for p, q in product(range(a["states"]), range(b["states"])):
            for next_p, next_q in zip(a["delta"][p], b["delta"][q], strict=True):
                if (next_p, next_q) != (p, q):
                    spec.rule("what follows a reached pair is reached", f"(=> {pairs[p][q]} {pairs[next_p][next_q]})")
            if (p in a["accept"]) != (q in b["accept"]):
                spec.rule("no reached pair disagrees about acceptance", f"(not {pairs[p][q]})")
        names = [name for row in pairs for name in row]
        spec.least(names, lambda values: sum(values[name] is True for name in names))

    def oracle(self, instance: Instance) -> Truth:
        return self.verdict(instance, _count)

    def small(self) -> Iterator[Instance]:
        unary = [dfa for n in (1, 2) for dfa in automaton.all_dfas(n, 1)]
        yield from ({"a": a, "b": b} for a, b in product(unary, unary))
        rng = Random(7)
        for _ in range(150):
            dfas = [automaton.random_dfa(rng, rng.randint(1, 4), 2) for _ in "ab"]
            yield {"a": {**dfas[0], "accept": []}, "b": {**dfas[1], "accept": []}}
            yield _twins(rng, rng.randint(1, 4), rng.randint(1, 4), 2, 1)[0]
        yield {"a": unary[0], "b": automaton.build(0, [], [[0, 0]])}
        yield {"a": unary[0], "b": {**unary[0], "delta": [[1]]}}

    def examples(self) -> Sequence[Instance]:
        return [
            {"a": automaton.build(0, [0], [[1, 0], [0, 1]]), "b": automaton.build(1, [1], [[1, 0], [0, 1]])},
            {
                "a": automaton.build(0, [0, 2], [[1, 1], [2, 2], [3, 3], [0, 0]]),
                "b": automaton.build(0, [0], [[1, 1], [0, 0]]),
            },
        ]

    def targeted(self, rng: Random) -> Iterator[Instance]:
        rings = [automaton.build(0, list(range(n)), [[(s + 1) % n] for s in range(n)]) for n in (1, 3, 4, 5)]
        yield from ({"a": rings[i], "b": rings[j]} for i, j in ((0, 0), (1, 2), (2, 1), (2, 3), (0, 3), (2, 2)))
        identical = automaton.build(2, [0], [[0, 0], [0, 1], [1, 2]])
        yield {"a": identical, "b": identical}
        yield {"a": automaton.build(0, [], [[1, 0], [0, 1]]), "b": automaton.build(0, [], [[1, 2], [2, 0], [0, 1]])}
        yield {"a": automaton.build(0, [], [[0, 1, 2]] * 3), "b": automaton.build(1, [], [[0, 0, 0]] * 2)}
        for _ in range(40):
            yield _twins(rng, rng.randint(1, 5), rng.randint(1, 5), rng.randint(1, 3), 1)[0]

    def canonical(self, instance: Instance, tier: str) -> Json:
        return automaton.form([instance["a"], instance["b"]])

    def space(self, tier: str) -> int | None:
        return None


Choice = tuple[list[int], int, list[int]]
"""A row of delta, a symbol, and the states to which that step may lead without changing the language."""


def _twins(rng: Random, states_a: int, states_b: int, alphabet: int, room: int) -> tuple[Instance, list[Choice]]:
    """Two DFAs made from one by giving its states several copies each and sending every step to a random copy.

    The one DFA is small enough for `room` reachable pairs, which are pairs of copies of one state.
    """
    most = min(states_a, states_b)
    while (states_a - most + 1) * (states_b - most + 1) + most - 1 < room:
        most -= 1
    core = automaton.random_dfa(rng, rng.randint(1, most), alphabet)
    a, choices_a = _blown_up(rng, core, states_a)
    b, choices_b = _blown_up(rng, core, states_b)
    return {"a": a, "b": b}, choices_a + choices_b


def _blown_up(rng: Random, core: automaton.Dfa, states: int) -> tuple[automaton.Dfa, list[Choice]]:
    spare = states - core["states"]
    original = [*range(core["states"]), *(rng.randrange(core["states"]) for _ in range(spare))]
    rng.shuffle(original)
    copies: list[list[int]] = [[] for _ in range(core["states"])]
    for state, of in enumerate(original):
        copies[of].append(state)
    delta = [[rng.choice(copies[target]) for target in core["delta"][of]] for of in original]
    accept = [state for state, of in enumerate(original) if of in core["accept"]]
    dfa = automaton.build(rng.choice(copies[core["start"]]), accept, delta)
    targets = [(row, symbol, core["delta"][of][symbol]) for row, of in zip(dfa["delta"], original, strict=True)
               for symbol in range(core["alphabet"])]  # fmt: skip
    return dfa, [(row, symbol, copies[of]) for row, symbol, of in targets if len(copies[of]) > 1]


def _steered(rng: Random, twins: Instance, choices: list[Choice], answer: int) -> bool:
    """Changes single steps of the twins, in place, until they have `answer` reachable pairs; False if they never do."""
    count = bit_rows(**twins)
    for _ in range(STEPS if choices else 0):
        if count == answer:
            break
        row, symbol, copies = rng.choice(choices)
        before, row[symbol] = row[symbol], rng.choice(copies)
        moved = bit_rows(**twins)
        if abs(moved - answer) <= abs(count - answer):
            count = moved
        else:
            row[symbol] = before
    return count == answer


def _equivalent(a: automaton.Dfa, b: automaton.Dfa) -> bool:
    """Merges states that must be alike until a pair disagrees or nothing is left to merge (Hopcroft and Karp, 1971)."""
    parent = list(range(a["states"] + b["states"]))

    def root(x: int) -> int:
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    accepting = {*a["accept"], *(a["states"] + q for q in b["accept"])}
    rows = [*a["delta"], *([a["states"] + q for q in row] for row in b["delta"])]
    to_merge = [(a["start"], a["states"] + b["start"])]
    while to_merge:
        x, y = to_merge.pop()
        if root(x) == root(y):
            continue
        if (x in accepting) != (y in accepting):
            return False
        parent[root(x)] = root(y)
        to_merge += zip(rows[x], rows[y], strict=True)
    return True


def _count(a: automaton.Dfa, b: automaton.Dfa) -> Truth:
    if a["states"] * b["states"] <= BRUTE_FORCE_PAIRS:
        return Truth("unique", _by_strings(a, b))
    return Truth("unique", bit_rows(a, b))


def _by_strings(a: automaton.Dfa, b: automaton.Dfa) -> int:
    """Where all strings lead that are shorter than the number of pairs, one length after the other."""
    at_length = {(a["start"], b["start"])}
    seen = set(at_length)
    for _ in range(a["states"] * b["states"] - 1):
        at_length = {(a["delta"][p][x], b["delta"][q][x]) for p, q in at_length for x in range(a["alphabet"])}
        seen |= at_length
    return len(seen)


def bit_rows(a: automaton.Dfa, b: automaton.Dfa) -> int:
    """For every state of `a` the set of partners as bits, pushed through the symbols until no row grows."""
    partners = [0] * a["states"]
    partners[a["start"]] = 1 << b["start"]
    grown = True
    while grown:
        grown = False
        for p, x in product(range(a["states"]), range(a["alphabet"])):
            moved = 0
            for q in range(b["states"]):
                if partners[p] >> q & 1:
                    moved |= 1 << b["delta"][q][x]
            target = a["delta"][p][x]
            if moved & ~partners[target]:
                partners[target] |= moved
                grown = True
    return sum(row.bit_count() for row in partners)
