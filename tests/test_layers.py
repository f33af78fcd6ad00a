"""Layers that a machine lacks: on screen, in the run's record and report, or an error before anything is made."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from proceval import config
from proceval.errors import InputError, Unscored
from proceval.sandboxing import start
from sandbox.conversation import Refused, SandboxFault

FEW = ("domain=arrays", "difficulty=easy", "count=1", "samples=1", "pass_k=[1]", "tracker=off", "figures=false")
LACKING = ["namespaces", "read-only root", "no network", "seccomp", "own user"]
"""What sandbox=process never has."""


def test_the_strict_switch_is_one_sentence_before_the_first_problem(proceval: Any, tmp_path: Path) -> None:
    for words in (FEW, ("track=agent", "model=scripted_agent", "cases=fix/failing-test", *FEW[4:])):
        run = proceval(*words, "sandbox=process", "sandbox.degraded=refuse")
        assert run.returncode == 2, run.stderr
        (said,) = run.stderr.splitlines()
        assert said.startswith("proceval: sandbox=process: ")
        assert "seccomp" in said
        assert "degraded=refuse" in said
        assert not list(tmp_path.glob("outputs/*")), "nothing is left behind"


def test_what_verdicts_had_to_do_without_is_on_record(proceval: Any, tmp_path: Path) -> None:
    run = proceval(*FEW, "sandbox=process")
    assert run.returncode == 0, run.stderr
    assert "WARNING: sandbox process runs without: namespaces" in run.stderr
    (folder,) = tmp_path.glob("outputs/[!.]*")
    found = json.loads((folder / "summary.json").read_text())["sandbox"]
    assert found == {"sandbox": "process", "missing_layers": LACKING, "workspace_missing_layers": None}
    said = "sandbox process ran without: " + "; ".join(LACKING)
    assert said in " ".join((folder / "report.md").read_text().split())
    assert said in " ".join(run.stdout.split())


class Broken:
    name = "isolated"

    def __init__(self, error: Exception):
        self.error = error

    def start(self) -> None:
        raise self.error


def test_whose_fault_a_sandbox_that_does_not_start_is() -> None:
    with pytest.raises(InputError, match="sandbox=isolated: .*a layer"):
        start(Broken(Refused("runs without: a layer")))
    with pytest.raises(Unscored, match="sandbox isolated: it broke"):
        start(Broken(SandboxFault("it broke")))


def test_a_workspace_tells_what_it_lacks_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    shop: Any = config.build(config.compose("track=agent")["track"], "track")._workshop

    async def look() -> None:
        async with shop.open(None) as workspace:
            workspace._told += ("a layer",)
        async with shop.open(None) as workspace:
            workspace._told += ("a layer", "another")

    asyncio.run(look())
    assert shop.missing_layers[-2:] == ("a layer", "another")

    def refuses(*_: Any, **__: Any) -> None:
        raise Refused("runs without: a layer")

    monkeypatch.setattr("proceval.workshop.Workspace", refuses)
    with pytest.raises(InputError, match="track.workspace: runs without: a layer"):
        asyncio.run(look())
