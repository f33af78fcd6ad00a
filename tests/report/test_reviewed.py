"""What a report says of reviews, from hand-made verdicts whose figures were counted by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proceval.report import markdown, summary, tables
from proceval.report.run import Run
from proceval.schema import Grade, Verdict

KINDS = {"bug": "must_flag", "taste": "must_not_flag", "looks": "engagement"}


def _verdict(case: str, arm: str, sample: int, marks: str, **changes: Any) -> Verdict:
    """`marks`: one sign for bug, taste and looks; + passed, - failed, ? undecided."""
    grades = tuple(
        Grade(
            id=id,
            kind=kind,
            passed={"+": True, "-": False, "?": None}[mark],
            weight=1.0,
            evidence=f"words about {id} | of {case}",
            votes={"+": (True, True, True), "-": (False, True, False), "?": (True, False)}[mark],
        )
        for (id, kind), mark in zip(KINDS.items(), marks, strict=True)
    )
    passed = marks == "+++"
    values: dict[str, Any] = {
        "model": "lab/reviewer", "base_url": None, "arm": arm, "strategy": "flat", "mode": "review",
        "problem_id": f"id-{case}", "family": case, "domain": "suite", "difficulty": "given",
        "prompt_sha256": f"{arm}-{case}", "sample": sample, "outcome": "passed" if passed else "failed",
        "fault": "none" if passed else "model", "tests": (), "extraction": "review", "turns": 1, "prompt_tokens": 10,
        "completion_tokens": 5, "cost_usd": 0.01, "latency_s": 1.0, "detail": "", "grades": grades,
    }  # fmt: skip
    return Verdict.model_validate(values | changes)


def _none(case: str, arm: str, sample: int, outcome: str, fault: str, extraction: str = "not_read") -> Verdict:
    return _verdict(case, arm, sample, "+++", outcome=outcome, fault=fault, extraction=extraction, grades=())


VERDICTS = [
    _verdict("alpha", "baseline", 0, "+-+"),
    _verdict("alpha", "baseline", 1, "--+"),
    _verdict("beta", "baseline", 0, "-++"),
    _none("beta", "baseline", 1, "case_fault", "case", "leak"),
    _verdict("alpha", "treatment", 0, "+++"),
    _verdict("alpha", "treatment", 1, "+-+"),
    _verdict("beta", "treatment", 0, "+?+", outcome="rewrote", fault="model"),
    _none("beta", "treatment", 1, "judge_fault", "judge"),
]


@pytest.fixture
def reviewed(tmp_path: Path) -> Path:
    """A run of two cases in two arms, two samples each, with one judge tested on one of its rubrics."""
    (tmp_path / "verdicts.jsonl").write_text("".join(v.model_dump_json() + "\n" for v in VERDICTS))
    (tmp_path / ".selftests").mkdir()
    (tmp_path / ".selftests" / "aa.json").write_text("{}\n")
    judge = {"name": "first", "id": "lab/judge", "rubrics": {"alpha": "aa", "beta": "bb"}}
    (tmp_path / "judges.json").write_text(
        json.dumps(
            {
                "stamps": ".selftests",
                "judges": [judge, {**judge, "id": "lab/other", "rubrics": {"alpha": "aa", "beta": "aa"}}],
            }
        )
    )
    return tmp_path


def _found(folder: Path) -> dict[str, Any]:
    return {"exit_status": 3, "git_commit": None, "versions": {}, "setup": None, **summary.summarise(Run(folder), [1])}


def test_the_figures_are_those_counted_by_hand(reviewed: Path) -> None:
    found = _found(reviewed)["review"]
    (contestant,) = found["contestants"]
    flags = contestant["uplift"]["must_flag"]
    assert (flags["pairs"], flags["cases"], flags["baseline"], flags["treatment"]) == (3, 2, 1 / 3, 1.0)
    left = contestant["uplift"]["must_not_flag"]
    assert (left["pairs"], left["baseline"], left["treatment"], left["interval"]) == (2, 0.0, 0.5, None)
    assert contestant["uplift"]["all"]["pairs"] == 8
    assert contestant["arms"]["treatment"]["rewrote"] == 1
    assert contestant["arms"]["treatment"]["judge_faults"] == 1
    assert contestant["arms"]["baseline"]["leaks"] == 1
    mute = [(one["case"], one["id"]) for one in contestant["criteria"] if one["no_signal"]]
    assert mute == [("alpha", "looks"), ("beta", "taste"), ("beta", "looks")]
    assert found["judges"]["untested"] == {"lab/judge": ["beta"]}
    assert found["finding"] is None


def test_what_a_person_sees(reviewed: Path, golden: Callable[[str, str], None]) -> None:
    from rich.console import Console

    console = Console(width=80)
    with console.capture() as captured:
        console.print(tables.render(_found(reviewed)))
    golden("terminal_review.txt", "".join(line.rstrip() + "\n" for line in captured.get().splitlines()))
    golden("report_review.md", markdown.text(_found(reviewed), []))


def test_a_run_without_reviews_says_nothing_about_them(tmp_path: Path) -> None:
    assert summary.summarise(Run(tmp_path), [1])["review"] is None
