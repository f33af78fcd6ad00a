"""The runner and its guard: what counts as a kill, what never does, and that no mutant can spoil another's run."""

import marshal
import mmap
from collections.abc import Iterator
from typing import Any

import pytest

from proceval.audit.guard import Guard, Limits
from proceval.audit.runner import Case, Function, differs

SUM = "def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total\n"
TESTS: list[tuple[dict[str, Any], Any]] = [({"xs": [1, 2, 3]}, 6), ({"xs": []}, 0)]


@pytest.fixture(scope="module")
def guard() -> Iterator[Guard]:
    made = Guard(Limits(cpu_s=0.5, wall_s=60.0, memory_bytes=1 << 30), factor=50, base=500)
    yield made
    made.close()


def first(guard: Guard, body: str, tests: Any = TESTS) -> Any:
    """The row of one mutant, run between two copies of the reference that must not be harmed."""
    misses, rows = guard.run(SUM, "f", tests, [SUM, "def f(xs):\n" + body, SUM], values=True)
    assert not misses
    assert all(not any(row.kills) and row.fault is None for row in (rows[0], rows[2]))
    return rows[1]


@pytest.mark.parametrize(
    ("body", "kills"),
    [
        ("    return 6", (None, "value")),
        ("    return sum(xs) or False", (None, "type")),
        ("    return float(sum(xs))", ("type", "type")),
        ("    return [sum(xs)]", ("value", "value")),
        ("    return xs[0] + sum(xs[1:])", (None, "exception")),
        ("    while xs: pass\n    return 0", ("step_budget", None)),
        ("    raise SystemExit", ("exception", "exception")),
        ("    raise KeyboardInterrupt", ("exception", "exception")),
        ("    return f(xs)", ("step_budget", "step_budget")),
    ],
)
def test_kinds_of_kill(guard: Guard, body: str, kills: tuple[str | None, ...]) -> None:
    row = first(guard, body)
    assert row.kills == kills, row


def test_the_size_of_the_program_that_audits_is_not_held_against_a_mutant() -> None:
    with mmap.mmap(-1, 1 << 30):
        guard = Guard(Limits(cpu_s=0.5, wall_s=60.0, memory_bytes=1 << 26), factor=50, base=500)
        try:
            assert first(guard, "    return f(xs)").kills == ("step_budget", "step_budget")
            row = first(guard, "    return [0] * (1 << 27)")
        finally:
            guard.close()
    assert row.kills == ("step_budget", "step_budget")
    assert row.note == "stopped by the memory limit, twice"


def test_a_frame_without_memory_is_no_exception_of_the_mutant() -> None:
    function = Function("def f():\n    raise SystemError('error return without exception set')\n", "f")
    with pytest.raises(MemoryError):
        function.call(Case(marshal.dumps({}), 1, 100))


def test_a_mutant_that_swallows_the_countdown_cannot_hide(guard: Guard) -> None:
    hidden = "    try:\n        while xs: pass\n    except BaseException:\n        pass\n    return sum(xs)"
    assert first(guard, hidden).kills == ("step_budget", None)
    generator = "    def g():\n        while xs: yield 0\n    return sum(g()) + sum(xs)"
    assert first(guard, generator).kills == ("step_budget", None)


def test_one_endless_operation_is_a_kill_only_because_it_comes_back(guard: Guard) -> None:
    row = first(guard, "    if xs: len(str(9 ** 9 ** 9))\n    return sum(xs)")
    assert row.kills == ("step_budget", "step_budget")
    assert row.note == "stopped by the cpu limit, twice"


def test_memory_is_a_kill_only_because_it_comes_back(guard: Guard) -> None:
    row = first(guard, "    return sum([0] * 10 ** 9) + sum(xs)")
    assert row.note == "stopped by the memory limit, twice"


def test_sleeping_is_a_fault_and_no_kill() -> None:
    hasty = Guard(Limits(cpu_s=0.5, wall_s=1.0, memory_bytes=1 << 30), factor=50, base=500)
    _, (row,) = hasty.run(SUM, "f", TESTS, ["def f(xs):\n    import time\n    time.sleep(60)\n"])
    hasty.close()
    assert row.kills == (None, None)
    assert row.fault is not None
    assert "wall" in row.fault


def test_a_lost_child_is_a_fault_and_no_kill(guard: Guard) -> None:
    row = first(guard, "    import os, time\n    time.sleep(0.1)\n    os._exit(0)")
    assert row.kills == (None, None)
    assert row.fault is not None
    assert "crashed" in row.fault


def test_a_mutant_that_edits_its_input_spoils_nobody(guard: Guard) -> None:
    assert first(guard, "    xs.clear()\n    return 0").kills == ("value", None)


def test_state_that_a_function_keeps_is_seen_by_the_next_test(guard: Guard) -> None:
    tests = [({"xs": [1]}, 1), ({"xs": [1]}, 1)]
    _, rows = guard.run(SUM, "f", tests, ["def f(xs, kept=[]):\n    kept += xs\n    return sum(kept)\n"])
    assert rows[0].kills == (None, "value")


def test_a_reference_that_fails_is_named(guard: Guard) -> None:
    misses, _ = guard.run(SUM, "f", [({"xs": [1]}, 2)], [SUM])
    assert misses == {0: "returned 1"}


def test_verdicts_are_the_same_alone_and_together(guard: Guard) -> None:
    texts = [SUM.replace("+=", sign) for sign in ("-=", "*=", "=")] + [SUM.replace("0", "1")]
    together = guard.run(SUM, "f", TESTS, texts)[1]
    assert together == [guard.run(SUM, "f", TESTS, [text])[1][0] for text in texts]


@pytest.mark.parametrize(
    ("value", "expected", "kill"),
    [
        (1, 1, None), (True, 1, "type"), (1.0, 1, "type"), (2, 1, "value"), ([1, [2]], [1, [2]], None),
        ([1, [True]], [1, [1]], "type"), ((1, 2), [1, 2], "value"), ({"a": 1}, {"a": 1}, None),
        ({"a": 1.0}, {"a": 1}, "type"), ({"a": 1, "b": 2}, {"a": 1}, "value"), (None, 0, "value"),
    ],
)  # fmt: skip
def test_values_are_compared_with_their_types(value: Any, expected: Any, kill: str | None) -> None:
    assert differs(value, expected) == kill
