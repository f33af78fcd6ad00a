"""The release to read, and a copy of it to change."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.release.made import exported, made  # noqa: F401


@pytest.fixture
def release(exported, tmp_path) -> Path:  # noqa: F811
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
