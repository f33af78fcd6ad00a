"""Procedural repair cases: packages that a bug in one function breaks, and what counts as a repair."""

import ast
import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proceval.audit.standard import Standard
from proceval.errors import Finding
from proceval.folder import RunFolder
from proceval.model.scripted_agent import ScriptedAgent
from proceval.protocols import Family
from proceval.track.agent_suite import Suite, load
from proceval.track.procedural import slow
from proceval.track.procedural.make import SUITE, Procedural, validate
from proceval.track.procedural.repair import CLASSES, repairs
from proceval.track.procedural.stock import Shelf, stock
from tests.audit.conftest import FAMILIES
from tests.track import workbench, yard

COUNT = 3
"""One case of each tier; slow solutions, which take their time to fail, are for the slow tests."""


def _made(run: RunFolder, path: Path, audit: Any, families: Mapping[str, Family], count: int) -> Path:
    folder = workbench.run_folder(path, run.dataset)
    track = yard.track(yard.build(path / "any"), "mend/sum")
    maker = Procedural(track=track, families=families, audit=audit, seed=0, count=count)
    maker.check(folder)
    maker.run(folder, lambda line: None)
    return folder.path / SUITE


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, standard: Standard) -> RunFolder:
    return workbench.audited_run(tmp_path_factory.mktemp("mutants") / "run", standard)


@pytest.fixture(scope="module")
def shelves(run: RunFolder, standard: Standard) -> dict[str, Shelf]:
    return stock(run.source(), workbench.FEW, standard.guard)


@pytest.fixture(scope="module")
def made(run: RunFolder, tmp_path_factory: pytest.TempPathFactory, standard: Standard) -> Path:
    """One case of every tier; its making has run every public test before and after the repair."""
    return _made(run, tmp_path_factory.mktemp("repairs") / "made", standard, workbench.FEW, COUNT)


@pytest.fixture(scope="module")
def suite(made: Path) -> Suite:
    return load(made / "cases", None, "*")


def test_every_class_is_there(suite: Suite) -> None:
    assert [(case.domain, case.difficulty) for case in suite.cases] == [
        ("repair", tier) for tier in ("easy", "medium", "hard")
    ]
    assert {kind.distance for kind in CLASSES} == {"function", "service", "batch"}
    assert {kind.bugs for kind in CLASSES} == {0, 1, 2}


def test_the_right_run_passes_and_others_do_not(made: Path, box: Any, tmp_path: Path) -> None:
    """Through the whole track: checks run in a workspace, hidden calls in the sandbox."""
    for behaviour, outcome in (("gold", "passed"), ("lazy", "failed")):
        model = ScriptedAgent(id=behaviour, behaviour=behaviour)
        _, (verdict,) = yard.run(yard.track(made / "cases", "*-hard"), tmp_path / behaviour, model, box)
        assert verdict.outcome == outcome, verdict.detail


def test_the_hidden_suite_kills_the_bug_and_every_other_mutant(
    made: Path, suite: Suite, shelves: Any, standard: Any
) -> None:
    """What the audit asks of a problem's tests, asked of a case's hidden calls."""
    for case in suite.cases:
        calls = next(check for check in case.checks if check.kind == "calls")
        name = calls.text.rpartition(".")[2]
        shelf = shelves[name]
        tests = [(call.arguments, call.expected) for call in calls.calls]
        assert len(tests) == len({json.dumps(call.arguments) for call in calls.calls})
        for arguments, expected in tests:
            assert shelf.family.oracle(arguments).answer == expected
        wanted = [bug.edited for bug in shelf.bugs]
        misses, rows = standard.guard.run(shelf.family.reference, shelf.family.entry_point, tests, wanted)
        assert not misses
        assert all(any(row.kills) for row in rows), case.family
        if case.domain == "repair":
            folder = made / "fixtures" / case.fixture
            broken = _joined(folder, case.turns[0], name)
            _, (row,) = standard.guard.run(shelf.family.reference, shelf.family.entry_point, tests, [broken])
            assert any(kill in ("value", "type", "exception") for kill in row.kills)


