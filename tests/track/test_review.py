"""The review track from end to end, offline: arms, leaks, canary, no-rewrite, grades, self-test and what a report says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from proceval import config
from proceval.errors import Finding, InputError, ProviderError
from proceval.model.scripted_reviewer import ScriptedReviewer
from proceval.protocols import Request
from proceval.report import summary, tables
from proceval.report.run import Run
from proceval.schema import CaseFile, ToolCall, Verdict
from proceval.track import review_leaks
from proceval.track.review_reading import call
from tests.track.reviewing import SKILL, run, suite

NAME = "plain-sight-review"


def _verdicts(folder: Path) -> list[Verdict]:
    return [Verdict.model_validate_json(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]


def _shown(folder: Path) -> str:
    from rich.console import Console

    console = Console(width=200)
    with console.capture() as captured:
        console.print(
            tables.render({"missing": {}, "versions": {}, "git_commit": None, **summary.summarise(Run(folder), [1])})
        )
    return captured.get()


@pytest.fixture
def small(tmp_path: Path) -> str:
    return f"suite.dir={suite(tmp_path / 'suite')}"


@pytest.fixture(scope="module")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The own suite, both arms, two samples, evaluated once."""
    status, folder = run(tmp_path_factory.mktemp("lean"), "samples=2")
    assert status == 0
    return folder


def test_both_arms_run_on_the_same_cells_and_leave_their_files(lean: Path) -> None:
    verdicts = _verdicts(lean)
    cells = {arm: {(v.problem_id, v.sample) for v in verdicts if v.arm == arm} for arm in ("baseline", "treatment")}
    assert cells["baseline"] == cells["treatment"]
    assert len(verdicts) == 20
    for verdict in verdicts:
        folder = lean / verdict.arm / verdict.family
        folder = folder / "sample-2" if verdict.sample else folder
        grades = json.loads((folder / "grades.json").read_text())
        transcript = (folder / "transcript.md").read_text()
        assert [g["id"] for g in grades["grades"]] == [g.id for g in verdict.grades]
        assert grades["outcome"] == verdict.outcome
        assert (folder / "no-rewrite.txt").read_text().startswith("untouched")
        for grade in grades["judges"][0]["votes"]:
            assert grade["evidence"] == "ABSENT" or grade["evidence"] in " ".join(transcript.split())
    assert {v.domain for v in verdicts} == {"lean"}


def test_the_skill_is_in_every_prompt_of_the_treatment_and_in_none_of_the_baseline(tmp_path: Path, small: str) -> None:
    run(tmp_path, small)
    (records,) = tmp_path.glob("*/records.jsonl")
    for line in records.read_text().splitlines():
        response = json.loads(line)
        if response["strategy"] == "flat":
            assert (NAME in json.dumps(response["messages"])) == (response["arm"] == "treatment")


def test_the_same_command_asks_nobody_twice_and_rescoring_asks_nobody(tmp_path: Path, small: str) -> None:
    _, folder = run(tmp_path, small)
    before, records = (folder / "verdicts.jsonl").read_bytes(), (folder / "records.jsonl").read_bytes()

    class Mute(ScriptedReviewer):
        async def complete(self, request: Request) -> Any:
            raise AssertionError("a recorded answer was asked for again")

    settings = config.compose("model=scripted_reviewer")["model"]
    mute = Mute(**{key: value for key, value in settings.items() if key != "_target_"})
    assert run(tmp_path, small, model=mute)[0] == 0
    assert run(tmp_path, small, "rescore=true", model=mute)[0] == 0
    assert (folder / "records.jsonl").read_bytes() == records
    assert (folder / "verdicts.jsonl").read_bytes() == before


@pytest.mark.parametrize("files", ["prompt", "tools", "workspace"])
def test_reviewers_see_the_files_in_each_of_three_ways(files: str, tmp_path: Path, small: str) -> None:
    status, folder = run(tmp_path, small, f"track.files={files}", "model.skill={baseline: 1.0, treatment: 1.0}")
    assert status == 0
    assert {v.outcome for v in _verdicts(folder)} == {"passed"}
    text = (folder / "records.jsonl").read_text()
    assert ("items[len(items)]" in text) == (files != "workspace")
    assert ((folder / "workspaces").is_dir()) == (files == "workspace")


