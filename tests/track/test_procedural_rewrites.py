"""Honest rewritings keep what a function does: everywhere in every reference, and nowhere that they would not."""

import ast
from collections.abc import Iterator
from typing import Any

import pytest

from proceval.audit.standard import Standard
from proceval.protocols import Family
from proceval.seeding import rng
from proceval.track.procedural.extract import extract_helper
from proceval.track.procedural.refactor import Change, changes, rewrite
from proceval.track.procedural.rewrites import RULES
from tests.audit.conftest import FAMILIES

ALL = {**RULES, "extract_helper": extract_helper}


def _function(module: ast.Module) -> ast.FunctionDef:
    return [node for node in module.body if isinstance(node, ast.FunctionDef)][-1]


def _everywhere(text: str) -> Iterator[tuple[str, str, str]]:
    """(rule, place, rewritten text) for every place of every rule."""
    for name, rule in ALL.items():
        module = ast.parse(text)
        for place in [place for place, _ in rule(module, _function(module))]:
            module = ast.parse(text)
            dict(rule(module, _function(module)))[place]()
            yield name, place, ast.unparse(ast.fix_missing_locations(module))


def _tests(family: Family, most: int) -> list[tuple[Any, Any]]:
    truths = ((instance, family.oracle(instance)) for instance in family.small())
    found = [(instance, truth.answer) for instance, truth in truths if truth.status == "unique"]
    return found if len(found) <= most else rng("rewrites", family.name).sample(found, most)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_rewriting_of_every_reference_gives_the_same(name: str, standard: Standard) -> None:
    """At each single place, on the small instances, under the audit's step budget."""
    family = FAMILIES[name]
    made = list(_everywhere(ast.unparse(ast.parse(family.reference))))
    assert len(made) > 15
    _, rows = standard.guard.run(family.reference, family.entry_point, _tests(family, 25), [text for *_, text in made])
    for (rule, place, text), row in zip(made, rows, strict=True):
        assert row.fault is None
        assert not any(row.kills), f"{rule} at {place} changes the function:\n{text}"


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_many_rewritings_in_a_row_give_the_same_on_all_small_instances(name: str, standard: Standard) -> None:
    family = FAMILIES[name]
    start = ast.unparse(ast.parse(family.reference))
    texts = [rewrite((start,), family.entry_point, rng("row", name, number), 8).texts[0] for number in range(40)]
    assert len(set(texts)) == 40
    _, rows = standard.guard.run(family.reference, family.entry_point, _tests(family, 10_000), texts)
    assert not [text for text, row in zip(texts, rows, strict=True) if any(row.kills) or row.fault]


def test_together_the_references_give_every_rule_a_place() -> None:
    used = {rule for family in FAMILIES.values() for rule, *_ in _everywhere(family.reference)}
    assert set(ALL) - used <= {"nest_conditions"}, "a rule that never applies is no use"


WRONG_PLACES = [
    ("count_by_hand", "for i in range(n):\n    if i % 2:\n        continue\n    n += 0\n"),
    ("count_by_hand", "for i in range(n):\n    n = n - 1\nn = n\n"),
    ("count_by_hand", "for i in range(n):\n    pass\nn = i\n"),
    ("count_by_hand", "for i in range(n):\n    i = 3\n"),
    ("count_by_hand", "for i in range(xs.pop()):\n    n = n\n"),
    ("loop_by_index", "for x in xs:\n    xs.append(x)\n    break\n"),
    ("loop_by_index", "for x in xs:\n    xs = [1]\n"),
    ("loop_by_index", "for x in ys[xs.pop()]:\n    n = n\n"),
    ("flip_comparison", "n = xs.pop() < xs.pop()\n"),
    ("flip_comparison", "n = 1 < n < 3\n"),
    ("swap_statements", "a = n\nn = 2\n"),
    ("swap_statements", "a = xs.pop()\nb = xs.pop()\n"),
    ("swap_statements", "xs[0] = 1\na = xs[0]\n"),
    ("swap_statements", "a = 1\na = 2\n"),
    ("assign_together", "a = n\nb = a\n"),
    ("spell_out", "xs[ys.pop()] += 1\n"),
    ("unfold_comprehension", "n = 3\na = [n for n in xs]\n"),
    ("unfold_comprehension", "xs = [x for x in xs]\n"),
    ("unfold_comprehension", "a = [x + y for x in xs for y in ys]\n"),
    ("loop_from_the_middle", "while n:\n    n -= 1\nelse:\n    n = 7\n"),
    ("leave_early", "for x in xs:\n    if x:\n        n = x\n    else:\n        n = 2\n"),
    ("nest_conditions", "if n and xs:\n    n = 1\nelse:\n    n = 2\n"),
    ("extract_helper", "n = (yield n) + 1 + n + n\n"),
    ("extract_helper", "n = (m := n) + 1 + n + n\n"),
    ("turn_branches", "if n:\n    n = 1\n"),
    ("name_result", "return n\n"),
]


