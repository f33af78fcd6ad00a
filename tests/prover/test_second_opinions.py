"""Those who do not take Z3's word for it: propagation, direct arguments, cvc5."""

import importlib.metadata
import json
from itertools import product
from random import Random
from typing import Any

import pytest

from proceval.errors import Finding
from proceval.prover import propagation
from proceval.seeding import rng
from proceval.smt import Spec
from tests.domain.conftest import FAMILIES, build
from tests.prover.conftest import make
from tests.prover.test_z3 import interval, pigeons, silent


@pytest.fixture(scope="module")
def both() -> Any:
    pytest.importorskip("cvc5")
    return make("z3_cvc5")


@pytest.mark.parametrize("name", FAMILIES)
def test_everybody_agrees_on_every_family(both: Any, name: str) -> None:
    family = build(name)
    asked = 0
    for tier in ("easy", "medium", "hard", "extreme"):
        for index in range(3):
            spec = family.specification(family.sample(rng(name, "second", tier, index), tier))
            proof = both.certify(spec, silent)
            if proof.status != "unique":
                continue
            asked += 1
            cvc5, other = proof.opinions
            assert cvc5.by.startswith("cvc5 ")
            assert (cvc5.existence, cvc5.uniqueness) == ("sat", "unsat")
            assert other.by.startswith("propagation" if spec.logic == "QF_UF" else "direct: ")
            assert (other.existence, other.uniqueness) == ("checked", "checked")
    assert asked >= 8


@pytest.mark.parametrize(("existence", "uniqueness"), [("unsat", "unsat"), ("sat", "sat")])
def test_a_disagreement_stops_the_run(both: Any, monkeypatch: Any, existence: str, uniqueness: str) -> None:
    said = {"existence": existence, "uniqueness": uniqueness}
    monkeypatch.setattr(both, "_ask", lambda text, kind, section, budget: said[kind])
    with pytest.raises(Finding, match="cvc5"):
        both.certify(interval(4, 4), silent)


def test_cvc5_without_a_verdict_is_no_disagreement() -> None:
    pytest.importorskip("cvc5")
    prover = make("z3_cvc5", second_budget=1)
    spec = build("dag_topological_position").specification({"n": 12, "edges": [[11, 2], [5, 0]], "vertex": 3})
    proof = prover.certify(spec, silent)
    assert proof.status == "unique"
    assert proof.opinions[0].uniqueness == "unknown"