def test_a_rewrite_fails_the_case_and_the_exit_status_and_is_named(tmp_path: Path, small: str) -> None:
    status, folder = run(tmp_path, small, "track.files=workspace", "model.manner=rewriting")
    assert status == 1
    for verdict in _verdicts(folder):
        assert (verdict.outcome, verdict.fault) == ("rewrote", "model")
        assert "rewritten: first.py" in verdict.detail
        assert (folder / verdict.arm / "one" / "no-rewrite.txt").read_text() == "REWROTE\nrewritten: first.py\n"
    assert "REWROTE" in _shown(folder)
    assert run(tmp_path, small, "track.files=workspace", "model.manner=rewriting", "rescore=true")[0] == 1


def test_a_model_that_works_in_no_folder_is_refused_a_workspace(tmp_path: Path, small: str) -> None:
    class Talker(ScriptedReviewer):
        async def complete(self, request: Request) -> Any:
            done = await super().complete(request)
            return done.model_copy(update={"workspace_sha256": None})

    talker = Talker(id="talker", skill={"baseline": 1.0, "treatment": 1.0}, manner="plain", says=None)
    with pytest.raises(InputError, match="track.files=prompt"):
        run(tmp_path, small, "track.files=workspace", model=talker)


@pytest.mark.parametrize("files", ["prompt", "workspace"])
def test_a_treatment_arm_that_does_not_see_the_skill_stops_the_run(files: str, tmp_path: Path, small: str) -> None:
    with pytest.raises(Finding, match=f"canary.*{NAME}"):
        run(tmp_path, small, f"track.files={files}", "model.manner=blind")
    assert run(tmp_path, small, f"track.files={files}", "model.manner=blind", "track.canary=false")[0] == 0
    assert run(tmp_path, small, f"track.files={files}", "model.manner=blind", "track.arms=[baseline]")[0] == 0


def test_a_baseline_transcript_that_names_the_skill_is_a_leak_and_no_score(tmp_path: Path, small: str) -> None:
    status, folder = run(tmp_path, small, "model.says='By the Plain Sight Review, I say:'")
    assert status == 3
    leaked, fine = sorted(_verdicts(folder), key=lambda v: v.arm)
    assert (leaked.outcome, leaked.scored, fine.scored) == ("case_fault", False, True)
    assert "LEAKED" in _shown(folder)


def test_a_skill_in_a_home_or_in_the_files_stops_the_run_before_anybody_is_asked(
    tmp_path: Path, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "home" / ".claude" / "plugins" / "cache" / "x" / "1" / "skills" / "other" / "SKILL.md"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(SKILL)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    homes = "track.homes=['~/.claude/skills','~/.claude/plugins']"
    with pytest.raises(Finding, match="leaks into the baseline.*plugins"):
        run(tmp_path, small, homes)
    assert run(tmp_path, small, homes, "track.arms=[treatment]")[0] == 0
    naming = suite(tmp_path / "naming", one={"input/notes.txt": f"as {NAME} says\n"})
    with pytest.raises(Finding, match=r"input/notes.txt names the skill"):
        run(tmp_path, f"suite.dir={naming}")


def test_default_homes_know_the_common_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = config.compose("track=review")["track"]["homes"]
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (".claude/skills/a/SKILL.md", ".codex/skills/b/SKILL.md", ".agents/skills/c/SKILL.md"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(SKILL)
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"enabledPlugins": {f"{NAME}@here": True}}))
    assert len(review_leaks.in_homes(NAME, homes)) == 4
    assert review_leaks.in_homes("some-other-skill", homes) == []


SAYINGS = [
    "{0}-{1}-{2}", "{0}-{1}-\n{2}", "**{0}**-{1}-{2}", "`{0}`-`{1}` {2}", "{0}\u2011{1}\u2011{2}", "{0}\u2013{1}\u2013{2}",
    "{0}\u00a0{1}\u00a0{2}", "{0}\u200b-{1}\u00ad-{2}", "{0}_{1}.{2}", "{0}{1}{2}",
]  # fmt: skip


