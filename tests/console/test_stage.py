"""stage=console before its server runs, and stage=demo as people without a terminal see it."""

import re
import socket
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from proceval import config
from proceval.console import launch
from proceval.errors import InputError
from proceval.folder import RunFolder
from tests.conftest import Run


def folder(tmp_path: Path, dataset: str | None = None) -> RunFolder:
    return RunFolder(path=tmp_path / "x", settings={}, inputs="", outputs=tmp_path / "outputs", dataset=dataset)


@cache
def settings(*words: str) -> dict[str, Any]:
    return config.compose(*words)


def stage(**changes: Any) -> Any:
    """The stage as configured, with keys of its own changed."""
    return config.build({**settings("stage=console")["stage"], **changes}, "stage")


def test_a_missing_extra_is_named_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(launch, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"stage=console needs streamlit and plotly: .*proceval\[ui\]") as caught:
        stage().check(folder(tmp_path))
    assert caught.value.exit_status == 2
    assert "\n" not in str(caught.value)


def test_it_binds_to_loopback_unless_told_otherwise() -> None:
    assert stage().address == "127.0.0.1"
    told = launch.options("127.0.0.1", 8501)
    assert told["server_address"] == "127.0.0.1"
    assert set(told["server_allowedHosts"]) == {"localhost", "127.0.0.1", "::1"}, "no other name may lead here"
    assert told["browser_gatherUsageStats"] is False
    assert not [name for name in told if "CORS" in name or "Xsrf" in name], "both protections stay as they are: on"


@pytest.mark.parametrize(("address", "warned"), [("127.0.0.1", False), ("::1", False), ("0.0.0.0", True), ("::", True)])
def test_an_address_that_others_reach_is_warned_of(
    address: str, warned: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = stage(address=address)
    monkeypatch.setattr(made.desk, "start", lambda: None)
    monkeypatch.setattr(launch, "serve", lambda *_: None)
    assert made.run(folder(tmp_path)) == 0
    said = capsys.readouterr().err
    assert (f"warning  stage.address={address}" in said) is warned
    assert ("no password" in said) is warned


def test_a_taken_port_and_a_wrong_address_are_said_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(launch, "find_spec", lambda name: object())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port={port}: 127.0.0.1:{port} is in use"):
            stage(port=port).check(folder(tmp_path))
    with pytest.raises(InputError, match="stage.address=example.org"):
        stage(address="example.org").check(folder(tmp_path))
    with pytest.raises(InputError, match="no such file or folder"):
        stage(port=18999).check(folder(tmp_path, dataset=str(tmp_path / "absent")))
    with pytest.raises(InputError, match="port=0"):
        stage(port=0)


def test_the_themes_keys_are_the_servers() -> None:
    pytest.importorskip("streamlit", reason="the extra ui is not installed")
    from streamlit import config as server

    known = set(server.get_config_options())
    asked = {name.replace("_", ".") for name in launch.options("127.0.0.1", 8501)}
    assert asked <= known


def test_the_demo_needs_a_graph_and_an_offline_model(tmp_path: Path) -> None:
    demo = config.build(settings("stage=demo")["stage"], "stage")
    demo.check(folder(tmp_path))
    graphs = demo.families.pop("graphs")
    with pytest.raises(InputError, match="domain=graphs"):
        demo.check(folder(tmp_path))
    demo.families["graphs"], demo.model.needs_key = graphs, False
    with pytest.raises(InputError, match="asks no real model"):
        demo.check(folder(tmp_path))


def test_the_demo_goes_from_nothing_to_a_score(tmp_path: Path, run_proceval: Callable[..., Run]) -> None:
    made = run_proceval(tmp_path, "stage=demo")
    assert made.returncode == 0, made.stderr
    told = made.stdout
    steps = [line for line in told.splitlines() if line[:1].isdigit()]
    assert [line.split(".")[0] for line in steps] == [str(n + 1) for n in range(len(steps))]
    for words in (
        "(assert reached_", "sat: there is an answer", "unsat: no other answer exists", "and it is the only one",
        "oracle closure_rounds", "35 of 35 that can be killed are killed", "sample 2:", "pass@3",
        "mock results show the machinery",
    ):  # fmt: skip
        assert words in told, words
    assert told.count("\n  killed ") == 35
    assert "\x1b" not in told, "plain lines without a terminal"
    assert [path.name for path in tmp_path.rglob("*")] in ([], ["outputs"]), "nothing is left behind"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_the_demo_ends_well_on_other_seeds(tmp_path: Path, run_proceval: Callable[..., Run], seed: int) -> None:
    made = run_proceval(tmp_path, "stage=demo", f"seed={seed}", "domain=graphs")
    assert made.returncode == 0, made.stderr
    assert "the problem is accepted" in made.stdout


def test_the_pictures_of_the_documentation_are_those_that_the_script_takes() -> None:
    from scripts import screenshots

    told = set(re.findall(r"assets/(console-\w+)\.png", (screenshots.ROOT / "docs" / "console.md").read_text()))
    assert told == {f"console-{name}" for name in screenshots.PICTURES}
    for name in told:
        assert (screenshots.ASSETS / f"{name}.png").read_bytes().startswith(b"\x89PNG")
