"""Whatever ends a run, nothing finished is lost: the same command goes on and gives the same bytes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT

WORDS = ("stage=generate", "domain=arrays", "difficulty=[easy,hard]", "count=20", "workers=1")
NAMES = ("dataset.jsonl", "generation.json", "rejections.jsonl", "certificates/index.jsonl")


def _start(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "proceval", *WORDS],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell ignores it for its background jobs
    )


def _lines(home: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in home.glob("outputs/*/generation.partial.jsonl"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> list[bytes]:
    """The files of a run that nothing disturbed."""
    home = tmp_path_factory.mktemp("whole")
    process = _start(home)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    (folder,) = home.glob("outputs/arrays*")
    return [(folder / name).read_bytes() for name in NAMES]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_an_interrupted_generation_goes_on_where_it_was(tmp_path, whole, how):
    process = _start(tmp_path)
    deadline = time.monotonic() + 200
    while _lines(tmp_path) < 5 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(how)
    _, errors = process.communicate(timeout=300)
    saved = _lines(tmp_path)
    assert saved >= 5
    if how is not signal.SIGKILL:
        assert process.returncode == 130, errors
        assert "Resume with" in errors
        assert "Traceback" not in errors
    (journal,) = tmp_path.glob("outputs/*/generation.partial.jsonl")
    with journal.open("ab") as file:
        file.write(b'{"family":"equilibrium_in')  # what a kill in the middle of a write leaves
    again = _start(tmp_path)
    _, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors
    (folder,) = tmp_path.glob("outputs/arrays*")
    assert [(folder / name).read_bytes() for name in NAMES] == whole
    assert not journal.exists()


def test_a_folder_in_use_is_refused_and_a_dead_holder_is_not(tmp_path):
    first = _start(tmp_path)
    deadline = time.monotonic() + 200
    while not _lines(tmp_path) and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    first.send_signal(signal.SIGSTOP)  # a holder that lives and does not hurry
    second = _start(tmp_path)
    _, errors = second.communicate(timeout=300)
    assert second.returncode == 2
    assert f"pid {first.pid}" in errors
    first.kill()
    first.communicate()
    third = _start(tmp_path)
    _, errors = third.communicate(timeout=300)
    assert third.returncode == 0, errors


def test_a_polite_kill_before_anything_is_imported_still_says_how_to_go_on(tmp_path):
    process = _start(tmp_path)
    status = Path(f"/proc/{process.pid}/status")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt:"))
        if int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            break
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "Resume with" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "outputs").exists()
