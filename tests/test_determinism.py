"""Equal seeds give equal bytes, in any process, on any hash seed, with any number of workers; neighbours share nothing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proceval.seeding import digest, rng
from tests.conftest import ROOT

WORDS = ("stage=generate", "difficulty=[easy,hard]", "count=2")


def _dataset(tmp_path: Path) -> bytes:
    (folder,) = (p for p in tmp_path.glob("outputs/[!.]*") if p.is_dir())
    parts = [
        folder / "dataset.jsonl",
        folder / "rejections.jsonl",
        folder / "certificates" / "index.jsonl",
        folder / "generation.json",
    ]
    return b"".join(part.read_bytes() for part in parts)


def test_bytes_do_not_depend_on_hash_seed_or_workers(proceval, tmp_path):
    seen = set()
    for hash_seed, workers in (("0", 1), ("1", 2), ("2", 3)):
        run = proceval(*WORDS, f"workers={workers}", PYTHONHASHSEED=hash_seed)
        assert run.returncode == 0, run.stderr
        seen.add(_dataset(tmp_path))
        shutil.rmtree(tmp_path / "outputs")
    assert len(seen) == 1


def test_neighbouring_seeds_share_no_problem_in_the_larger_tiers(proceval, tmp_path):
    ids = []
    for seed in (42, 43):
        run = proceval("stage=generate", "difficulty=extreme", "count=6", f"seed={seed}")
        assert run.returncode == 0, run.stderr
    for folder in sorted(p for p in tmp_path.glob("outputs/[!.]*") if p.is_dir()):
        ids.append({json.loads(line)["id"] for line in (folder / "dataset.jsonl").read_text().splitlines()})
    assert len(ids) == 2
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("path", [("a", 1), ("a", "1"), ("a1",), ("a", 1, 0)])
def test_seed_paths_do_not_run_together(path):
    others = [("a", 1), ("a", "1"), ("a1",), ("a", 1, 0), ("a", 2)]
    draws = {other: rng(*other).random() for other in others}
    assert [other for other in others if draws[other] == draws[path]] == [path]


def test_a_digest_is_of_content_and_not_of_order():
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest({"a": 1}) != digest({"a": True})
    assert digest({"a": 1}) != digest({"a": 1.0})
    assert digest(2**70) != digest(2**70 + 1)


def _check(script: str) -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), "--check"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert run.returncode == 0, run.stderr


def test_the_pinned_bytes_come_out_on_every_python():
    """The same file of hashes is checked on 3.11, 3.12 and 3.13: equal seeds give equal bytes across versions."""
    _check("pinned.py")


def test_the_reference_of_keys_is_what_conf_and_constructors_say():
    _check("configuration.py")


@pytest.mark.slow
def test_the_gallery_shows_what_is_proved():
    _check("gallery.py")


@pytest.mark.slow
def test_the_readme_shows_what_the_commands_print():
    _check("readme.py")
