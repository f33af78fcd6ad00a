"""stage=release as a user runs it: from a name to a published set in one command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proceval.folder import file_digest
from proceval.stage.release import Release
from tests.release.fake_hub import FakeHub
from tests.release.made import WORDS, folder, stage

ROOT = Path(__file__).parents[2]


class Step:
    """A step that answers with a status and notes that it ran."""

    def __init__(self, name: str, ran: list[str], status: int = 0, repo_id: str | None = "me/set") -> None:
        self.name, self.ran, self.status, self.repo_id = name, ran, status, repo_id

    def run(self, folder: object) -> int:
        self.ran.append(self.name)
        return self.status

    def found(self, folder: object) -> Path:
        return Path("somewhere")

    def passes(self, release: Path) -> bool:
        self.ran.append("gate")
        return self.status == 0


NAMES = ("generate", "audit", "verify", "export", "push")


@pytest.mark.parametrize("failing", NAMES)
def test_the_first_step_that_finds_something_ends_the_chain(failing, tmp_path, capsys):
    ran: list[str] = []
    chain = Release(steps={name: Step(name, ran, status=int(name == failing)) for name in NAMES})
    assert chain.run(folder(tmp_path)) == 1
    assert tuple(ran) == NAMES[: NAMES.index(failing) + 1]
    assert f"stopped at {failing}: nothing was published" in capsys.readouterr().err


def test_without_a_repository_the_gate_is_passed_and_the_set_stays_here(tmp_path, capsys):
    ran: list[str] = []
    assert tuple(stage("release").steps) == NAMES
    chain = Release(steps={name: Step(name, ran, repo_id=None) for name in NAMES})
    assert chain.run(folder(tmp_path)) == 0
    assert ran == [*NAMES[:-1], "gate"]
    assert "repo_id=USER/NAME" in capsys.readouterr().err


def test_verify_sh_is_whole():
    """One command for lint, types, tests and a smoke release; without its tools it says what to install."""
    script = (ROOT / "scripts/verify.sh").read_text()
    for step in ("ruff check", "mypy", "pytest", "stage=release", "recheck.py"):
        assert step in script
    assert subprocess.run(["bash", "-n", ROOT / "scripts/verify.sh"]).returncode == 0
    ran = subprocess.run(
        [ROOT / "scripts/verify.sh"],
        env={"PATH": os.environ["PATH"], "PYTHON": "/bin/false"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert "pip install -e '.[test,dev]'" in ran.stderr


@pytest.mark.slow
def test_one_command_makes_and_publishes_a_set_and_a_stranger_proves_it(proceval, tmp_path):
    words = ("stage=release", "domain=[arrays]", *WORDS[1:], "repo_id=me/set", "recheck=all", "tracker=off")
    with FakeHub(tmp_path / "hub") as server:
        ran = proceval(*words, HF_ENDPOINT=server.url, HF_TOKEN="hf_test")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for told in ("generate", "audit", "differences: 0", "export", "gate", "is in me/set"):
        assert told in ran.stderr
    (release,) = tmp_path.glob("outputs/*/release")
    sent = tmp_path / "hub/me/set"
    sums = [{p.relative_to(h).as_posix(): file_digest(p) for p in h.rglob("*") if p.is_file()} for h in (release, sent)]
    assert sums[0] == sums[1]
    row = json.loads((sent / "data/test.jsonl").read_text().splitlines()[0])
    assert row["audit"]["killed"] > 0
    assert row["audit"]["survived"] == 0
    again = subprocess.run([sys.executable, "-I", sent / "recheck.py"], capture_output=True, text=True, timeout=300)
    assert again.returncode == 0, again.stdout + again.stderr
