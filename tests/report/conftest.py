"""The hand-made run folder as fixtures, and golden files for what people see.

`PROCEVAL_GOLDEN=write python -m pytest tests/report` rewrites the golden files; read their diff before you commit it.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.report.builder import build

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A run with every file that a benchmark run leaves."""
    return build(tmp_path / "run")


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with a golden file, or rewrite the file when PROCEVAL_GOLDEN=write."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("PROCEVAL_GOLDEN") == "write":
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
