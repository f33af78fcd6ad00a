"""Shared by all tests: the command line as a user runs it, in a folder of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def proceval(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `python -m proceval ARGUMENTS` from an empty folder; outputs land there."""

    def run(*arguments: str, timeout_s: float = 240, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "proceval", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "WANDB_SILENT": "true", **environment},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
        )

    return run
