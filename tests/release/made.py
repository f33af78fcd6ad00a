"""One small run folder of every family and its release, made once a process, whichever tests ask first."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from proceval import config, provenance
from proceval.folder import RunFolder

WORDS = ("domain=[arrays,graphs,automata]", "difficulty=easy", "count=1", "workers=1", "seed=2026-11")


@cache
def _composed(*words: str) -> dict[str, Any]:
    return config.compose(*WORDS, *words)


def compose(*words: str) -> dict[str, Any]:
    """The settings of the small run with these words; composed once a process."""
    return deepcopy(_composed(*words))


def folder(path: Path, dataset: Path | None = None) -> RunFolder:
    """A run folder as a stage is handed it."""
    place = str(dataset) if dataset else None
    return RunFolder(path=path, settings={}, inputs="x", outputs=path.parent, dataset=place)


def stage(name: str, *words: str, **keys: Any) -> Any:
    """A stage as it is built for these words; `keys` are the values of its own keys, paths as texts."""
    given = {key: str(value) if isinstance(value, Path) else value for key, value in keys.items()}
    return config.build({**compose(f"stage={name}", *words)["stage"], **given}, "stage")


_made: dict[str, Path] = {}


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """A generated run folder with its config.yaml; it was not audited. Read only."""
    if "run" not in _made:
        run = folder(tmp_path_factory.mktemp("made") / "run")
        settings = compose("stage=generate")
        with run.open(fresh=True, writes=True):
            run.write_config(
                settings, identity=config.identity(settings), versions=provenance.versions(), git_commit=None
            )
            config.build(settings["stage"], "stage").run(run)
        (run / "lock").unlink()
        _made["run"] = run.path
    return _made["run"]


@pytest.fixture(scope="session")
def exported(made, tmp_path_factory) -> Path:
    """The release of `made`; read only."""
    if "release" not in _made:
        _made["release"] = tmp_path_factory.mktemp("release") / "set"
        assert stage("export", release=_made["release"]).run(folder(made, made)) == 0
    return _made["release"]
