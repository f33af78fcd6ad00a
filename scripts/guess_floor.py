"""How often a trivial guess hits the key, by family and tier, on large samples that no solver has to prove.

    python scripts/guess_floor.py                                 2,000 instances a cell, minutes
    python scripts/guess_floor.py --tiers frontier --count 500
    python scripts/guess_floor.py --check                         exit status 1 where a target is missed

Targets: in the small tiers the commonest answer at most 1.5 times its uniform share of the answer range; at the frontier
at most 10%, and no shortcut above 20%. A sample's own chance is allowed for: the commonest of many equally common
answers lies above its share, so the small tiers are held to what a uniform draw of the same size would show in 999 of
1,000 draws, times 1.5. `greedy` is the walk along the lightest edge, `fewest` the path of fewest edges: shortcuts for
shortest paths that read more than a size. Answers come from the oracle, ambiguous instances are left out as the proof
leaves them out.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from proceval.guesses import shortcuts  # noqa: E402
from proceval.protocols import Instance  # noqa: E402
from proceval.schema import Json  # noqa: E402
from proceval.seeding import canonical, rng  # noqa: E402
from scripts.scope import TIERS, parts  # noqa: E402

MOST_OVER_UNIFORM = 1.5
MOST_COMMON, MOST_SHORTCUT = 0.10, 0.20
ENUMERABLE = 100_000
"""Answer ranges beyond this are not drawn from: no sample comes near their share."""


def answer_range(family: Any, tier: str) -> int:
    """How many answers the tier's sizes leave room for."""
    level = family.levels[tier]
    found: int = {
        "equilibrium_index": lambda: level.length[1] - 2,
        "monotonic_split": lambda: level.length[1],
        "dag_reachability": lambda: level.vertices[1],
        "dag_shortest_path": lambda: level.vertices[1],  # far more, but no fewer
        "dag_topological_position": lambda: level.vertices[1],
        "dfa_string_acceptance": lambda: family.alphabet ** level.length[1] + 1,
        "dfa_product_reachability": lambda: level.states[1] ** 2,
    }[family.name]()
    return found


def walks(instance: Instance) -> dict[str, Json]:
    """Two paths that a reader could take without solving: lightest edge first, and fewest edges."""
    onward: dict[int, list[tuple[int, int]]] = {}
    weight = {(u, v): w for u, v, w in instance["edges"]}
    for u, v, w in instance["edges"]:
        onward.setdefault(u, []).append((w, v))
    source, target = instance["source"], instance["target"]
    greedy = [source]
    while greedy[-1] != target and greedy[-1] in onward:
        greedy.append(min(onward[greedy[-1]])[1])
    fewest = {source: [source]}
    for vertex in (walk := [source]):
        for _, head in onward.get(vertex, []):
            if head not in fewest:
                fewest[head] = [*fewest[vertex], head]
                walk.append(head)

    def answer(path: list[int]) -> Json:
        return {"weight": sum(weight[pair] for pair in zip(path, path[1:], strict=False)), "path": path}

    return {"greedy": answer(greedy), "fewest": answer(fewest.get(target, [source]))}


def drawn(family: Any, tier: str, count: int) -> tuple[Counter[str], Counter[str]]:
    """How often each answer came up, and how often each shortcut hit it."""
    keys: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for index in range(count):
        instance = family.sample(rng("floor", family.name, tier, index), tier)
        truth = family.oracle(instance)
        if truth.status != "unique":
            continue
        key = canonical(truth.answer)
        keys[key] += 1
        guesses = dict(shortcuts(instance))
        if family.name == "dag_shortest_path":
            guesses |= walks(instance)
        hits.update(name for name, guess in guesses.items() if canonical(guess) == key)
    return keys, hits


def chance(answers: int, size: int) -> float:
    """Share of the commonest answer that a uniform draw of the size stays below in 999 of 1,000 draws, by simulation."""
    if answers > ENUMERABLE:
        return 3 / size
    random = Random(0)
    draws = 1000 if answers * size < 100_000 else 200
    shares = sorted(max(Counter(random.choices(range(answers), k=size)).values()) / size for _ in range(draws))
    return shares[-1 - draws // 1000]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000, help="instances a cell (a quarter at the frontier)")
    parser.add_argument("--tiers", default=",".join(TIERS))
    parser.add_argument("--families", default=None)
    parser.add_argument("--check", action="store_true", help="exit status 1 where a target is missed")
    given = parser.parse_args()
    families, _ = parts()
    missed = 0
    print(f"{'family':26}{'tier':10}{'drawn':>6}{'range':>10}{'answers':>8}{'commonest':>10}{'x uniform':>10}"
          f"{'chance':>8}{'shortcut':>10}  best shortcut")  # fmt: skip
    for name in given.families.split(",") if given.families else families:
        for tier in given.tiers.split(","):
            frontier = tier == "frontier"
            keys, hits = drawn(families[name], tier, given.count // 4 if frontier else given.count)
            size, answers = keys.total(), answer_range(families[name], tier)
            common = max(keys.values()) / size
            best, often = max(hits.items(), key=lambda item: item[1], default=("none", 0))
            expected = chance(answers, size)
            if frontier:
                good = common <= MOST_COMMON and often / size <= MOST_SHORTCUT
            else:
                good = common <= MOST_OVER_UNIFORM * max(1 / answers, expected)
            missed += not good
            print(
                f"{name:26}{tier:10}{size:6}{answers if answers < 10**9 else answers:10.3g}{len(keys):8}{common:10.2%}"
                f"{common * answers if answers < ENUMERABLE else float('nan'):10.2f}{expected:8.2%}{often / size:10.2%}"
                f"  {best}{'' if good else '  MISSED'}",
                flush=True,
            )
    print(f"targets missed: {missed}")
    return int(given.check and missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