@pytest.mark.parametrize("saying", SAYINGS)
def test_a_name_is_noticed_however_it_is_set(saying: str) -> None:
    for words in (["tidy", "proof", "reader"], ["Tidy", "Proof", "Reader"]):
        assert review_leaks.named("tidy-proof-reader", f"I used {saying.format(*words)}, as told.")


@pytest.mark.parametrize("text", ["Keep it tidy. Proof reader, beware!", "untidy-proof-reader", "tidy-proof-readers2"])
def test_other_words_are_no_name(text: str) -> None:
    assert not review_leaks.named("tidy-proof-reader", text)


MANUAL = (
    "---\nname: tidy-proof-reader\n---\n" + "Flag every lemma that nobody uses, and say which import is in vain.\n" * 2
)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a/SKILL.md", MANUAL.replace("\n", "\r\n")),
        ("a/skill.md", MANUAL.replace("reader\n", "reader # the second\n")),
        ("a/SKILL.md", MANUAL.replace("tidy-proof-reader", "Tidy-Proof-Reader")),
        ("a/SKILL.md", MANUAL.replace("name: tidy-proof-reader", 'name:   "tidy-proof-reader"')),
        ("a/SKILL.md", MANUAL.replace("---\nname", "---\ndescription: a: b\nname")),
        ("a/SKILL.md", "---\nname: tidy-proof-reader\ndate: 2024-99-99\n---\n"),
        ("agents/another.md", MANUAL.replace("\n", "\r\n")),
        ("a/SKILL.md", MANUAL.replace("tidy-proof-reader", "other")),
        ("CLAUDE.md", "# Of my own\n\n" + "Words.\n" * 200 + MANUAL.partition("---\n")[2].partition("---\n")[2]),
        ("1/2/3/4/5/6/7/SKILL.md", MANUAL),
    ],
)
def test_a_copy_is_noticed_in_other_clothes(path: str, content: str, tmp_path: Path) -> None:
    copy = tmp_path / path
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(content.encode())
    licence = "Anybody may do with this whatever they like, as long as they leave these words in it."
    (copy.parent / "LICENSE.txt").write_text(licence)
    files = {"SKILL.md": MANUAL, "LICENSE": licence}
    assert len(review_leaks.in_homes("tidy-proof-reader", [str(tmp_path)], files)) == 1
    copy.write_text("---\nname: other\n---\nNothing.\n")
    assert review_leaks.in_homes("tidy-proof-reader", [str(tmp_path)], files) == []


@pytest.mark.parametrize(
    ("bound", "most", "words"), [("_DEPTH", 1, r"in .*/a: more than 1 f"), ("_ENTRIES", 2, "2 entr")]
)
def test_a_search_that_is_cut_short_says_where(
    bound: str, most: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "b" / "loop").symlink_to(tmp_path)
    assert review_leaks.in_homes("tidy-proof-reader", [str(tmp_path)]) == []
    monkeypatch.setattr(review_leaks, bound, most)
    with pytest.raises(Finding, match=words):
        review_leaks.in_homes("tidy-proof-reader", [str(tmp_path)])


@pytest.mark.parametrize(("manner", "status", "fault"), [("broken", 3, "judge"), ("stumbling", 0, None)])
def test_a_judge_outside_its_contract_is_a_fault_and_never_a_score(
    manner: str, status: int, fault: str | None, tmp_path: Path, small: str
) -> None:
    found, folder = run(tmp_path, small, f"track.judges.first.manner={manner}", "model.skill.baseline=1.0")
    assert found == status
    first = next(v for v in _verdicts(folder) if v.arm == "baseline")
    grades = json.loads((folder / "baseline" / "one" / "grades.json").read_text())
    assert first.scored == (fault is None)
    assert (first.score is None) == (fault is not None)
    assert len(grades["violations"]) == (3 if fault else 1)


