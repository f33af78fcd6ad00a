"""The hand-made run folder as fixtures."""

from pathlib import Path

import pytest

from tests.report.builder import build


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A run with every file that a benchmark run leaves."""
    return build(tmp_path / "run")
