"""The agent track as a user runs it: what is printed, exit statuses, what a run folder holds."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from proceval.folder import RunFolder
from proceval.track import agent_suite
from tests.arena import quick
from tests.track import yard

QUIET = ("tracker=off", "figures=false")
TOLD = """\
FAIL mend/sum
  verify failed (exit 1, "FAILED (failures=1)"): python3 -P -m unittest discover -q -s tests -t .
  sums/core.py still has "- value"
  reply does not match /^mended: core$/
  sums.core.total: 1 of 2 calls right; call 1: another value
FAIL mend/two
  reply missing "two"
ERROR mend/broken: setup failed (exit 3): echo no such tool >&2; exit 3: no such tool
PASS mend/unchecked (unchecked)

1/4 passed
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return yard.build(tmp_path / "suite")


def test_a_run_prints_a_line_a_case_and_leaves_everything_behind(proceval: Any, suite: Path, tmp_path: Path) -> None:
    words = ("track=agent", "cases=[mend/sum,mend/two,mend/b*,mend/u*]", "track.cases_dir=suite/cases", *QUIET)
    run = proceval(*words, "model.behaviour=lazy")
    assert run.returncode == 3, run.stderr
    assert run.stdout.startswith(TOLD), run.stdout
    assert "WARNING: mend/unchecked is unchecked" in run.stderr
    assert "Traceback" not in run.stderr
    (folder,) = (tmp_path / "outputs").glob("scripted_agent_lazy-agent-*")
    for name in ("config.yaml", "cases.jsonl", "records.jsonl", "verdicts.jsonl", "summary.json", "report.md"):
        assert (folder / name).is_file(), name
    for name in ("transcript.jsonl", "checks.json", "workspace.diff"):
        assert (folder / "default" / "mend" / "sum" / name).is_file(), name
    found = json.loads((folder / "summary.json").read_text())["agent"]["contestants"][0]
    assert found["by_case"]["mend/sum"]["score"] == pytest.approx(5 / 9)
    assert (found["overall"]["passed"], found["overall"]["failed"], found["overall"]["unscored"]) == (1, 2, 1)


def test_cases_are_listed_and_mistakes_get_one_sentence(proceval: Any, suite: Path, tmp_path: Path) -> None:
    own = ("track=agent", "track.cases_dir=suite/cases")
    listed = proceval(*own, "track.list=true", "cases=mend/[tu]*")
    assert (listed.returncode, listed.stdout) == (
        0,
        "mend/two        sums, 2 turns, 1 check\nmend/unchecked  sums, 1 turn, unchecked\n",
    )
    assert not [path for path in tmp_path.glob("outputs/**/*") if path.is_file()]
    (suite / "mend.yml").write_text(yard.CASES.replace("max_turns: 12", "max_turn: 12"))
    misspelt = proceval(*own, PROCEVAL_MODEL="scripted_agent")
    assert misspelt.returncode == 2
    assert misspelt.stderr.endswith("mend.yml, line 14: unknown key max_turn in expect; did you mean max_turns?\n")
    assert not [path for path in tmp_path.glob("outputs/**/*") if path.is_file()]


def tried(suite: Path, folder: Path, box: Any) -> int:
    made = yard.track(suite, "mend/sum")
    run = RunFolder(path=folder, settings={}, inputs="", outputs=folder.parent, dataset=None)
    return int(made.selftest(run, engine=quick(), sandbox=Idle(box), say=lambda text: None))


def test_a_dry_run_prints_its_forecast_and_no_tables_of_nothing(proceval: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    run = proceval("track=agent", "model=openai/gpt-4o-mini", "cases=fix/*", "dry_run=true", *QUIET)
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    assert run.stderr.count("its key is missing") == 1
    assert "forecast samples 2, requests fewest 2, requests most 60" in run.stderr


def test_the_self_test_knows_right_runs_from_wrong_ones(suite: Path, box: Any, tmp_path: Path, capsys: Any) -> None:
    assert tried(suite, tmp_path / "run", box) == 0
    assert capsys.readouterr().out == (
        "gold     1/1 pass, as they must\nclumsy   1/1 pass, as they must\nlazy     1/1 fail, as they must\n"
        "cheating 1/1 fail, as they must\npeeking  1/1 fail, as they must\ncheat    1/1 fail, as they must\n"
    )


@pytest.mark.slow
def test_the_self_test_notices_a_run_that_is_not_right(suite: Path, box: Any, tmp_path: Path, capsys: Any) -> None:
    (suite.parent / "scripted" / "mend" / "sum" / "gold.sh").write_text("echo 'mended: core'\n")
    assert tried(suite, tmp_path / "run", box) == 1
    assert "gold     0/1 pass, as they must\n  mend/sum: failed: verify failed" in capsys.readouterr().out


class Idle:
    """A sandbox that is started and closed by somebody else."""

    def __init__(self, box: Any):
        self.limits, self.arun = box.limits, box.arun

    def start(self) -> None:
        """It runs already."""

    def close(self) -> None:
        """It is still used."""


def test_our_own_suite_is_read_without_a_warning() -> None:
    suite = agent_suite.load(agent_suite.OWN, None, "*")
    assert suite.warnings == ()
    assert all("gold" in case.scripted for case in suite.cases)
    assert not any(case.unchecked for case in suite.cases)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="needs the extra local")
def test_a_real_model_that_fails_everything_makes_a_clean_run(proceval: Any) -> None:
    run = proceval("track=agent", "model=local", "cases=fix/*", "model.max_tokens=64", *QUIET, timeout_s=900)
    assert run.returncode in (0, 1), run.stderr
    assert "Traceback" not in run.stderr
    assert "ERROR" not in run.stdout