def test_several_judges_vote_and_their_agreement_is_reported(tmp_path: Path, small: str) -> None:
    more = ["+model@track.judges.second=scripted_judge", "+model@track.judges.third=scripted_judge"]
    ways = ["track.judges.second.manner=lenient", "model.skill={baseline: 0.0, treatment: 1.0}"]
    status, folder = run(tmp_path, small, *more, *ways)
    assert status == 0
    by_arm = {v.arm: v for v in _verdicts(folder)}
    assert [g.votes for g in by_arm["baseline"].grades] == [(False, True, False)] * 3
    assert (by_arm["baseline"].outcome, by_arm["treatment"].outcome) == ("failed", "passed")
    found = summary.summarise(Run(folder), [1])["review"]
    assert found["judges"]["units"] == 6
    assert 0 < found["judges"]["alpha"] < 1
    assert "Krippendorff's alpha" in _shown(folder)


def test_whoever_says_nothing_passes_nothing_and_no_judge_is_asked(tmp_path: Path, small: str) -> None:
    status, folder = run(tmp_path, small, "model.manner=empty")
    assert status == 0
    for verdict in _verdicts(folder):
        assert (verdict.outcome, verdict.fault, verdict.score) == ("failed", "model", 0.0)
        assert [g.passed for g in verdict.grades] == [False, None, False]
    assert "judge:0" not in (folder / "records.jsonl").read_text()


@pytest.mark.slow
def test_a_refusal_is_the_reviewers_and_a_provider_fault_is_nobodys(tmp_path: Path, small: str) -> None:
    status, folder = run(tmp_path, small, "model.manner=refusing")
    assert status == 0
    assert {v.outcome for v in _verdicts(folder)} == {"refused"}

    class Down(ScriptedReviewer):
        async def complete(self, request: Request) -> Any:
            if hasattr(request.case, "criteria"):
                raise ProviderError("quota", "no more money")
            return await super().complete(request)

    down = Down(id="down", skill={"baseline": 1.0, "treatment": 1.0}, manner="plain", says=None)
    status, folder = run(tmp_path / "down", small, model=down)
    assert status == 3
    assert {v.outcome for v in _verdicts(folder)} == {"provider_fault"}


@pytest.mark.slow
def test_settings_that_cannot_work_are_named_before_anybody_is_asked(tmp_path: Path, small: str) -> None:
    for words, says in [
        (["strategy=best_of_n"], "strategy=flat"),
        (["track.arms=[baseline,baseline]"], "twice"),
        (["track.arms=[]"], "track.arms"),
        (["track.arms=[control]"], "track.arms"),
        (["~model@track.judges.first"], "track.judges"),
        (["track.judge_attempts=0"], "track.judge_attempts"),
        (["track.skill=/nowhere/at/all"], "/nowhere/at/all"),
    ]:
        with pytest.raises(InputError, match=re.escape(says)):
            run(tmp_path / "out", small, *words)
    bare = suite(tmp_path / "bare")
    (bare / "skill.md").unlink()
    with pytest.raises(InputError, match=r"track.arms=\[baseline\]"):
        run(tmp_path / "out", f"suite.dir={bare}")
    assert run(tmp_path / "out", f"suite.dir={bare}", "track.arms=[baseline]")[0] == 0


FILES = (
    CaseFile(path="src/a.py", executable=False, encoding="utf-8", content="one\ntwo\nthree\n"),
    CaseFile(path="logo.png", executable=False, encoding="base64", content="AAAA"),
)


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("list_files", "", "src/a.py\nlogo.png"),
        ("read_file", '{"path": "src/a.py"}', "    1  one\n    2  two\n    3  three"),
        ("read_file", '{"path": "./src/a.py", "first_line": 2, "last_line": 2}', "    2  two"),
        ("read_file", '{"path": "../../etc/passwd"}', "error: no file"),
        ("read_file", '{"path": "/etc/passwd"}', "error: no file"),
        ("read_file", '{"path": "logo.png"}', "error: logo.png is not text"),
        ("read_file", '{"path": "src/a.py", "first_line": 0}', "error: first_line"),
        ("read_file", '{"path": "src/a.py", "mode": "w"}', "error: unknown argument 'mode'"),
        ("read_file", '{"path"', "error: the arguments are not JSON"),
        ("read_file", "[]", "error: the arguments are not a JSON object"),
        ("write_file", '{"path": "src/a.py"}', "error: no tool 'write_file'"),
    ],
)
def test_tools_read_and_nothing_else_and_answer_malformed_calls(name: str, arguments: str, says: str) -> None:
    assert call(ToolCall(id="1", name=name, arguments=arguments), FILES).startswith(says)


