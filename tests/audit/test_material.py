"""Material for review cases tells the truth: each witness shows its bug, each harmless edit has its proof."""

from typing import Any

import pytest

from proceval.audit.lint import idle_statements
from proceval.audit.material import Collector, Material
from proceval.audit.standard import Standard
from proceval.domain.graphs import dag
from proceval.schema import Test
from proceval.seeding import rng
from tests.audit.conftest import FAMILIES, TIERS
from tests.audit.test_gate import made


@pytest.fixture(scope="module")
def records(standard: Standard) -> list[Material]:
    collector = Collector()
    for name in ("monotonic_split", "dag_shortest_path"):
        for tier in ("easy", "hard"):
            for index in range(3):
                problem = made(FAMILIES[name], standard, tier, index)
                collector.add(problem, standard.audit(problem))
    return list(collector.records(standard))


def outcome(record: Material) -> Any:
    names: dict[str, Any] = {}
    exec(record.edited, names)
    assert record.witness is not None
    return names[record.entry_point](**record.witness.arguments)


def test_bugs_give_something_wrong_on_their_witness(records: list[Material]) -> None:
    bugs = [record for record in records if record.truth == "bug" and record.witness and record.witness.got]
    assert len(bugs) > 100
    for record in bugs:
        assert record.witness is not None
        if record.witness.got is not None and record.witness.got.startswith("raises "):
            with pytest.raises(BaseException, match="^") as caught:
                outcome(record)
            assert type(caught.value).__name__ == record.witness.got.removeprefix("raises ")
        else:
            value = outcome(record)
            assert repr(value)[:200] == record.witness.got
            assert (value, type(value)) != (record.witness.expected, type(record.witness.expected))


def test_slow_edits_are_right_and_slow(standard: Standard) -> None:
    """On a graph of 3 ** 9 paths, which code that walks them all still ends on."""
    family = FAMILIES["dag_reachability"]
    n, edges = dag.layered(3, 9)
    walked = {"n": n, "edges": edges, "source": 0}
    problem = made(family, standard, "easy", 0)
    tests = (problem.tests[0], Test(arguments=walked, expected=n, origin="targeted"))
    collector = Collector()
    problem = problem.model_copy(update={"tests": tests})
    collector.add(problem, standard.audit(problem))
    slow = [record for record in collector.records(standard) if record.truth == "slow"]
    assert [record.after for record in slow] == ["True"]
    assert slow[0].witness is not None
    assert outcome(slow[0]) == slow[0].witness.expected == n


def test_harmless_edits_come_with_their_proof(records: list[Material]) -> None:
    harmless = [record for record in records if record.truth == "harmless"]
    assert len(harmless) >= 6
    for record in harmless:
        assert record.proof is not None
        assert record.proof.lemma
        assert record.proof.script is None or "(check-sat)" in record.proof.script
        assert record.witness is None


def test_rarity_and_twins(records: list[Material]) -> None:
    for record in records:
        assert record.truth == "harmless" or 0 <= (record.revealed_by or 0) <= record.instances == 6
        truth = {other.mutant: other.truth for other in records}
        assert all((truth[twin] == "harmless") != (record.truth == "harmless") for twin in record.twins)
    assert any(record.twins for record in records if record.truth == "harmless")


def test_a_report_with_a_fault_says_nothing(standard: Standard) -> None:
    problem = made(FAMILIES["monotonic_split"], standard, "easy", 0)
    collector = Collector()
    collector.add(problem, standard.audit(problem).model_copy(update={"fault": "lost"}))
    assert list(collector.records(standard)) == []


@pytest.mark.parametrize("name", FAMILIES)
def test_no_reference_has_a_statement_that_is_never_executed(name: str) -> None:
    family = FAMILIES[name]
    instances = [*family.targeted(rng("lint", name)), *(family.sample(rng("lint", name, tier), tier) for tier in TIERS)]
    valid = [instance for instance in instances if family.oracle(instance).status == "unique"]
    assert idle_statements(family.reference, family.entry_point, valid) == []


def test_an_idle_statement_is_named() -> None:
    source = "def f(x):\n    for y in range(x):\n        if y > 5:\n            return y\n    return -1\n"
    idle = idle_statements(source, "f", [{"x": 2}, {"x": 3}])
    assert [(statement.line, statement.text) for statement in idle] == [(4, "return y")]
    assert idle_statements(source, "f", [{"x": 2}, {"x": 9}]) == []
