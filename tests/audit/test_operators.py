"""Every operator does what its examples say, touches nothing it must not, and names its mutants in a stable way."""

import ast
import textwrap

import pytest

from proceval.audit.mutate import candidates
from proceval.audit.operators import GATE, ORIGINAL, REPORTED, Operator
from proceval.audit.template import template

OPERATORS = (*GATE, *REPORTED, *ORIGINAL)


def inside(statement: str) -> str:
    return "def f(a, b, c):\n" + textwrap.indent(statement, "    ")


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_examples(operator: Operator) -> None:
    assert operator.examples()
    for before, afters in operator.examples():
        made = [mutant.text for mutant in candidates(inside(before), [[operator]])]
        assert made == [ast.unparse(ast.parse(inside(after))) for after in afters], before


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_some_example_is_left_alone_or_exhausts_the_operator(operator: Operator) -> None:
    assert any(afters for _, afters in operator.examples())


def test_operator_names_are_unique() -> None:
    names = [operator.name for operator in OPERATORS]
    assert len(names) == len(set(names))


UNTOUCHED = '''
"""Module text."""
from __future__ import annotations

import math

@cached(1)
def f(a: list[1], *, b: "x" = None) -> 2:
    """Doc."""
    c: Literal[3]
    "a remark"
    return f"{a[0] + 1} of {b}"
'''


def test_docstrings_annotations_imports_decorators_and_f_strings_are_untouched() -> None:
    kept = ["Module text", "annotations", "math", "cached(1)", "list[1]", "-> 2", "Doc.", "Literal[3]", "a remark"]
    for mutant in candidates(UNTOUCHED, [[*GATE, *REPORTED]]):
        for text in kept:
            assert text in mutant.text
        assert "{a[0] + 1}" in mutant.text or mutant.operator in ("return_value", "deletion")


SEARCH = """
def search(xs, t):
    low, high = 0, len(xs)
    while low < high:
        middle = (low + high) // 2
        if xs[middle] < t:
            low = middle + 1
        else:
            high = middle
    return low
"""


def test_ids_are_unique_and_survive_edits_elsewhere() -> None:
    edited = SEARCH.replace("low, high = 0, len(xs)", "extra = 5\n    low = 0\n    high = len(xs)")
    old = {mutant.id.split(":", 1)[1]: mutant for mutant in candidates(SEARCH, [GATE, REPORTED])}
    new = {mutant.id.split(":", 1)[1]: mutant for mutant in candidates(edited, [GATE, REPORTED])}
    assert len(old) == len(candidates(SEARCH, [GATE, REPORTED]))
    loop = {key for key, mutant in old.items() if mutant.line >= 4 and mutant.operator != "variable"}
    assert loop
    assert loop <= new.keys()
    assert all(old[key].after == new[key].after for key in loop)
    assert all(new[key].line == old[key].line + 2 for key in loop)


def test_ids_change_with_the_template() -> None:
    mutants = [*candidates(SEARCH, [GATE]), *candidates(SEARCH + "\n# end\n", [GATE])]
    assert len({mutant.id.split(":")[0] for mutant in mutants}) == 2


def test_equal_statements_have_different_ids() -> None:
    twice = "def f(a):\n    a += 1\n    a += 1\n    return a\n"
    assert len({mutant.id for mutant in candidates(twice, [GATE])}) == len(candidates(twice, [GATE]))


def test_twins_are_found_and_never_of_a_later_tier() -> None:
    made = template("def f(a, b):\n    if a not in b:\n        return 1\n    return 2\n", ("gate", "reported"))
    twins = {mutant.id: mutant.twin for mutant in made.mutants if mutant.twin}
    assert twins
    tier = {mutant.id: made.tier[mutant.operator] for mutant in made.mutants}
    assert all(tier[twin] == "gate" for twin in twins.values())
    texts = [mutant.text for mutant in made.runnable]
    assert len(texts) == len(set(texts))


def test_what_does_not_compile_is_broken() -> None:
    made = template("def f(a):\n    match a:\n        case 1 + 2j:\n            return 3\n", ("gate",))
    assert made.broken
    assert all(reason.startswith("does not compile") for reason in made.broken.values())
    assert not {mutant.id for mutant in made.runnable} & made.broken.keys()


def test_original_makes_three_kinds_only() -> None:
    made = template(SEARCH, ("original",))
    assert [mutant.after for mutant in made.mutants] == ["low <= high", "xs[middle] <= t", "middle - 1"]
