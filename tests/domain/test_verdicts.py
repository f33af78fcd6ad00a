"""Nasty instances with the verdict that is right for them, from validator, proof and oracle alike."""

from typing import Any

import pytest

from proceval.errors import Malformed


def dfa(start: int, accept: list[int], delta: list[list[int]], **other: Any) -> dict[str, Any]:
    return {"states": len(delta), "alphabet": len(delta[0]), "start": start, "accept": accept, "delta": delta, **other}


def ring(n: int, accept: list[int] | None = None) -> dict[str, Any]:
    return dfa(0, list(range(n)) if accept is None else accept, [[(s + 1) % n] for s in range(n)])


FLIP = [[0, 1], [1, 0]]
DIAMONDS = [[3 * d + a, 3 * d + b, 1] for d in range(10) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]

ARRAYS = [
    ("equilibrium_index", {"array": [7, 7]}, "infeasible", None),  # the pivot belongs to neither side
    ("equilibrium_index", {"array": [1, 2, 3, 4, 5]}, "infeasible", None),
    ("equilibrium_index", {"array": [8]}, "unique", 0),
    ("equilibrium_index", {"array": [2, 0, 2]}, "malformed", None),
    ("equilibrium_index", {"array": [0, 0, 0]}, "malformed", None),
    ("equilibrium_index", {"array": [4, -4, 6, 1, -1]}, "malformed", None),
    ("equilibrium_index", {"array": [2**32 + 9, 1, 9]}, "infeasible", None),  # balances modulo 2^32 only
    ("equilibrium_index", {"array": [2**70, 5, 2**70 - 3, 3]}, "unique", 1),
    ("equilibrium_index", {"array": [3, 3, 8, 3, 3]}, "unique", 2),
    ("equilibrium_index", {"array": [1] * 150 + [2, 77] + [1] * 152}, "unique", 151),
    ("equilibrium_index", {"array": [1, True, 1]}, "malformed", None),
    ("equilibrium_index", {"array": [1, 1.0, 1]}, "malformed", None),
    ("monotonic_split", {"array": [5, 5, 5], "target": 5}, "unique", 0),
    ("monotonic_split", {"array": [1, 5, 5, 5, 9], "target": 5}, "unique", 1),
    ("monotonic_split", {"array": [1, 2, 3], "target": 4}, "infeasible", None),
    ("monotonic_split", {"array": [1, 2, 3], "target": -99}, "unique", 0),
    ("monotonic_split", {"array": [4, 1, 2], "target": 2}, "malformed", None),  # unsorted, though an answer exists
    ("monotonic_split", {"array": [], "target": 0}, "malformed", None),
    ("monotonic_split", {"array": [-(2**65), -1, 0, 2**65, 2**65 + 1], "target": 2**65 + 1}, "unique", 4),
    ("monotonic_split", {"array": [2**31 - 1, 2**31, 2**31 + 1], "target": 2**31}, "unique", 1),
    ("monotonic_split", {"array": [6], "target": 6}, "unique", 0),
    ("monotonic_split", {"array": [6]}, "malformed", None),
    ("monotonic_split", {"array": [6], "target": 6, "extra": 1}, "malformed", None),
]

GRAPHS = [
    ("dag_reachability", {"n": 5, "edges": [[1, 2], [2, 3], [3, 4]], "source": 0}, "unique", 1),
    ("dag_reachability", {"n": 4, "edges": [[1, 0], [2, 0], [3, 0]], "source": 0}, "unique", 1),
    ("dag_reachability", {"n": 4, "edges": [[0, 1], [2, 3], [3, 2]], "source": 0}, "malformed", None),
    ("dag_reachability", {"n": 3, "edges": [[0, 0], [0, 1]], "source": 0}, "malformed", None),
    ("dag_reachability", {"n": 3, "edges": [[0, 1], [0, 1]], "source": 0}, "malformed", None),
    ("dag_reachability", {"n": 3, "edges": [[0, 1]], "source": 3}, "malformed", None),
    ("dag_reachability", {"n": 3, "edges": [[0, -1]], "source": 0}, "malformed", None),  # would wrap in Python
    ("dag_reachability", {"n": 0, "edges": [], "source": 0}, "malformed", None),
    ("dag_reachability", {"n": 40, "edges": [[v, v - 1] for v in range(1, 40)], "source": 39}, "unique", 40),
    ("dag_shortest_path", {"n": 1, "edges": [], "source": 0, "target": 0}, "unique", {"weight": 0, "path": [0]}),
    (
        "dag_shortest_path",
        {"n": 3, "edges": [[0, 1, 2], [1, 2, 2], [0, 2, 5]], "source": 1, "target": 1},
        "unique",
        {"weight": 0, "path": [1]},
    ),
    ("dag_shortest_path", {"n": 3, "edges": [[0, 1, 2]], "source": 1, "target": 0}, "infeasible", None),
    (
        "dag_shortest_path",
        {"n": 4, "edges": [[0, 1, 1], [0, 2, 1], [1, 3, 1], [2, 3, 1]], "source": 0, "target": 3},
        "ambiguous",
        None,
    ),
    (  # a tie beside the best path is no tie
        "dag_shortest_path",
        {"n": 4, "edges": [[0, 1, 2], [0, 2, 2], [1, 3, 2], [2, 3, 2], [0, 3, 3]], "source": 0, "target": 3},
        "unique",
        {"weight": 3, "path": [0, 3]},
    ),
    (  # an unreachable vertex must not undercut the path
        "dag_shortest_path",
        {"n": 4, "edges": [[3, 1, 1], [0, 1, 6], [1, 2, 6], [0, 2, 13]], "source": 0, "target": 2},
        "unique",
        {"weight": 12, "path": [0, 1, 2]},
    ),
    ("dag_shortest_path", {"n": 2, "edges": [[0, 1, 0]], "source": 0, "target": 1}, "malformed", None),
    (
        "dag_shortest_path",
        {"n": 3, "edges": [[0, 1, 1], [1, 2, 1], [2, 0, 1]], "source": 0, "target": 2},
        "malformed",
        None,
    ),
    (  # 2^64 is nothing modulo 2^64
        "dag_shortest_path",
        {"n": 4, "edges": [[0, 1, 2**63], [1, 3, 2**63], [0, 2, 8], [2, 3, 8]], "source": 0, "target": 3},
        "unique",
        {"weight": 16, "path": [0, 2, 3]},
    ),
    ("dag_shortest_path", {"n": 31, "edges": DIAMONDS, "source": 0, "target": 30}, "ambiguous", None),
    ("dag_topological_position", {"n": 1, "edges": [], "vertex": 0}, "unique", 1),
    ("dag_topological_position", {"n": 7, "edges": [], "vertex": 5}, "unique", 6),
    ("dag_topological_position", {"n": 5, "edges": [[4, 3], [3, 2], [2, 1], [1, 0]], "vertex": 0}, "unique", 5),
    ("dag_topological_position", {"n": 4, "edges": [[3, 0], [1, 2]], "vertex": 0}, "unique", 4),
    ("dag_topological_position", {"n": 6, "edges": [[0, 4], [5, 1]], "vertex": 1}, "unique", 6),
    ("dag_topological_position", {"n": 3, "edges": [[0, 1], [1, 0]], "vertex": 2}, "malformed", None),
    ("dag_topological_position", {"n": 3, "edges": [[0, 1]], "vertex": 3}, "malformed", None),
    ("dag_topological_position", {"n": 12, "edges": [[11, 2]], "vertex": 10}, "unique", 10),  # numbers, not strings
]

