"""summary.json: what it says, that it says null where nothing is known, and that no record can break it."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from proceval.errors import InputError
from proceval.report import score_sheets, sheets, summary
from proceval.report.run import READ, Run
from proceval.schema import Verdict
from tests.report import builder

ABOUT: dict[str, Any] = {"exit_status": 3, "versions": {"proceval": "0.1.0"}, "git_commit": "ab" * 20}


def test_the_whole_summary(run_folder: Path, golden: Callable[[str, str], None]) -> None:
    found = summary.write(run_folder, **ABOUT, ks=[1, 3, 5])
    text = (run_folder / "summary.json").read_text()
    assert json.loads(text) == found
    assert not list(run_folder.glob(".*"))
    golden("summary.json", text)


def test_scores_are_exact_means_over_problems(run_folder: Path) -> None:
    (large, mock) = summary.summarise(Run(run_folder), ks=[1, 3, 5])["scores"]["contestants"]
    assert (large["name"], mock["name"]) == ("lab/large:1b", "mock")
    expected = {1: Fraction(3 + 1 + 1, 12), 3: (1 + Fraction(3, 4) + Fraction(3, 4)) / 3}
    for k, value in expected.items():
        found = {"value": float(value), "exact": str(value), "problems": 3, "of": 3, "accuracy": float(expected[1])}
        assert mock["overall"]["pass_at_k"][str(k)] == found
    nothing = {"value": None, "exact": None, "problems": 0, "of": 3, "accuracy": None}
    assert mock["overall"]["pass_at_k"]["5"] == nothing
    assert mock["overall"]["pass_hat_k"]["3"]["exact"] == str(Fraction(1, 4) / 3)


def test_a_pass_at_k_of_fewer_problems_says_so_beside_its_pass_at_1(run_folder: Path) -> None:
    """Each column over its own problems may fall as k grows: two of the three have three scored samples alone."""
    found = summary.summarise(Run(run_folder), ks=[1, 3, 4])
    overall = found["scores"]["contestants"][0]["overall"]
    assert overall["pass_at_k"]["3"]["problems"] == overall["pass_at_k"]["3"]["of"] == 3
    assert overall["pass_at_k"]["4"] == {"value": 1.0, "exact": "1", "problems": 1, "of": 3, "accuracy": 1.0}
    sheet = score_sheets.evaluation({"problems": None, **found})[0]
    assert sheet.rows[0][3:5] == ("100.0%", "100.0% (1/3)")
    told = "lab/large:1b: pass@4 is of 1 problem with 4 scored samples, not of all 3; pass@1 of the same is 100.0%"
    assert [warning for warning in sheet.warnings if "pass@" in warning] == [told]


def test_unscored_samples_are_in_no_denominator_and_bound_the_score(run_folder: Path) -> None:
    overall = summary.summarise(Run(run_folder), ks=[1])["scores"]["contestants"][0]["overall"]
    assert (overall["samples"], overall["scored"]) == (12, 10)
    assert overall["unscored"] == {"provider_fault": 1, "sandbox_fault": 1}
    assert overall["accuracy"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert overall["bounds"] == pytest.approx([(4 + 2 + 2) / 12, (4 + 3 + 3) / 12])


def test_unknown_cost_is_not_zero(run_folder: Path) -> None:
    (large, mock) = summary.summarise(Run(run_folder), ks=[1])["scores"]["contestants"]
    assert mock["overall"]["cost_usd"] == {"total": None, "known": None, "unknown": 12, "median": None, "max": None}
    assert large["overall"]["cost_usd"]["total"] is None
    assert large["overall"]["cost_usd"]["known"] == pytest.approx(0.011)
    assert large["overall"]["cost_usd"]["unknown"] == 1
    assert mock["overall"]["prompt_tokens"]["total"] == 1200


def test_one_prompt_has_no_interval(run_folder: Path) -> None:
    mock = summary.summarise(Run(run_folder), ks=[1])["scores"]["contestants"][1]
    assert mock["by_tier"]["hard"]["interval"] is None  # one problem, one prompt
    low, high = mock["overall"]["interval"]
    assert 0 <= low <= mock["overall"]["accuracy"] <= high <= 1


@pytest.mark.parametrize("absent", [*READ, "everything"])
def test_whatever_is_missing_is_said_and_null(tmp_path: Path, absent: str) -> None:
    gone = list(READ) if absent == "everything" else [absent]
    run = builder.build(tmp_path, without=gone)
    found = summary.write(run, exit_status=None, versions={}, git_commit=None, ks=[1])
    assert set(gone) == set(found["missing"])
    sections = {
        "generation.json": "generation",
        "dataset.jsonl": "problems",
        "certificates/index.jsonl": "proofs",
        "rejections.jsonl": "rejected",
        "audit.jsonl": "audit",
        "records.jsonl": "responses",
        "verdicts.jsonl": "scores",
    }
    for file, section in sections.items():
        assert (found[section] is None) == (file in gone), section


def test_an_empty_run_is_all_zero_and_null(tmp_path: Path) -> None:
    for name in builder.FILES:
        builder.write_lines(tmp_path / name, [])
    found = summary.summarise(Run(tmp_path), ks=[1])
    assert found["problems"]["total"] == 0
    assert found["problems"]["tests_per_problem"] == {"median": None, "max": None}
    assert found["audit"]["score"] is None
    assert found["scores"] is None


def test_answers_without_a_verdict_are_counted(tmp_path: Path) -> None:
    run = builder.build(tmp_path)
    kept = [v for v in builder.verdicts() if v.model == "mock"]
    builder.write_lines(run / "verdicts.jsonl", kept)
    assert summary.summarise(Run(run), ks=[1])["responses"] == {
        "total": 23, "samples": 23, "unjudged_samples": 11, "lost_samples": 0,
    }  # fmt: skip


def test_records_that_are_cut_short_or_gone_are_counted_and_named(run_folder: Path) -> None:
    """A report of half a records.jsonl says so in its first lines; garbage is counted, the first line named."""
    path = run_folder / "records.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]) + lines[5][:40])
    found = summary.write(run_folder, **ABOUT, ks=[1])
    assert found["torn"] == {"records.jsonl": 6}
    assert found["responses"]["lost_samples"] > 0
    head = "\n".join(sheets.heading(found))
    assert "records.jsonl: 1 line cannot be read, line 6" in head
    assert f"no answer for {found['responses']['lost_samples']} of the samples" in head
    path.write_bytes(lines[0] + b"garbage\n" + lines[1] + b"{more\n" + lines[2])
    with pytest.raises(
        InputError, match=r"records\.jsonl, line 2: not JSON.*of 5 lines 2 cannot be read, this one first"
    ):
        summary.write(run_folder, **ABOUT, ks=[1])


def test_a_verdict_that_was_made_again_replaces_the_earlier_one(run_folder: Path) -> None:
    again = [v.model_copy(update={"outcome": "passed", "fault": "none"}) for v in builder.verdicts()]
    with (run_folder / "verdicts.jsonl").open("a") as file:
        file.write("".join(json.dumps(v.model_dump()) + "\n" for v in again))
    for contestant in summary.summarise(Run(run_folder), ks=[1])["scores"]["contestants"]:
        assert (contestant["overall"]["samples"], contestant["overall"]["accuracy"]) == (12, 1.0)


def test_contestants_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    first = builder.verdicts()[0]
    variants: list[Verdict] = [
        first,
        first.model_copy(update={"strategy": "best_of_n"}),
        first.model_copy(update={"strategy": "best_of_n", "base_url": "http://127.0.0.1:1"}),
    ]
    builder.write_lines(tmp_path / "verdicts.jsonl", variants)
    names = [c["name"] for c in summary.summarise(Run(tmp_path), ks=[1])["scores"]["contestants"]]
    assert sorted(names) == ["mock, best_of_n, default", "mock, best_of_n, http://127.0.0.1:1", "mock, flat, default"]


def test_withheld_problems_are_counted_and_their_family_is_known_by_the_template(run_folder: Path) -> None:
    audit = summary.summarise(Run(run_folder), ks=[1])["audit"]
    assert (audit["problems"], audit["accepted"], audit["withheld"], audit["faults"]) == (5, 3, 2, 1)
    assert audit["score"] == pytest.approx(10 / 11)  # equivalent, duplicate and broken mutants are in no denominator
    assert audit["by_family"]["dag_reachability"]["by_fate"] == {"broken": 1, "killed": 3, "survived": 1, "timeout": 1}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[1, 2]\n", r"verdicts\.jsonl, line 25: not a Verdict"),
        ('{"model": "mo\n', r"verdicts\.jsonl, line 25: not JSON"),
        ('{"model": 5}\n', r"line 25: not a Verdict: model"),
        ("\xff\n", r"line 25: not JSON"),
    ],
)
def test_a_line_that_is_no_record_is_named_and_nothing_is_written(run_folder: Path, line: str, complaint: str) -> None:
    with (run_folder / "verdicts.jsonl").open("ab") as file:
        file.write(line.encode("latin-1"))
    with pytest.raises(InputError, match=complaint):
        summary.write(run_folder, **ABOUT, ks=[1])
    assert not (run_folder / "summary.json").exists()
