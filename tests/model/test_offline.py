"""The offline models: the mock repeats itself, fails in every class, and gold is always right."""

import ast
import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proceval.errors import InputError
from proceval.model.gold import Gold
from proceval.model.mock import Mock
from proceval.model.slips import slips
from proceval.protocols import Request
from proceval.schema import Message
from sandbox.process import Process
from tests.arena import evaluate, problem, solve

REFERENCE = problem(0).reference


def ask(model: Any, number: int, sample: int, mode: str = "code", tier: str = "easy") -> str:
    case = problem(number, difficulty=tier)
    request = Request((Message(role="user", content="?"),), case.id, sample, 0, case, mode)
    found = asyncio.run(model.complete(request))
    return f"{found.finish_reason}: {found.text}"


def test_the_mock_says_the_same_in_any_order_and_differs_between_samples() -> None:
    mock = Mock(id="mock", skill={"easy": 0.5}, latency_s=0.0)
    asked = [(n, s) for n in range(8) for s in range(4)]
    forth = {key: ask(mock, *key) for key in asked}
    back = {key: ask(mock, *key) for key in reversed(asked)}
    assert forth == back
    assert len(set(forth.values())) > 8


def test_the_mocks_skill_is_what_its_configuration_says() -> None:
    mock = Mock(id="mock", skill={"easy": 0.8, "hard": 0.2}, latency_s=0.0)
    for tier, skill in (("easy", 0.8), ("hard", 0.2)):
        right = sum(REFERENCE in ask(mock, n, 0, tier=tier) for n in range(300))
        assert abs(right / 300 - skill) < 0.1
    with pytest.raises(InputError, match=r"model\.skill\.extreme"):
        ask(mock, 0, 0, tier="extreme")


@pytest.mark.parametrize(
    ("mode", "classes"),
    [
        (
            "code",
            {"passed", "wrong_answer", "runtime_error", "timeout", "resource_limit", "no_code", "refused", "truncated"},
        ),
        ("answer", {"passed", "wrong_answer", "unreadable", "refused", "truncated"}),
    ],
)
def test_every_class_of_failure_appears_in_a_run(box: Process, tmp_path: Path, mode: Any, classes: set[str]) -> None:
    mock = Mock(id="mock", skill={"easy": 0.3}, latency_s=0.0)
    track = solve(mode)
    problems = [problem(n) for n in range(9)]
    report = evaluate(problems, tmp_path, model=mock, track=track, scorer=track.scorer(box), samples=4)
    assert set(report.outcomes) == classes
    assert report.exit_status == 0


@pytest.mark.parametrize("mode", ["code", "answer"])
def test_gold_is_always_right(box: Process, tmp_path: Path, mode: Any) -> None:
    track = solve(mode)
    problems = [problem(n) for n in range(10)]
    report = evaluate(problems, tmp_path, model=Gold(id="gold"), track=track, scorer=track.scorer(box), samples=2)
    assert Counter(report.outcomes) == {"passed": 20}


def test_slips_are_single_edits_that_parse() -> None:
    found = slips(REFERENCE)
    assert len(found) == len(set(found)) >= 3
    whole = ast.unparse(ast.parse(REFERENCE)).split("\n")
    for text in found:
        changed = [pair for pair in zip(whole, text.split("\n"), strict=True) if pair[0] != pair[1]]
        assert len(changed) == 1
    assert slips("not python at all") == []
