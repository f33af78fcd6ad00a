"""Whatever tree is left, it is judged: passed or failed with a reason, never an exception, and the host stays untouched."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from proceval.model.scripted_agent import ScriptedAgent
from proceval.schema import Verdict
from sandbox import beneath
from tests.track import reviewing, yard
from tests.track.odd_trees import HEAVY, ODD

SECRET = "known to the host alone"
CASE: dict[str, Any] = {
    "fixture": "f",
    "turns": ["Leave what you like."],
    "hidden": "h",
    "protect": ["src", "**/conftest.py"],
    "expect": {
        "prints": {"run": "bash check/probe.sh", "is": "probed"},
        "verify": "ls -laR > /dev/null; git status > /dev/null 2>&1; true",
        "files": {"README.md": {"contains": ["read me"]}, "src/core.py": {"contains": ["def"]}},
        "calls": {"function": "src.core.run", "tests": "run"},
    },
}
NO_FILE = "README.md cannot be read as a file: 'README.md' is "
CANNOT = "the workspace as it was left cannot be judged: "
FAILS = {
    "links that lead out": NO_FILE + "a link",
    "links in a circle": NO_FILE + "a link",
    "links to nothing": NO_FILE + "a link",
    "a link for a folder": "src/core.py cannot be read as a file: 'src' is a link, or no folder",
    "pipes, sockets and devices": "README.md is not there; src/core.py is not there",
    "a socket for a file": "README.md is not there",
    "a folder for a file": NO_FILE + "not a file",
    "a file for a folder": "src/core.py cannot be read as a file: 'src' is a link, or no folder",
    "nothing": "README.md is not there; src/core.py is not there",
    "one file under many names": CANNOT + "the folder does not fit into",
    "files with holes": CANNOT + "the folder does not fit into",
    "folders in folders": CANNOT + "folders are nested more than 64 deep",
    "full to the last byte": CANNOT + "the workspace has no room for it",
    "texts that are none": 'README.md missing "read me"',
    "one line without an end": 'README.md missing "read me"',
    "millions of lines": 'README.md missing "read me"',
    "sixty thousand entries": CANNOT + "the workspace has no room for it",
    "forty thousand folders": CANNOT + "the workspace has no room for it",
}
"""What is said of an agent; the others pass: what a case asks for is still there."""


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret").write_text(SECRET)
    (folder / "core.py").write_text(f"def run():\n    return {SECRET!r}\n")
    folder.chmod(0o777)
    return folder


def _agents(home: Path, trees: Mapping[str, str], outside: Path, box: Any) -> dict[str, Verdict]:
    """One agent a tree, in one run."""
    for path, text in {
        "fixtures/f/README.md": "read me\n",
        "fixtures/f/src/core.py": "def run():\n    return 7\n",
        "hidden/h/check/probe.sh": "echo probed\n",
        "hidden/run.jsonl": '{"arguments": {}, "expected": 7}\n',
        "expected/probed.txt": "probed\n",
        "cases/odd.yml": yaml.safe_dump([CASE | {"id": f"t{n}"} for n in range(len(trees))]),
        **{f"scripted/odd/t{n}/cheat.sh": _command(tree, outside) for n, tree in enumerate(trees.values())},
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    made = yard.track(home / "cases", "*", workspace=yard._node()["workspace"] | {"disk_bytes": 32 << 20})
    report, verdicts = yard.run(made, home / "run", ScriptedAgent(id="cheat", behaviour="cheat"), box)
    assert not report.faults
    return {name: next(v for v in verdicts if v.family == f"odd/t{n}") for n, name in enumerate(trees)}


def _command(tree: str, outside: Path) -> str:
    return tree.replace("OUTSIDE", str(outside)) + "\n"


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory, outside: Path, box: Any) -> dict[str, Verdict]:
    return _agents(tmp_path_factory.mktemp("agents"), ODD, outside, box)


@pytest.fixture(scope="module")
def heavy_agents(tmp_path_factory: pytest.TempPathFactory, outside: Path, box: Any) -> dict[str, Verdict]:
    return _agents(tmp_path_factory.mktemp("agents"), HEAVY, outside, box)


def _agent_is_judged(verdict: Verdict, name: str) -> None:
    says = FAILS.get(name)
    wanted = ("passed", "none") if says is None else ("failed", "model")
    assert (verdict.outcome, verdict.fault) == wanted, verdict.detail
    assert (verdict.detail or "").startswith(says or ""), verdict.detail
    assert (verdict.detail or "").isprintable()


@pytest.mark.parametrize("name", ODD)
def test_an_agent_is_judged_by_any_tree(agents: dict[str, Verdict], name: str) -> None:
    _agent_is_judged(agents[name], name)


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_an_agent_is_judged_by_a_tree_of_any_size(heavy_agents: dict[str, Verdict], name: str) -> None:
    _agent_is_judged(heavy_agents[name], name)


def _reviewers(home: Path, trees: Mapping[str, str], outside: Path) -> dict[str, tuple[Verdict, str]]:
    """One reviewer a tree, in one run: a command that makes it; the verdict, and what is written of the files."""
    cases = {
        f"t{n}": {
            "input/README.md": "read me\n",
            "input/src/core.py": "def run():\n    return 7\n",
            "input/make.sh": _command(tree, outside),
        }
        for n, tree in enumerate(trees.values())
    }
    status, folder = reviewing.run(
        home,
        f"suite.dir={reviewing.suite(home / 'suite', **cases)}",
        *("track.files=workspace", "track.arms=[baseline]", "track.workspace.disk_bytes=33554432", "model=command"),
        *("model.id=odd", "model.argv=[bash,-c,'bash make.sh > /dev/null 2>&1; echo I have looked at both.']"),
    )
    assert status == 1
    lines = (folder / "verdicts.jsonl").read_text().splitlines()
    verdicts = {verdict.family: verdict for verdict in map(Verdict.model_validate_json, lines)}
    return {
        name: (verdicts[f"t{n}"], (folder / "baseline" / f"t{n}" / "no-rewrite.txt").read_text(encoding="utf-8"))
        for n, name in enumerate(trees)
    }


@pytest.fixture(scope="module")
def reviewers(tmp_path_factory: pytest.TempPathFactory, outside: Path) -> dict[str, tuple[Verdict, str]]:
    return _reviewers(tmp_path_factory.mktemp("reviewers"), ODD, outside)


@pytest.fixture(scope="module")
def heavy_reviewers(tmp_path_factory: pytest.TempPathFactory, outside: Path) -> dict[str, tuple[Verdict, str]]:
    return _reviewers(tmp_path_factory.mktemp("reviewers"), HEAVY, outside)


def _reviewer_rewrote(verdict: Verdict, written: str, name: str) -> None:
    assert (verdict.outcome, verdict.fault) == ("rewrote", "model"), verdict.detail
    assert (verdict.detail or "").isprintable()
    first, *lines = written.splitlines()
    assert first == "REWROTE"
    kinds = ("added: ", "removed: ", "rewritten: ", "mode or kind: ", "they cannot be looked at any more: ")
    assert lines
    assert all(line.startswith(kinds) and line.isprintable() for line in lines), lines
    if FAILS.get(name, "").startswith(CANNOT) and "no room" not in FAILS[name]:
        assert lines == [kinds[-1] + lines[0].removeprefix(kinds[-1])]
        assert FAILS[name].removeprefix(CANNOT) in lines[0]


@pytest.mark.parametrize("name", ODD)
def test_a_reviewer_is_judged_by_any_tree(reviewers: dict[str, tuple[Verdict, str]], name: str) -> None:
    _reviewer_rewrote(*reviewers[name], name)


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_a_reviewer_is_judged_by_a_tree_of_any_size(heavy_reviewers: dict[str, tuple[Verdict, str]], name: str) -> None:
    _reviewer_rewrote(*heavy_reviewers[name], name)


def test_nothing_got_out_and_nothing_in(agents: Any, reviewers: Any, outside: Path, tmp_path: Path) -> None:
    assert sorted(path.name for path in outside.iterdir()) == ["core.py", "secret"]
    assert (outside / "secret").read_text() == SECRET
    homes = [*tmp_path.parent.glob("agents*"), *tmp_path.parent.glob("reviewers*")]
    files = [path for home in homes for path in home.rglob("*") if path.is_file()]
    assert len(files) > 100
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ENOMEM, errno.EACCES])
def test_what_the_host_lacks_is_never_the_agents_failure(
    outside: Path, box: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    real = beneath.open_file

    def broken(name: str, folder: int, *more: Any) -> int:
        if name == "struck":
            raise OSError(number, os.strerror(number), name)
        return real(name, folder, *more)

    monkeypatch.setattr(beneath, "open_file", broken)
    verdict = _agents(tmp_path, {"struck": "touch struck"}, outside, box)["struck"]
    assert (verdict.outcome, verdict.fault, verdict.scored) == ("sandbox_fault", "sandbox", False), verdict.detail
    assert os.strerror(number) in (verdict.detail or "")
