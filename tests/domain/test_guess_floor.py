"""No answer is common, and reading an instance without solving it does not pay."""

from collections import Counter
from math import sqrt
from typing import Any

import pytest

from proceval.guesses import shortcuts
from proceval.seeding import canonical, rng


def answers(family: Any, tier: str) -> int:
    """Size of the answer range in the tier: the largest size of an instance, where nothing else is known of a family."""
    level = family.levels[tier]
    sizes = [size[1] for _, size in level if isinstance(size, tuple)]
    return {
        "equilibrium_index": lambda: level.length[1] - 2,
        "dfa_string_acceptance": lambda: family.alphabet ** level.length[1] + 1,
        "dfa_product_reachability": lambda: level.states[1] ** 2,
    }.get(family.name, lambda: sizes[0])()


def drawn(family: Any, tier: str, count: int) -> tuple[Counter[str], Counter[str]]:
    """How often each answer came up, and how often each shortcut hit it."""
    keys: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for index in range(count):
        instance = family.sample(rng("floor", family.name, tier, index), tier)
        truth = family.oracle(instance)
        if truth.status == "unique":
            keys[canonical(truth.answer)] += 1
            hits.update(name for name, guess in shortcuts(instance) if canonical(guess) == canonical(truth.answer))
    return keys, hits


@pytest.mark.parametrize("tier", ["easy", "medium", "hard", "extreme"])
def test_no_answer_is_common_in_the_small_tiers(family: Any, tier: str) -> None:
    keys, _ = drawn(family, tier, 200)
    drawn_count, share = keys.total(), 1 / answers(family, tier)
    chance = 3 * sqrt(share / drawn_count) + 3 / drawn_count  # what a uniform draw of this size would show anyway
    assert max(keys.values()) / drawn_count <= 1.5 * share + chance


def test_no_answer_and_no_shortcut_is_common_at_the_frontier(family: Any) -> None:
    keys, hits = drawn(family, "frontier", 60)
    assert max(keys.values()) <= 0.10 * keys.total()
    assert max(hits.values(), default=0) <= 0.20 * keys.total()


def fewest_edges(instance: Any) -> list[int]:
    """The path that breadth-first search finds."""
    paths = {instance["source"]: [instance["source"]]}
    for vertex in (walk := [instance["source"]]):
        for tail, head, _ in instance["edges"]:
            if tail == vertex and head not in paths:
                paths[head] = [*paths[vertex], head]
                walk.append(head)
    return paths[instance["target"]]


def test_at_the_frontier_the_path_of_fewest_edges_is_seldom_the_lightest(named: Any) -> None:
    family = named("dag_shortest_path")
    hits = tried = 0
    for index in range(40):
        instance = family.sample(rng("fewest", index), "frontier")
        truth = family.oracle(instance)
        if truth.status == "unique":
            tried += 1
            hits += fewest_edges(instance) == truth.answer["path"]
    assert hits <= 0.20 * tried