# ------------------------------------------------------------------------------------------------ self-test and report


def test_the_self_test_is_two_sided_and_stamps_only_what_holds(
    tmp_path: Path, small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for manner, status, says in [
        ("exact", 0, ""),
        ("lenient", 1, "too permissive"),
        ("harsh", 1, "too strict"),
        ("broken", 3, "judge_fault"),
    ]:
        home = tmp_path / manner
        found, _ = run(home, small, f"track.judges.first.manner={manner}", stage="selftest")
        assert found == status
        assert says in capsys.readouterr().err
        assert len(list(home.glob(".selftests/*.json"))) == (1 if manner == "exact" else 0)


def test_the_offline_half_needs_no_model_and_comes_before_the_suite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="no such folder"):
        run(tmp_path, "suite.dir=/nowhere", stage="selftest")
    assert "offline trials hold (no model was asked)" in capsys.readouterr().err


def test_the_offline_half_comes_before_any_question_about_a_provider(
    tmp_path: Path, small: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        run(tmp_path, small, "model@track.judges.first=openai/gpt-4o", stage="selftest")
    assert "offline trials hold (no model was asked)" in capsys.readouterr().err


def test_a_suite_without_a_skill_is_tested_whatever_the_arms(tmp_path: Path, small: str) -> None:
    (Path(small.partition("=")[2]) / "skill.md").unlink()
    with pytest.raises(InputError, match="has no skill"):
        run(tmp_path, small)
    assert run(tmp_path, small, stage="selftest")[0] == 0


def test_a_report_says_untested_until_rubric_prompt_and_judge_are_those_of_a_self_test(
    tmp_path: Path, small: str
) -> None:
    _, folder = run(tmp_path, small)
    assert "UNTESTED JUDGE: scripted_judge, on one" in _shown(folder)
    run(tmp_path, small, stage="selftest")
    assert "UNTESTED JUDGE" not in _shown(folder)
    rubric = Path(small.partition("=")[2]) / "cases" / "one" / "rubric.md"
    rubric.write_text(rubric.read_text().replace("one item too many", "an item too many"))
    _, folder = run(tmp_path, small)
    assert "UNTESTED JUDGE" in _shown(folder)
    _, other = run(tmp_path, small, "track.judges.first.manner=stumbling")
    assert "UNTESTED JUDGE" in _shown(other)


def test_the_report_shows_false_alarms_first_then_paired_uplift_and_marks_what_has_no_signal(lean: Path) -> None:
    found = summary.summarise(Run(lean), [1])["review"]
    (contestant,) = found["contestants"]
    for kind in ("must_flag", "must_not_flag", "engagement", "all"):
        cell = contestant["uplift"][kind]
        assert cell["difference"] == pytest.approx(cell["treatment"] - cell["baseline"])
    assert contestant["uplift"]["all"]["pairs"] == 2 * 21
    low, high = contestant["uplift"]["all"]["interval"]
    assert low <= contestant["uplift"]["all"]["difference"] <= high
    for one in contestant["criteria"]:
        assert one["no_signal"] == (one["arms"]["baseline"]["failed"] == 0)
    text = _shown(lean)
    assert (
        0
        < text.index("false alarms of the treatment arm")
        < text.index("what the skill changes")
        < text.index("Evaluation")
    )
    assert "no dataset in this run" not in text


def test_pairs_are_formed_by_case_sample_and_criterion_and_never_with_an_unscored_partner(
    lean: Path, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in (lean / "verdicts.jsonl").read_text().splitlines()]
    dropped = next(v for v in lines if v["arm"] == "treatment" and v["family"] == "04-structure")
    dropped |= {"outcome": "provider_fault", "fault": "provider", "grades": [], "score": None}
    (tmp_path / "verdicts.jsonl").write_text("".join(json.dumps(v) + "\n" for v in reversed(lines)))
    found = summary.summarise(Run(tmp_path), [1])["review"]["contestants"][0]["uplift"]
    assert found["all"]["pairs"] == 2 * 21 - 5


@pytest.mark.slow
def test_the_command_line_runs_the_own_suite_and_says_how_to_test_the_judge(proceval: Any, tmp_path: Path) -> None:
    tested = proceval("stage=selftest", "track=review", "model=scripted_reviewer", "tracker=off")
    assert tested.returncode == 0, tested.stderr
    assert "42 of 42 judgements" in tested.stderr
    done = proceval("track=review", "model=scripted_reviewer", "tracker=off", "samples=1")
    assert done.returncode == 0, done.stderr
    assert "what the skill changes" in done.stdout
    assert "UNTESTED" not in done.stdout
    nothing = proceval("track=review", "model=scripted_reviewer", "cases=zz*")
    assert nothing.returncode == 2
    assert "matches none of" in nothing.stderr


REVIEWER = """
ls .claude/skills 2>/dev/null; echo
echo '`last` reads one item too many, in' src/*
echo; echo 'I have looked at both, `first` and the other.'
"""


@pytest.mark.parametrize(("more", "status", "outcome"), [("", 0, "passed"), ("echo >> first.py", 1, "rewrote")])
def test_an_external_command_reviews_in_a_throw_away_copy_with_the_skill_where_it_looks(
    more: str, status: int, outcome: str, tmp_path: Path, small: str
) -> None:
    script = tmp_path / "reviewer" / "review.sh"
    script.parent.mkdir()
    script.write_text(REVIEWER + more + "\n")
    words = ["model=command", f"model.argv=[bash,{script}]", f"model.programmes=[{script.parent}]"]
    found, folder = run(tmp_path, small, *words, "track.files=workspace")
    assert found == status
    assert {v.outcome for v in _verdicts(folder)} == {outcome}
    assert NAME in (folder / "treatment" / "one" / "transcript.md").read_text()
    assert NAME not in (folder / "baseline" / "one" / "transcript.md").read_text()


def test_a_command_can_judge_and_works_in_an_empty_folder(tmp_path: Path, small: str) -> None:
    script = tmp_path / "judge" / "judge.sh"
    script.parent.mkdir()
    rows = [
        {"id": name, "passed": name == "early-return", "evidence": "ABSENT"}
        for name in ("off-by-one", "early-return", "names-both")
    ]
    script.write_text(f"test -z \"$(ls -A)\" || exit 1\ncat > /dev/null\necho '{json.dumps(rows)}'\n")
    words = [
        "model@track.judges.first=command",
        f"track.judges.first.argv=[bash,{script}]",
        f"track.workspace.programmes=[{script.parent}]",
    ]
    status, folder = run(tmp_path, small, *words)
    assert status == 0
    assert [g.passed for g in _verdicts(folder)[0].grades] == [False, True, False]


@pytest.mark.slow
def test_a_case_can_be_looked_at_and_a_run_reported_again(
    tmp_path: Path, small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, folder = run(tmp_path, small)
    assert run(tmp_path, small, "id=one", stage="show")[0] == 0
    shown = capsys.readouterr().out
    assert "items[len(items)]" in shown
    assert '"id": "early-return"' in shown
    with pytest.raises(InputError, match="e.g. one of one"):
        run(tmp_path, small, "id=two", stage="show")
    assert run(tmp_path, small, stage="report")[0] == 0
    assert "UNTESTED JUDGE" in (folder / "report.md").read_text()


def test_answers_given_with_one_skill_are_not_taken_for_those_with_another(tmp_path: Path, small: str) -> None:
    for files in ("prompt", "workspace"):
        run(tmp_path / files, small, f"track.files={files}")
    skill = Path(small.partition("=")[2]) / "skill.md"
    skill.write_text(SKILL + "\nAnd at names.\n")
    _, folder = run(tmp_path / "prompt", small, "track.files=prompt")
    treated = [line for line in (folder / "records.jsonl").read_text().splitlines() if '"arm":"treatment"' in line]
    assert sum("And at names" in line for line in treated) >= 2
    with pytest.raises(InputError, match="fresh=true"):
        run(tmp_path / "workspace", small, "track.files=workspace")
