"""One small run folder of every family, generated once, and its release."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proceval import config
from proceval.folder import RunFolder

WORDS = ("domain=[arrays,graphs,automata]", "difficulty=easy", "count=1", "workers=1", "seed=2026-11")


def compose(*words: str) -> dict[str, Any]:
    return config.compose(*WORDS, *words)


def folder(path: Path, dataset: Path | None = None) -> RunFolder:
    """A run folder as a stage is handed it."""
    place = str(dataset) if dataset else None
    return RunFolder(path=path, settings={}, inputs="x", outputs=path.parent, dataset=place)


def stage(name: str, *words: str) -> Any:
    return config.build(compose(f"stage={name}", *words)["stage"], "stage")


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """A generated run folder with its config.yaml; it was not audited."""
    run = folder(tmp_path_factory.mktemp("made") / "run")
    settings = compose("stage=generate")
    with run.open(fresh=True, writes=True):
        run.write_config(settings, versions=config.versions(), git_commit=None)
        config.build(settings["stage"], "stage").run(run)
    (run / "lock").unlink()
    return run.path


@pytest.fixture(scope="session")
def exported(made, tmp_path_factory) -> Path:
    """The release of `made`; read only."""
    target = tmp_path_factory.mktemp("release") / "set"
    assert stage("export", f"release={target}").run(folder(made, made)) == 0
    return target


@pytest.fixture
def release(exported, tmp_path) -> Path:
    """A copy of the release to change."""
    return Path(shutil.copytree(exported, tmp_path / "set"))


@pytest.fixture
def rows(release) -> Callable[..., list[dict[str, Any]]]:
    """The rows of the copy; called with rows, it stores them."""

    def access(changed: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
        path = release / "data" / "test.jsonl"
        if changed is not None:
            path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in changed))
        return [json.loads(line) for line in path.read_text().splitlines()]

    return access