def test_cvc5_is_only_asked_about_answers_that_z3_proved(both: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(both, "_ask", lambda *given: pytest.fail("asked"))
    assert both.certify(interval(1, 2), silent).opinions == ()
    assert both.certify(interval(2, 1), silent).opinions == ()


def test_without_cvc5_the_extra_is_named(monkeypatch: Any) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("proceval.prover.z3_cvc5.importlib.metadata.version", missing)
    with pytest.raises(Exception, match=r"proceval\[cvc5\]"):
        make("z3_cvc5")


def test_a_witness_that_breaks_a_rule_is_found(prover: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(propagation, "holds", lambda text, values: False)
    spec = Spec("QF_UF")
    spec.rule("start", spec.bool("a"))
    spec.least(["a"], lambda values: 1)
    with pytest.raises(Finding, match="witness"):
        prover.certify(spec, silent)


def test_a_direct_argument_that_fails_stops_the_run(prover: Any) -> None:
    spec = interval(4, 4)
    spec.direct("doubt", lambda answer, data: answer != data, lambda values: values["x"])
    with pytest.raises(Finding, match="doubt"):
        prover.certify(spec, silent)


def tampered(data: Any, name: str, answer: Any, instance: Any) -> list[Any]:
    """Stored data with one part changed, such that they prove nothing any more."""
    if name == "dag_topological_position" and len(data) > 1:
        return [[data[1], data[0], *data[2:]], [*data[:-1], data[-1] + 1], data[:-1] + [data[0]]]
    if name == "dfa_string_acceptance":
        bumped = [[*row[:-1], row[-1] + 1] for row in data]
        return [[*data[:k], bumped[k], *data[k + 1 :]] for k in range(len(data))] + [[*data, data[-1]]]
    if name == "dag_shortest_path":
        ends = (instance["source"], instance["target"])
        return [[p + (v == end) for v, p in enumerate(data)] for end in ends if ends[0] != ends[1]]
    return []


@pytest.mark.parametrize("name", FAMILIES)
def test_direct_arguments_refuse_wrong_answers_and_tampered_data(prover: Any, name: str) -> None:
    family = build(name)
    for index in range(30):
        instance = family.sample(rng(name, "wrong", index), "hard")
        spec = family.specification(instance)
        proof = prover.certify(spec, silent)
        if spec.evidence is None or proof.status != "unique":
            continue
        data = next((json.loads(text) for text in proof.data.values()), None)
        check, answer = spec.evidence.check, proof.answer
        assert (data is None) == (spec.evidence.find is None)
        assert check(answer, data)
        if isinstance(answer, int):
            assert not any(check(answer + step, data) for step in (-3, -2, -1, 1, 2, 3, 10**6))
        else:
            weight, path = answer["weight"], answer["path"]
            for wrong in ((weight + 1, path), (weight, path[:-1]), (weight, path[1:]), (weight, path[::-1])):
                assert not check({"weight": wrong[0], "path": wrong[1]}, data)
        for other in tampered(data, name, answer, instance):
            assert not check(answer, other), other


def test_ties_have_no_direct_argument() -> None:
    from proceval.domain.graphs.dag_shortest_path import tight

    tie = [[0, 1, 1], [0, 2, 1], [1, 3, 1], [2, 3, 1]]
    assert not tight(tie, 0, 3, {"weight": 2, "path": [0, 1, 3]}, [0, 1, 1, 2])
    assert tight([*tie, [0, 3, 1]], 0, 3, {"weight": 1, "path": [0, 3]}, [0, 1, 1, 1])


def test_data_too_long_to_store_are_no_evidence(prover: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("proceval.prover.z3.DATA_CHARACTERS", 10)
    family = build("dag_topological_position")
    proof = prover.certify(family.specification({"n": 12, "edges": [[11, 2]], "vertex": 3}), silent)
    assert (proof.status, proof.data) == ("unique", {})
    assert (proof.opinions[0].existence, proof.opinions[0].uniqueness) == ("not_run", "not_run")


# ------------------------------------------------------------------------------------------- propagation


def random_term(random: Random, names: list[str], depth: int) -> str:
    if depth == 0 or random.random() < 0.2:
        return random.choice([*names, *names, "true", "false"])
    operator = random.choice(["not", "and", "or", "=>", "="])
    width = {"not": 1, "=>": 2, "=": 2}.get(operator) or random.randint(1, 3)
    return f"({operator} {' '.join(random_term(random, names, depth - 1) for _ in range(width))})"


def test_propagation_refutes_only_what_has_no_model() -> None:
    random = Random(11)
    names = ["a", "b", "c"]
    found = missed = 0
    for _ in range(400):
        terms = [random_term(random, names, 3) for _ in range(random.randint(1, 6))]
        text = "(set-logic QF_UF)\n" + "".join(f"(declare-const {n} Bool)\n" for n in names)
        text += "; a comment (with a parenthesis\n" + "".join(f"(assert {t})\n" for t in terms)
        models = [
            v for v in product((False, True), repeat=3) if propagation.holds(text, dict(zip(names, v, strict=True)))
        ]
        if propagation.refuted(text):
            found += 1
            assert not models
        else:
            missed += not models
    assert found > 50
    assert missed < found


def test_propagation_alone_does_not_refute_the_pigeons() -> None:
    assert not propagation.refuted(pigeons(3).existence())


@pytest.mark.parametrize(
    "text",
    [
        "(assert (and a b)",
        "(assert a))",
        "(declare-const x Int)",
        "(assert (xor true false))",
        "(push 1)",
        "(assert (=> a b c))",
    ],
)
def test_what_is_not_boolean_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"parenthesis|Boolean"):
        propagation.refuted("(declare-const a Bool)(declare-const b Bool)(declare-const c Bool)" + text)


@pytest.mark.parametrize("name", ["dag_reachability", "dfa_product_reachability"])
def test_propagation_refutes_every_blocked_query_and_no_open_one(prover: Any, name: str) -> None:
    family = build(name)
    for index in range(25):
        tier = ("easy", "hard", "extreme", "frontier")[min(index // 8, 3)]
        spec = family.specification(family.sample(rng(name, "propagate", index), tier))
        proof = prover.certify(spec, silent)
        assert proof.opinions[0].uniqueness == "checked"
        assert not propagation.refuted(spec.existence())