AUTOMATA = [
    ("dfa_string_acceptance", {"dfa": dfa(0, [0], [[0, 0, 0]]), "length": 9}, "unique", 3**9),
    ("dfa_string_acceptance", {"dfa": dfa(0, [2], [[0, 1], [1, 0], [2, 2]]), "length": 12}, "unique", 0),
    ("dfa_string_acceptance", {"dfa": dfa(0, [0], [[0, 0]]), "length": 64}, "unique", 2**64),
    ("dfa_string_acceptance", {"dfa": dfa(0, [0], FLIP), "length": 200}, "unique", 2**199),
    ("dfa_string_acceptance", {"dfa": dfa(0, [0], FLIP), "length": 0}, "unique", 1),
    ("dfa_string_acceptance", {"dfa": dfa(0, [], FLIP), "length": 4}, "unique", 0),
    ("dfa_string_acceptance", {"dfa": dfa(0, [0], [[0, 1], [1]]), "length": 3}, "malformed", None),
    ("dfa_string_acceptance", {"dfa": dfa(0, [0], FLIP), "length": -1}, "malformed", None),
    ("dfa_string_acceptance", {"dfa": dfa(0, [2], FLIP), "length": 3}, "malformed", None),
    ("dfa_string_acceptance", {"dfa": dfa(0, [1, 1], FLIP), "length": 3}, "malformed", None),  # would count twice
    ("dfa_string_acceptance", {"dfa": dfa(0, [0], FLIP, states=3), "length": 3}, "malformed", None),
    ("dfa_product_reachability", {"a": ring(1), "b": ring(1)}, "unique", 1),
    ("dfa_product_reachability", {"a": ring(3), "b": ring(4)}, "unique", 12),
    ("dfa_product_reachability", {"a": ring(4), "b": ring(6)}, "unique", 12),
    (
        "dfa_product_reachability",
        {"a": dfa(0, [], [[1, 0], [0, 1]]), "b": dfa(0, [], [[1, 2], [2, 0], [0, 1]])},
        "unique",
        6,
    ),
    ("dfa_product_reachability", {"a": ring(2, [0]), "b": ring(3, [0])}, "malformed", None),
    # the first string on which they differ is longer than either automaton
    ("dfa_product_reachability", {"a": ring(6, [5]), "b": ring(7, [5])}, "malformed", None),
    ("dfa_product_reachability", {"a": dfa(0, [1], FLIP), "b": ring(2, [1])}, "malformed", None),
    ("dfa_product_reachability", {"a": ring(4, [0, 2]), "b": ring(2, [0])}, "unique", 4),
]


@pytest.mark.parametrize(("name", "instance", "status", "answer"), ARRAYS + GRAPHS + AUTOMATA)
def test_the_right_verdict(named: Any, prover: Any, name: str, instance: Any, status: str, answer: Any) -> None:
    family = named(name)
    truth = family.oracle(instance)
    assert (truth.status, truth.answer) == (status, answer)
    if status == "malformed":
        with pytest.raises(Malformed):
            family.specification(instance)
        return
    proof = prover.certify(family.specification(instance), lambda label: None)
    assert (proof.status, proof.answer) == (status, answer)


@pytest.mark.parametrize(("a", "b"), [(ring(2, [0]), ring(3, [0])), (ring(6, [5]), ring(7, [5]))])
def test_the_product_specification_has_no_model_for_inequivalent_automata(
    named: Any, prover: Any, a: Any, b: Any
) -> None:
    """Even past the validator, the rules themselves notice."""
    from proceval.smt import Spec

    family = named("dfa_product_reachability")
    spec = Spec(family.logic)
    family.specify({"a": a, "b": b}, spec)
    assert prover.certify(spec, lambda label: None).status == "infeasible"
