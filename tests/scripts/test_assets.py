"""docs/assets/figures: every figure lies there in both formats with its data; the slow test makes that data again."""

import json
import os
import subprocess
import sys

import pytest

from proceval.report import plots
from scripts import assets
from tests.conftest import ROOT


def test_every_figure_has_its_pictures_its_data_and_its_place_on_the_page() -> None:
    data = json.loads((assets.ASSETS / "figures.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert tuple(data) == assets.SHOWN
    assert set(plots.PLOTS) - set(data) == {"accuracy_against_cost", "latency"}
    for name, rows in data.items():
        assert rows, name
        assert (assets.ASSETS / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (assets.ASSETS / f"{name}.svg").read_bytes()[:1000]
        assert f"assets/figures/{name}.png" in page
    assert {path.stem for path in assets.ASSETS.glob("*.png")} == set(data)


def test_what_differs_between_machines_is_compared_together() -> None:
    def failures(*outcomes: str) -> dict[str, list[dict[str, object]]]:
        return {"failures": [{"contestant": "m", "tier": "easy", "outcome": o, "samples": 1} for o in outcomes]}

    assert assets.comparable(failures("timeout", "timeout")) == assets.comparable(failures("timeout", "resource_limit"))
    assert assets.comparable(failures("timeout")) != assets.comparable(failures("no_code"))


@pytest.mark.slow
def test_the_figures_are_what_the_sweep_gives() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "assets.py"), "--check"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=1500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
