"""Every tracker of conf/tracker is built from its YAML and keeps the protocol."""

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.report import builder

CONF = Path(__file__).parents[2] / "conf" / "tracker"


def build(option: str) -> Any:
    settings = yaml.safe_load((CONF / f"{option}.yaml").read_text())
    module, _, name = settings.pop("_target_").rpartition(".")
    assert module == f"proceval.tracker.{option}"
    made = getattr(importlib.import_module(module), name)
    parameters = inspect.signature(made).parameters
    assert set(settings) == set(parameters)
    assert all(p.default is p.empty for p in parameters.values()), "YAML is the one home of defaults"
    return made(**settings)


@pytest.mark.parametrize("option", sorted(path.stem for path in CONF.glob("*.yaml")))
def test_every_option_is_a_tracker(option: str) -> None:
    tracker = build(option)
    assert getattr(tracker, "mode", "offline") == "offline", "publishing must be asked for"
    tracker.close(1)  # a job that failed before there was anything to write


def test_off_leaves_no_trace(tmp_path: Path) -> None:
    builder.build(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    tracker = build("off")
    tracker.start()
    tracker.write(tmp_path, {}, {})
    tracker.close(0)
    assert sorted(tmp_path.rglob("*")) == before
