"""The gate over all families: chosen suites kill everything outside the ledger, and nothing else passes."""

import json
from collections.abc import Iterator

import pytest

from proceval.audit.gate import figures
from proceval.audit.original import Original
from proceval.audit.sheet import difference
from proceval.audit.standard import Standard
from proceval.audit.template import entry_point_of, template
from proceval.errors import Finding, InputError
from proceval.protocols import Family, Instance, Truth
from proceval.schema import Problem, Test
from proceval.seeding import rng
from tests.audit.conftest import FAMILIES, TIERS, build_audit

PER_TIER = 3


def made(family: Family, standard: Standard, tier: str, index: int) -> Problem:
    """A problem with the suite that the gate chooses; answers by the oracle."""
    main: Instance = {}
    for attempt in range(100):
        main = json.loads(json.dumps(family.sample(rng("gate", family.name, tier, index, attempt), tier)))
        if family.oracle(main).status == "unique":
            break
    companions = standard.choose(family, main, family.oracle(main).answer, rng(index))
    tests = [
        Test(arguments=instance, expected=family.oracle(instance).answer, origin="targeted" if place else "main")
        for place, instance in enumerate([main, *companions])
    ]
    return Problem(
        id=f"{family.name}-{tier}-{index}", family=family.name, family_version=family.version, domain=family.domain,
        difficulty=tier, statement=family.statement, entry_point=family.entry_point, parameters=family.parameters,
        arguments=main, expected=tests[0].expected, reference=family.reference, examples=(), tests=tuple(tests),
    )  # fmt: skip


def problems(family: Family, standard: Standard) -> Iterator[Problem]:
    for tier in TIERS:
        for index in range(PER_TIER):
            yield made(family, standard, tier, index)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())
def test_what_only_the_step_budget_stops_would_go_on_for_long(family: Family, standard: Standard) -> None:
    """The scorer has a limit of CPU time alone: a suite must not let code pass there that is stopped here."""
    texts = {mutant.id: mutant.text for mutant in template(family.reference, standard.tiers).runnable}
    for tier in ("easy", "hard"):
        problem = made(family, standard, tier, 0)
        calls = [(test.arguments, test.expected) for test in problem.tests]
        late = [texts[m.id] for m in standard.audit(problem).mutants if m.fate == "timeout"]
        _, rows = standard.guard.run(problem.reference, problem.entry_point, calls, late, patience=20)
        assert all("step_budget" in row.kills for row in rows)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())
def test_every_problem_passes_with_a_small_suite_and_the_ledger_holds(family: Family, standard: Standard) -> None:
    reports, sizes = [], []
    for problem in problems(family, standard):
        report = standard.audit(problem)
        assert report.fault is None
        assert report.accepted, [mutant for mutant in report.mutants if mutant.fate == "survived"]
        assert report.audit == "standard 1"
        reports.append(report)
        sizes.append(len(problem.tests))
    assert min(sizes) >= 3
    assert sorted(sizes)[len(sizes) // 2] <= 5
    assert sum(mutant.fate in ("killed", "timeout") for mutant in reports[0].mutants) > 20
    counts = figures(reports)
    assert 0 < counts["dominators"] <= counts["distinct_rows"] <= len(reports[0].mutants)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())
def test_choice_and_report_are_deterministic(family: Family, standard: Standard) -> None:
    other: Standard = build_audit("standard")
    one, two = made(family, standard, "medium", 0), made(family, other, "medium", 0)
    assert one == two
    assert standard.audit(one) == other.audit(two)
    other.close()


def test_a_survivor_withholds_and_is_shown(standard: Standard) -> None:
    problem = made(FAMILIES["dag_shortest_path"], standard, "hard", 0)
    weak = problem.model_copy(update={"tests": problem.tests[:1]})
    report = standard.audit(weak)
    assert report.fault is None
    assert not report.accepted
    survivor = next(mutant for mutant in report.mutants if mutant.fate == "survived")
    text = next(m.text for m in template(weak.reference, ("gate",)).mutants if m.id == survivor.id)
    changed = [line for line in difference(weak.reference, text) if line[0] in "+-"]
    assert len(changed) >= 4


def test_a_reference_that_fails_its_own_test_is_a_fault(standard: Standard) -> None:
    problem = made(FAMILIES["equilibrium_index"], standard, "easy", 0)
    wrong = problem.tests[0].model_copy(update={"expected": problem.expected + 1})
    report = standard.audit(problem.model_copy(update={"tests": (wrong, *problem.tests[1:])}))
    assert not report.accepted
    assert report.fault is not None
    assert "reference fails its own test 0" in report.fault


def test_the_original_audit_makes_fewer_mutants_and_passes_what_the_standard_withholds(
    standard: Standard, original: Original
) -> None:
    let_through = 0
    for family in FAMILIES.values():
        problem = made(family, standard, "medium", 0)
        few = original.audit(problem)
        assert few.accepted
        assert len(few.mutants) < len(standard.audit(problem).mutants) / 8
        alone = problem.model_copy(update={"tests": problem.tests[:1]})
        let_through += original.audit(alone).accepted and not standard.audit(alone).accepted
    assert let_through >= 2


def test_the_reported_tier_is_measured_and_withholds_nothing(standard: Standard) -> None:
    both: Standard = build_audit("standard", tiers=["gate", "reported"])
    problem = made(FAMILIES["monotonic_split"], standard, "medium", 0)
    report = both.audit(problem)
    tiers = {mutant.tier for mutant in report.mutants}
    assert tiers == {"gate", "reported"}
    assert any(mutant.fate == "survived" and mutant.tier == "reported" for mutant in report.mutants)
    assert report.accepted
    both.close()


def test_an_oracle_that_disagrees_is_a_finding(standard: Standard, monkeypatch: pytest.MonkeyPatch) -> None:
    family = FAMILIES["equilibrium_index"]
    main = {"array": [3, 1, 5, 4]}
    monkeypatch.setattr(type(family), "oracle", lambda self, instance: Truth("unique", 7))
    with pytest.raises(Finding, match="disagree"):
        standard.choose(family, main, 7, rng(0))


OWN = '''
def clamp(x, low, high):
    """x, moved into low..high."""
    if x < low:
        return low
    if x > high:
        return high
    return x
'''


def test_somebodys_own_function(standard: Standard) -> None:
    def case(x: int, expected: int) -> Test:
        return Test(arguments={"x": x, "low": 2, "high": 9}, expected=expected, origin="main")

    weak = standard.audit_function(OWN, [case(5, 5)])
    assert not weak.accepted
    strong = standard.audit_function(OWN, [case(5, 5), case(-3, 2), case(12, 9)])
    left = {(mutant.before, mutant.after) for mutant in strong.mutants if mutant.fate == "survived"}
    assert left == {("x < low", "x <= low"), ("x > high", "x >= high")}  # equal by value: nobody's tests can tell
    assert entry_point_of(OWN) == "clamp"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("def f(:\n", "not Python"), ("x = 1\n", "no public function"), ("def _f():\n    pass\n", "no public function")],
)
def test_a_bad_reference_is_the_users_error(standard: Standard, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        standard.audit_function(text, [])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tiers", ["reported"]),
        ("tiers", ["gate", "all"]),
        ("step_budget_factor", 1),
        ("pool_size", -1),
        ("search_seeds", -1),
        ("suite_limit", 1),
        ("limits", {}),
    ],
)
def test_bad_settings_are_one_clear_sentence(key: str, value: object) -> None:
    with pytest.raises(InputError, match=f"audit.{key}"):
        build_audit("standard", **{key: value})
