"""Only `unsat` proves; everything else is a verdict with a reason, and the same one every time."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proceval.prover.z3 import Undecided, read_model
from proceval.seeding import text_digest
from proceval.smt import Spec, disj
from sandbox.worker import Worker
from tests.prover.conftest import make


def silent(label: str) -> None:
    return None


def interval(low: int, high: int) -> Spec:
    spec = Spec("QF_IDL")
    x = spec.int("x")
    spec.rule("within", f"(and (<= {low} {x}) (<= {x} {high}))")
    spec.answer([x], lambda values: values["x"])
    return spec


def horn(edges: list[tuple[int, int]], n: int, *, pushed: bool = False) -> Spec:
    """The closure of vertex 0; `pushed` adds a choice that makes a careless first model too large."""
    spec = Spec("QF_UF")
    names = [spec.bool(f"r{v}") for v in range(n)]
    spec.rule("start", names[0])
    for u, v in edges:
        spec.rule("closed", f"(=> {names[u]} {names[v]})")
    if pushed:
        spec.rule("one of two", disj([names[-1], names[-2]]))
    spec.least(names, lambda values: sorted(v for v in range(n) if values[names[v]]))
    return spec


def cheapest(costs: list[int]) -> Spec:
    """Pick one option of several; the cost is what it costs."""
    spec = Spec("QF_LIA")
    cost = spec.int("cost")
    picks = [spec.bool(f"pick{k}") for k in range(len(costs))]
    spec.rule("one is picked", disj([f"(and {p} (= {cost} {c}))" for p, c in zip(picks, costs, strict=True)]))
    for k, p in enumerate(picks):
        for q in picks[:k]:
            spec.rule("no two are picked", f"(or (not {p}) (not {q}))")
    spec.minimise(cost, picks, lambda values: [k for k, p in enumerate(picks) if values[p]])
    return spec


def pigeons(holes: int) -> Spec:
    """One pigeon too many: easy to say, very hard to refute."""
    spec = Spec("QF_UF")
    at = [[spec.bool(f"at_{p}_{h}") for h in range(holes)] for p in range(holes + 1)]
    for row in at:
        spec.rule("every pigeon has a hole", disj(row))
    for h in range(holes):
        for p in range(holes + 1):
            for q in range(p):
                spec.rule("no hole has two", f"(or (not {at[p][h]}) (not {at[q][h]}))")
    spec.answer(at[0], lambda values: None)
    return spec


@pytest.mark.parametrize(
    ("spec", "status", "answer"),
    [
        (interval(4, 4), "unique", 4),
        (interval(-7, -7), "unique", -7),
        (interval(2**70, 2**70), "unique", 2**70),
        (interval(4, 5), "ambiguous", None),
        (interval(5, 4), "infeasible", None),
        (horn([(0, 2), (3, 4)], 5), "unique", [0, 2]),
        (horn([], 1), "unique", [0]),
        (cheapest([5, 3, 9]), "unique", [1]),
        (cheapest([5, 3, 3]), "ambiguous", None),
        (cheapest([5, 5, 2, 9, 9]), "unique", [2]),  # ties that are not cheapest are no ties
    ],
)
def test_verdicts(prover: Any, spec: Spec, status: str, answer: Any) -> None:
    proof = prover.certify(spec, silent)
    assert (proof.status, proof.answer) == (status, answer)
    assert proof.reason == (None if status == "unique" else status)
    assert proof.queries[0].kind == "existence"
    if status == "unique":
        assert (proof.queries[-1].kind, proof.queries[-1].verdict) == ("uniqueness", "unsat")


def test_rules_without_a_least_set_are_not_called_unique(prover: Any) -> None:
    """Two minimal sets: their meet breaks a rule, which only asserting it again can show."""
    proof = prover.certify(horn([], 4, pushed=True), silent)
    assert (proof.status, proof.answer) == ("ambiguous", None)


def test_a_first_model_that_is_too_large_is_lowered(prover: Any) -> None:
    """Membership is said through its opposite here, which tempts the solver to start from everything."""
    spec = Spec("QF_UF")
    outside = [spec.bool(f"o{v}") for v in range(6)]
    inside = [spec.bool(f"i{v}") for v in range(6)]
    for i, o in zip(inside, outside, strict=True):
        spec.rule("inside is not outside", f"(= {i} (not {o}))")
    spec.rule("start", inside[2])
    spec.rule("closed", f"(=> {inside[2]} {inside[5]})")
    spec.least(inside, lambda values: [v for v in range(6) if values[inside[v]]])
    proof = prover.certify(spec, silent)
    assert (proof.status, proof.answer) == ("unique", [2, 5])
    kinds = [(q.kind, q.verdict) for q in proof.queries]
    assert kinds == [("existence", "sat"), ("uniqueness", "sat"), ("existence", "sat"), ("uniqueness", "unsat")]


def test_the_texts_are_what_was_asked_and_hash_to_their_keys(prover: Any) -> None:
    proof = prover.certify(interval(4, 4), silent)
    assert [q.smt_sha256 for q in proof.queries] == list(proof.texts)
    for digest, text in proof.texts.items():
        assert text_digest(text) == digest
    existence, uniqueness = proof.texts.values()
    assert uniqueness.startswith(existence)
    assert "(assert (not (= x 4)))" in uniqueness


def test_each_query_opens_a_section(prover: Any) -> None:
    labels: list[str] = []
    prover.certify(interval(4, 4), labels.append)
    assert labels == ["existence query 0", "uniqueness query 1"]


def test_a_query_over_budget_is_no_proof() -> None:
    proof = make("z3", resource_budget=5).certify(interval(4, 4), silent)
    assert (proof.status, proof.reason, proof.answer) == ("unknown", "over_budget", None)
    assert proof.queries[0].verdict == "unknown"
    hard = make("z3", resource_budget=20_000).certify(pigeons(9), silent)
    assert (hard.status, hard.reason) == ("unknown", "over_budget")


def test_too_many_rounds_are_no_proof() -> None:
    proof = make("z3", rounds=1).certify(cheapest([5, 6, 7, 8, 9]), silent)
    assert (proof.status, proof.reason) == ("unknown", "rounds")


@pytest.mark.parametrize("change", [{"resource_budget": 0}, {"resource_budget": 2**32}, {"rounds": 0}, {"rounds": 1.5}])
def test_an_impossible_budget_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=next(iter(change))):
        make("z3", **change)


def counts(prover: Any, *specs: Spec) -> list[list[int | None]]:
    return [[q.resource_count for q in prover.certify(spec, silent).queries] for spec in specs]


def test_counters_and_models_do_not_depend_on_what_was_solved_before(prover: Any) -> None:
    one, other = horn([(0, 2), (2, 3), (4, 5)], 60), cheapest([7, 5, 6])
    alone = counts(prover, one)[0]
    assert counts(prover, other, one, other, one)[1::2] == [alone, alone]
    program = (
        "from tests.prover.conftest import make; from tests.prover.test_z3 import counts, horn;"
        "print(counts(make('z3'), horn([(0, 2), (2, 3), (4, 5)], 60))[0])"
    )
    root = Path(__file__).resolve().parents[2]
    fresh = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert fresh.stdout.strip() == str(alone)


def test_a_value_that_is_a_term_is_refused() -> None:
    """Blocked, it would be compared with itself: unsat, and a bogus proof."""
    spec = interval(1, 2)
    printed = "(define-fun x () Int\n  {})\n"
    assert read_model(printed.format("(- 4)"), spec, ["x"]) == {"x": -4}
    assert read_model("", spec, ["x"]) == {"x": 0}
    for term in ("(+ y 1)", "(- y)", "y", "(/ 1 2)", "1.0"):
        with pytest.raises(Undecided):
            read_model(printed.format(term), spec, ["x"])


def test_a_misspelt_name_is_an_error_and_not_a_verdict(prover: Any) -> None:
    spec = interval(4, 4)
    spec.rule("typo", "(< y 3)")
    with pytest.raises(Exception, match="unknown constant y"):
        prover.certify(spec, silent)


def test_the_worker_kills_what_the_solver_would_not_end() -> None:
    """No budget, a short leash: the kill names the query, and the next payload is served."""
    prover = make("z3", resource_budget=4_000_000_000)

    def handle(size: int, section: Any) -> Any:
        return prover.certify(pigeons(size), section)

    with Worker(handle, cpu_s=0.7, wall_s=30, memory_bytes=4 << 30) as worker:
        stuck, fine = worker.call(14), worker.call(2)
    assert (stuck.status, stuck.section) == ("cpu", "existence query 0")
    assert (fine.status, fine.value.status) == ("done", "infeasible")
