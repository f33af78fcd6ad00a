"""The symbolic search finds what random instances do not, and claims agreement only where there is some."""

from collections.abc import Sequence
from typing import Any

import pytest

from proceval.audit.runner import Function
from proceval.audit.search import hunt
from proceval.audit.standard import Standard
from proceval.protocols import Family, Instance
from proceval.prover.symbolic import Explored, differences
from proceval.schema import Test
from proceval.seeding import rng
from tests.audit.conftest import FAMILIES, build_audit


def compared(first: str, second: str, seed: Instance) -> tuple[list[Instance], Explored]:
    def runner(text: str) -> Any:
        function = Function(text, "f")

        def run(arguments: Any) -> tuple[str, Any]:
            kill, value, _ = function.attempt(arguments, 10_000)
            return kill or "value", value

        return run

    *found, end = differences(runner(first), runner(second), seed, 100)
    assert isinstance(end, Explored)
    return found, end  # type: ignore[return-value]


def agree(instance: Instance, *texts: str) -> bool:
    names: list[dict[str, Any]] = [{} for _ in texts]
    for text, space in zip(texts, names, strict=True):
        exec(text, space)
    values = [space["f"](**instance) for space in names]
    return values[0] == values[1] and type(values[0]) is type(values[1])


@pytest.mark.parametrize(
    ("first", "second", "seed"),
    [
        ("def f(a, b): return a + b", "def f(a, b): return a * b", {"a": 2, "b": 2}),
        ("def f(a): return a > 10 ** 9", "def f(a): return a >= 10 ** 9", {"a": 1}),
        ("def f(xs): return sum(xs) // 3", "def f(xs): return sum(xs) // 4", {"xs": [1, 1]}),
        ("def f(xs): return sorted(xs)[0]", "def f(xs): return xs[0]", {"xs": [1, -5]}),
        ("def f(d): return d['k'] - 1", "def f(d): return d['k'] - 1.0", {"d": {"k": 3}}),
        ("def f(n, x): return [x] * n", "def f(n, x): return [x] * n if x != 77 else []", {"n": 2, "x": 1}),
    ],
)
def test_finds_a_difference_that_is_one(first: str, second: str, seed: Instance) -> None:
    found, _ = compared(first, second, seed)
    assert found
    assert any(not agree(instance, first, second) for instance in found)


@pytest.mark.parametrize(
    ("first", "second", "seed"),
    [
        ("def f(a, b): return max(a, b)", "def f(a, b): return a if a > b else b", {"a": 1, "b": 2}),
        ("def f(xs): return min(xs)", "def f(xs): return xs[0]", {"xs": [1, 2, 2]}),
        ("def f(a): return a > 0", "def f(a): return a >= 1", {"a": 5}),
        ("def f(xs, i): return xs[i]", "def f(xs, i): return xs[i - len(xs)]", {"xs": [4, 5], "i": 1}),
    ],
)
def test_proves_agreement_within_sign_and_order(first: str, second: str, seed: Instance) -> None:
    found, end = compared(first, second, seed)
    assert found == []
    assert end.complete
    assert end.open_integers >= 1


def test_what_is_used_as_index_length_or_key_is_closed() -> None:
    text = "def f(n, k, x): return {k: x, 'n': list(range(n))}[k] + x"
    _, end = compared(text, text, {"n": 3, "k": 7, "x": 1})
    assert end.open_integers == 1


def test_an_exploration_that_was_cut_is_not_complete() -> None:
    text = "def f(xs):\n    n = 0\n    for x in xs:\n        if x % 7 == 3: n += 1\n    return n"
    _, end = compared(text, text, {"xs": list(range(1, 9))})
    assert not end.complete


SEARCHED = {
    # The test of the edge uses a product where the update uses a sum: equal for many small weights.
    "dag_shortest_path": ("through < distance[head]", "distance[vertex] * weight < distance[head]"),
    # One value far from all that samplers draw.
    "monotonic_split": ("array[middle] >= target", "array[middle] >= target or array[middle] == target - 1000003"),
}


@pytest.mark.parametrize("name", SEARCHED)
def test_a_rare_bug_is_found_and_confirmed(name: str, standard: Standard) -> None:
    family = FAMILIES[name]
    bug = family.reference.replace(*SEARCHED[name])
    assert bug != family.reference
    triangle = {"n": 3, "edges": [[0, 1, 1], [0, 2, 2], [1, 2, 1]], "source": 0, "target": 2}
    unique = [instance for instance in family.small() if family.oracle(instance).status == "unique"]
    seeds = [triangle] if name == "dag_shortest_path" else unique[:30]
    found = hunt(family, {"bug": bug}, seeds, standard.guard)["bug"]
    assert found.witness is not None
    assert family.oracle(found.witness).status == "unique"


def test_the_gate_searches_for_what_its_pool_leaves_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    family: Family = FAMILIES["monotonic_split"]
    main = {"array": [5], "target": 5}
    poor = build_audit("standard", pool_size=1, search_seeds=3, suite_least=0)
    chosen = poor.choose(family, main, 0, rng(0))
    poor.close()
    without = build_audit("standard", pool_size=1, search_seeds=0, suite_least=0)
    assert survivors(without, family, main, without.choose(family, main, 0, rng(0))) > survivors(
        without, family, main, chosen
    )
    without.close()


def survivors(gate: Standard, family: Family, main: Instance, companions: Sequence[Instance]) -> int:
    tests = [Test(arguments=i, expected=family.oracle(i).answer, origin="main") for i in (main, *companions)]
    return sum(mutant.fate == "survived" for mutant in gate.audit_function(family.reference, tests).mutants)
