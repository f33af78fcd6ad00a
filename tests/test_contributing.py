"""CONTRIBUTING.md's family, written where the page says, proves, passes every property and is audited."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def fenced(language: str) -> str:
    """The first block of that language under the page's first heading."""
    found = re.search(rf"```{language}\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_family_of_the_page_has_sixty_lines() -> None:
    lines = [line for line in fenced("python").splitlines() if line.strip()]
    assert len(lines) == 60


@pytest.mark.slow
def test_the_family_of_the_page_passes_everything(tmp_path: Path) -> None:
    for name in ("proceval", "sandbox", "conf", "scripts", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", ".importlinter"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "proceval/domain/arrays/longest_run.py").write_text(fenced("python"), encoding="utf-8")
    with (tmp_path / "conf/domain/arrays.yaml").open("a", encoding="utf-8") as yaml:
        yaml.write(fenced("yaml"))

    def run(*words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "100"}
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    tested = run("pytest", "tests/domain", "-k", "longest_run", "-q", "-p", "no:cacheprovider", "-rA")
    assert tested.count("PASSED") >= 15, tested
    run("scripts.pinned", "--check")  # the families that are pinned stay as they are
    small = ("difficulty=[easy,hard]", "count=2", "samples=2", "tracker=off", "figures=false")
    run("proceval", "domain=arrays", "model=gold", *small)
    (folder,) = tmp_path.glob("outputs/arrays*")
    problems = [json.loads(line) for line in (folder / "dataset.jsonl").read_text(encoding="utf-8").splitlines()]
    mine = {problem["id"] for problem in problems if problem["family"] == "longest_run"}
    assert len(mine) == 4
    audits = [json.loads(line) for line in (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    fates = [mutant["fate"] for audit in audits if audit["problem_id"] in mine for mutant in audit["mutants"]]
    assert fates.count("killed") > 100
    assert "survived" not in fates
    verdicts = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {v["outcome"] for v in verdicts if v["problem_id"] in mine} == {"passed"}
