"""Shared by all tests: the command line as a user runs it, in a folder of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
Run = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def run_proceval() -> Callable[..., Run]:
    """Run `python -m proceval ARGUMENTS` from the folder given first."""

    def run(home: Path, *arguments: str, timeout_s: float = 300, **environment: str) -> Run:
        return subprocess.run(
            [sys.executable, "-m", "proceval", *arguments],
            cwd=home,
            env={**os.environ, "PYTHONPATH": str(ROOT), "WANDB_SILENT": "true", **environment},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture
def proceval(tmp_path: Path, run_proceval: Callable[..., Run]) -> Callable[..., Run]:
    """Run `python -m proceval ARGUMENTS` from an empty folder; outputs land there."""

    def run(*arguments: str, **environment: str) -> Run:
        return run_proceval(tmp_path, *arguments, **environment)

    return run
