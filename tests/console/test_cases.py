"""Reviews and agents: every sample is listed, those that broke before they were judged too, and shown as it lies there."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from proceval.console import cases, places
from proceval.errors import InputError


def test_samples_of_both_tracks_are_found_with_their_arms_and_numbers(tracks: Path) -> None:
    place = places.find(tracks)[0]
    review, agent = (cases.cases(place, track) for track in ("review", "agent"))  # type: ignore[arg-type]
    assert [(c.arm, c.name, c.sample, c.outcome) for c in review] == [
        ("treatment", "01-names", 0, "passed"),
        ("treatment", "01-names", 1, "passed"),
    ]
    assert [(c.arm, c.name, c.sample, c.outcome) for c in agent] == [
        ("default", "fix/failing-test", 0, "passed"),
        ("default", "fix/failing-test", 1, "passed"),
        ("default", "git/merge", 0, "sandbox_fault"),
    ]


def test_what_a_sample_left_is_read(tracks: Path) -> None:
    place = places.find(tracks)[0]
    review, agent = (cases.cases(place, track)[0] for track in ("review", "agent"))  # type: ignore[arg-type]
    assert cases.rows(review, "grades")[0]["votes"] == "[true]"
    assert cases.votes(review) == [
        {"judge": "strict", "id": "flags-name", "passed": True, "evidence": "`x` is unclear"},
    ]
    asked = cases.task(review)
    assert asked is not None
    assert asked["prompt"] == "Review this."
    turns = cases.transcript(agent)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool"]
    assert turns[1].calls == (("shell", "command: ls\npwd"),)
    assert turns[1].facts == "completion_tokens 7"
    assert cases.text(agent, "absent.txt") is None


def test_broken_files_of_a_case_are_named(tracks: Path) -> None:
    place = places.find(tracks)[0]
    agent = cases.cases(place, "agent")[0]
    (agent.folder / "transcript.jsonl").write_text('{"content": "no role"}\n')
    with pytest.raises(InputError, match=r"transcript\.jsonl, line 1"):
        cases.transcript(agent)
    (agent.folder / "checks.json").write_text("[]")
    with pytest.raises(InputError, match=r"checks\.json: not the sheet"):
        cases.cases(place, "agent")
    (agent.folder / "checks.json").write_text("{")
    with pytest.raises(InputError, match=r"checks\.json: cannot be read"):
        cases.cases(place, "agent")


@pytest.mark.parametrize("name", ["../../../secret", "/etc", "..", "link"])
def test_a_verdict_cannot_point_out_of_its_run(name: str, tracks: Path, tmp_path: Path) -> None:
    place = places.find(tracks)[0]
    case = cases.cases(place, "agent")[-1]
    verdicts = case.home / "verdicts.jsonl"
    line = next(line for line in verdicts.read_text().splitlines() if json.loads(line)["mode"] == "agent")
    (case.home / case.arm / "link").symlink_to(tmp_path, target_is_directory=True)
    verdicts.write_text(json.dumps({**json.loads(line), "family": name}) + "\n")
    with pytest.raises(InputError, match="leads out of the run"):
        cases.cases(place, "agent")


def test_a_link_is_not_read(tracks: Path, tmp_path: Path) -> None:
    case = cases.cases(places.find(tracks)[0], "agent")[0]
    (tmp_path / "secret").write_text("secret")
    (case.folder / "linked.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="is a link"):
        cases.text(case, "linked.txt")
    sheet = case.folder / "checks.json"
    sheet.rename(tmp_path / "checks.json")
    sheet.symlink_to(tmp_path / "checks.json")
    with pytest.raises(InputError, match="is a link"):
        cases.cases(places.find(tracks)[0], "agent")


def test_a_sheet_of_odd_shape_shows_nothing_instead_of_breaking(tracks: Path) -> None:
    place = places.find(tracks)[0]
    review = cases.cases(place, "review")[0]
    sheet = json.loads((review.folder / "grades.json").read_text())
    (review.folder / "grades.json").write_text(json.dumps({**sheet, "grades": "none", "judges": [1, {"votes": [2]}]}))
    again = cases.cases(place, "review")[0]
    assert cases.rows(again, "grades") == []
    assert cases.votes(again) == []


def test_the_pages_show_transcripts_grades_checks_and_changes(opened: Callable[[Path], None], tracks: Path) -> None:
    pytest.importorskip("streamlit", reason="the extra ui is not installed")
    from tests.console.test_tabs import codes, said, visit  # which skips where streamlit is missing

    opened(tracks)
    trial = visit("review")
    assert "<script>alert(1)</script>" in codes(trial)
    assert "<script" not in said(trial)
    assert "must flag" in said(trial)
    assert "quoted twice" in said(trial)
    assert "x = 1" in codes(trial)
    trial = visit("agent")
    for words in ("return a + b", "command: ls", "Fix the test.", "git init", "OK"):
        assert words in codes(trial), words
    trial.multiselect(key="agent_outcome").select("sandbox_fault").run()
    assert "no workspace could be had" in codes(trial)
    assert "Nothing was checked" in said(trial)
    assert not trial.exception
