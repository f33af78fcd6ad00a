"""A short run of scripts/endure_sandbox.py: right answers, nothing left behind."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="isolated needs Linux")
def test_a_thousand_executions_leave_nothing_behind():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "endure_sandbox.py"), "--executions", "1000"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