@pytest.mark.parametrize(("rule", "body"), WRONG_PLACES)
def test_a_rule_keeps_away_from_where_it_would_change_something(rule: str, body: str) -> None:
    text = "def f(n, xs, ys):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    assert [place for name, place, _ in _everywhere(text) if name == rule] == []


def test_parameters_keep_their_names() -> None:
    text = "def f(index, xs):\n    left = index\n    return left + sum(x for x in xs)\n"
    made = [text for name, _, text in _everywhere(text) if name == "rename"]
    assert made
    assert all("def f(index, xs)" in one for one in made)


def test_twins_stay_twins() -> None:
    """The same steps at the same places: what differed before differs afterwards, and nothing else does."""
    family = FAMILIES["dag_shortest_path"]
    honest = ast.unparse(ast.parse(family.reference))
    edited = honest.replace("through < distance[head]", "through > distance[head]")
    assert honest != edited
    for number in range(30):
        found = rewrite((honest, edited), family.entry_point, rng("twins", number), 6)
        assert len(found.steps) == 6
        assert [len(change.lines) for change in changes(*found.texts)] == [1], found.steps
        assert len(set(found.steps)) == 6


def test_a_deleted_statement_leaves_no_trace() -> None:
    honest = "def f(n):\n    a = 1\n    n += a\n    return n\n"
    found = rewrite((honest, honest.replace("n += a", "pass")), "f", rng("none"), 0)
    assert found.texts[1] == "def f(n):\n    a = 1\n    return n\n"
    assert changes(*found.texts) == (Change(("    n += a",), (), (2, 3)),)


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("a\nb\nc", "a\nx\nc", [("b", "x", (2,))]),
        ("a\nb\nc", "a\nb\nb\nc", [("", "b", (3,))]),
        ("a\nb\nb\nc", "a\nb\nc", [("b", "", (2, 3))]),
        ("a\nb\nc", "b\nc", [("a", "", (1,))]),
        ("a\nb\nc", "a\nb", [("c", "", (2,))]),
        ("a\nb\nc\nd", "a\nx\nd", [("b c", "x", (2,))]),
        ("a\nb\nc\nd", "a\nx y\nz\nd", [("b c", "x y z", (2, 3))]),
        ("a\nb\nc\nd\ne", "a\nx\nc\ne", [("b", "x", (2,)), ("d", "", (3, 4))]),
        ("a\nb", "a\nb", []),
        ("x\ny\nx\ny\nq\nx\ny\nx\ny", "x\ny\nx\ny\nx\ny\nx\ny", [("q", "", (4, 5))]),
    ],
)
def test_a_change_is_the_least_that_differs(
    before: str, after: str, wanted: list[tuple[str, str, tuple[int, ...]]]
) -> None:
    found = [(" ".join(change.gone), " ".join(change.come), change.lines) for change in changes(before, after)]
    assert found == wanted


def test_equal_seeds_give_equal_rewritings() -> None:
    family = FAMILIES["monotonic_split"]
    first, second, other = (
        [rewrite((family.reference,), family.entry_point, rng("r", seed, n), 5) for n in range(9)] for seed in (0, 0, 1)
    )
    assert first == second
    assert first != other