def _joined(folder: Path, turn: str, name: str) -> str:
    """The function with its helpers, wherever they lie, as one module."""
    home = next(path.parent for path in folder.glob("*/registry.py"))
    parts = home / f"{name}_parts.py"
    texts = [path.read_text() for path in (parts, home / f"{name}.py") if path.is_file()]
    return "\n".join(line for line in "\n".join(texts).splitlines() if not line.startswith(f"from {home.name}."))


def test_one_edit_repairs_neither_of_two_interacting_bugs(shelves: dict[str, Shelf]) -> None:
    """Both edits of a hard case are bugs by themselves, and together they do what neither does alone."""
    hard = [case for case in repairs(shelves, 0, COUNT) if case.kind.bugs == 2]
    assert hard
    for case in hard:
        assert len(case.edits) == 2
        shelf = shelves[case.layout.function]
        known = {f"{bug.before} -> {bug.after}" for bug in shelf.bugs}
        assert set(case.edits) <= known


def test_nothing_that_the_agent_sees_names_the_edit(made: Path, suite: Suite) -> None:
    for case in suite.cases:
        folder = made / "fixtures" / case.fixture
        files = {path.name for path in folder.rglob("*") if path.is_file()}
        assert "probe.py" not in files
        assert {"test_public.py", "service.py", "batch.py", "registry.py", "README.md"} <= files
        for path in folder.rglob("*.py"):
            ast.parse(path.read_text())
        modules = [path for path in folder.glob("*/*.py") if path.parent.name != "tests"]
        assert len(modules) >= 6


def test_equal_seeds_give_equal_cases_and_all_are_different(shelves: dict[str, Shelf]) -> None:
    first, again, other = (list(repairs(shelves, seed, COUNT)) for seed in (0, 0, "other"))
    assert first == again
    texts = [json.dumps(case.fixture) for case in (*first, *other)]
    assert len(set(texts)) == 2 * COUNT


@pytest.mark.parametrize("name", slow.solutions())
def test_a_slow_solution_is_right(name: str) -> None:
    """On all small instances; that it is slow is what the validation of every slow case runs."""
    family = FAMILIES[name]
    known = slow.solutions()[name]
    names: dict[str, Any] = {}
    exec(known.function + known.stress, names)
    tests = [(i, truth.answer) for i in family.small() if (truth := family.oracle(i)).status == "unique"]
    assert all(names[name](**json.loads(json.dumps(i))) == answer for i, answer in tests)
    calls = names[f"{name}_stress"]()
    family.validate({**json.loads(json.dumps(calls[0]))})


def test_every_family_has_a_slow_solution() -> None:
    assert set(slow.solutions()) == set(FAMILIES)


def test_a_case_that_is_not_what_it_must_be_is_found(shelves: dict[str, Shelf], tmp_path: Path) -> None:
    workshop = yard.track(yard.build(tmp_path), "mend/sum").workshop
    case = next(repairs(shelves, 0, 1))
    for wrong in (replace(case, fixture=case.fixture | case.gold), replace(case, gold={})):
        with pytest.raises(Finding, match="case 0000-easy: untouched it ends with"):
            asyncio.run(validate([wrong], workshop))


@pytest.mark.slow
def test_cases_of_all_families_pass_and_fail_as_they_must(
    tmp_path_factory: pytest.TempPathFactory, standard: Standard, box: Any
) -> None:
    home = tmp_path_factory.mktemp("all")
    run = workbench.audited_run(home / "run", standard, FAMILIES)
    made = _made(run, home / "made", standard, FAMILIES, 40)
    for behaviour, outcome in (("gold", "passed"), ("lazy", "failed"), ("cheating", "failed")):
        track = yard.track(made / "cases", "*")
        model = ScriptedAgent(id=behaviour, behaviour=behaviour)
        _, verdicts = yard.run(track, home / behaviour, model, box)
        assert Counter(verdict.outcome for verdict in verdicts) == {outcome: 40}
