"""The choice of companion tests: few, cheap, enough."""

from proceval.audit.suite import cover, distinct_rows, dominators, fill, size_class

KILLS = {0: {"a", "b"}, 1: {"c"}, 2: {"a", "b", "c"}, 3: {"c", "d"}, 4: set()}
COSTS = {number: (1.0,) for number in KILLS}


def test_covers_with_few_instances() -> None:
    assert cover(KILLS, COSTS, {"a", "b", "c", "d"}, 9) == [2, 3]
    assert cover(KILLS, COSTS, {"c"}, 9) == [1]
    assert cover(KILLS, COSTS, {"a", "d"}, 1) == [0]
    assert cover(KILLS, COSTS, {"x"}, 9) == []
    assert cover({}, {}, {"a"}, 9) == []


def test_ties_go_to_the_cheaper_one() -> None:
    assert cover(KILLS, {**COSTS, 2: (0.5,)}, {"a", "b"}, 9) == [2]


def test_an_instance_that_later_ones_make_superfluous_is_dropped() -> None:
    kills = {0: {"a", "b", "c", "d"}, 1: {"a", "b", "e"}, 2: {"c", "d", "f"}}
    assert cover(kills, dict.fromkeys(kills, (0.0,)), set("abcdef"), 9) == [1, 2]


def test_fills_up_with_what_tells_most_and_stops_when_nothing_tells() -> None:
    assert fill([0], KILLS, COSTS, {"a", "b", "c", "d"}, 2) == [0, 3]
    assert fill([], KILLS, COSTS, {"a", "b", "c", "d"}, 9) == [2, 3, 0, 1]
    assert fill([2], KILLS, COSTS, {"a"}, 1) == [2]
    assert fill([], {4: set()}, COSTS, {"a"}, 2) == []


def test_rows_and_dominators() -> None:
    kills = {"a": frozenset({1}), "b": frozenset({1, 2}), "c": frozenset({1, 2}), "d": frozenset({3}), "e": frozenset()}
    assert distinct_rows(kills) == 3  # type: ignore[arg-type]
    assert dominators(kills) == 2  # type: ignore[arg-type]


def test_size_classes_are_rough() -> None:
    assert size_class([1, 2, 3]) == size_class([7, 2, 9]) < size_class(list(range(1000)))
