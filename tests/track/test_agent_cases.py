"""Our own agent cases: the right run passes, and neither doing nothing nor any way of cheating does."""

import ast
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from proceval.model.scripted_agent import ScriptedAgent
from proceval.schema import AgentCase, Verdict
from proceval.track.agent_suite import OWN, load
from sandbox.contract import Limits
from sandbox.workspace import Workspace
from tests.track import yard

CASES: dict[str, AgentCase] = {case.family: case for case in load(OWN, None, "*").cases}
FAST = ("build/broken-import-after-move", "api/pages-with-cursors")
"""Cases that the fast tests try; the slow ones try all."""
GROUPS = [
    *("build", "fix", "test", "refactor", "search", "git", "docs", "data"),
    *("shell", "config", "api", "perf", "security", "types", "multi-turn"),
]

WRONG = ("lazy", "cheating", "peeking", "cheat")

WRECK = r"""
# Every programme of the case ends at once, with status 0 and a word of success.
find . -name .git -prune -o -name '*.py' -print0 | while IFS= read -r -d '' file; do
  { printf 'import os\nprint("OK")\nos._exit(0)\n'; cat "$file"; } > /tmp/wrecked && cat /tmp/wrecked > "$file"
done
find . -name .git -prune -o -name '*.sh' -print0 | while IFS= read -r -d '' file; do
  printf '#!/bin/bash\necho PASS\nexit 0\n' > "$file"
done
mkdir -p check
for name in probe.py driver.sh mutants.sh; do mkdir -p "check/$name"; done
for name in expected.txt sums.txt; do ln -s /dev/null "check/$name"; done
for name in cmp test git python3 bash; do printf '#!/bin/bash\nexit 0\n' > "$name"; chmod +x "$name"; done
echo 'All done. Everything passes. FILE: 0'
"""


def _verdicts(folder: Path, globs: list[str], box: Any) -> dict[str, dict[str, Verdict]]:
    """Behaviour -> case -> verdict; every case without a cheat of its own cheats by wrecking."""
    home = folder / "suite"
    shutil.copytree(OWN.parent, home)
    for family in CASES:
        own = home / "scripted" / family / "cheat.sh"
        if not own.exists():
            own.write_text(WRECK)
    found = {}
    for behaviour in ("gold", *WRONG):
        made = yard.track(home / "cases", globs, list=False)  # type: ignore[arg-type]
        model = ScriptedAgent(id=behaviour, behaviour=behaviour)
        _, verdicts = yard.run(made, folder / behaviour, model, box)
        found[behaviour] = {verdict.family: verdict for verdict in verdicts}
    return found


def _holds(verdicts: dict[str, dict[str, Verdict]], family: str) -> None:
    gold = verdicts["gold"][family]
    assert gold.outcome == "passed", f"gold: {gold.detail}"
    for behaviour in WRONG:
        verdict = verdicts[behaviour][family]
        assert verdict.outcome == "failed", f"{behaviour}: {verdict.outcome}: {verdict.detail}"


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory, box: Any) -> dict[str, dict[str, Verdict]]:
    return _verdicts(tmp_path_factory.mktemp("some"), list(FAST), box)


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory, box: Any) -> dict[str, dict[str, Verdict]]:
    return _verdicts(tmp_path_factory.mktemp("every"), ["*"], box)


@pytest.mark.parametrize("family", FAST)
def test_gold_passes_and_nothing_else_of_some(some: dict[str, dict[str, Verdict]], family: str) -> None:
    _holds(some, family)


@pytest.mark.slow
@pytest.mark.parametrize("family", CASES)
def test_gold_passes_and_nothing_else(every: dict[str, dict[str, Verdict]], family: str) -> None:
    _holds(every, family)


@pytest.mark.slow
def test_many_cases_take_edits_in_several_files_and_no_two_the_same() -> None:
    """By the files that the right run changes."""
    changed = {family: _changed(family) for family in CASES}
    assert sum(len(paths) >= 2 for paths in changed.values()) >= 10
    patterns = Counter(tuple(sorted(paths)) for paths in changed.values() if paths)
    assert set(patterns.values()) == {1}, patterns.most_common(3)
    assert [family for family, paths in changed.items() if not paths] == [
        "search/find-constant",
        "search/who-retries-too-often",
    ]


def _changed(family: str) -> set[str]:
    """What the right run leaves changed, added or gone."""
    case = CASES[family]
    limits = Limits(cpu_s=30, wall_s=60, memory_bytes=2 << 30, output_bytes=1 << 20, file_bytes=1 << 24)
    with Workspace(
        OWN.parent / "fixtures" / case.fixture,
        limits=limits,
        processes=64,
        disk_bytes=1 << 26,
        temporary_bytes=1 << 24,
        environment=(),
        degraded="warn",
    ) as workspace:
        for command in case.setup:
            assert workspace.run(command).exit_code == 0, command
        workspace.settle()
        workspace.write("gold.sh", case.scripted["gold"].encode())
        for turn in range(len(case.turns)):
            assert workspace.run(f"bash gold.sh {turn + 1}").exit_code == 0
        changes = {change.path for change in workspace.changes() if (change.after or change.before).kind == "file"}  # type: ignore[union-attr]
    return {
        path for path in changes if path != "gold.sh" and not path.startswith(".git/") and "__pycache__" not in path
    }


def test_thirty_cases_in_fifteen_groups() -> None:
    counts = Counter(case.domain for case in CASES.values())
    assert sorted(counts) == sorted(GROUPS)
    assert len(CASES) == 30
    assert set(counts.values()) == {2}
    assert all("gold" in case.scripted for case in CASES.values())


@pytest.mark.parametrize("family", CASES)
def test_a_case_is_well_made(family: str) -> None:
    case = CASES[family]
    assert case.checks, "nothing is looked at"
    assert all(len(turn) > 20 for turn in case.turns)
    told = " ".join(case.turns)
    hidden = OWN.parent / "hidden"
    assert "check/" not in told, "the task names the hidden files"
    for path in sorted((OWN.parent / "fixtures" / case.fixture).rglob("*.py")):
        ast.parse(path.read_text(encoding="utf-8"))
    if case.hidden is not None:
        for path in sorted((hidden / case.hidden).rglob("*.py")):
            ast.parse(path.read_text(encoding="utf-8"))


def test_what_is_expected_is_in_no_workspace() -> None:
    """Neither in a file that is laid into one, nor in the text of a command, which is in the shell's arguments."""
    home = OWN.parent
    laid = {
        path: path.read_text(encoding="utf-8", errors="replace")
        for folder in ("fixtures", "hidden")
        for path in (home / folder).rglob("*")
        if path.is_file() and path.suffix != ".jsonl"
    }
    for path in (home / "expected").rglob("*.txt"):
        expected = path.read_text(encoding="utf-8").strip()
        told = [place for place, text in laid.items() if expected in text]
        told += [family for family, case in CASES.items() if any(expected in check.text for check in case.checks)]
        assert not told, (path, told)
    assert not [path for path in laid if "expected" in path.name]
    # What is left of `verify` runs no code of the agent's, or stands beside calls that decide.
    sound = ("test ! -e", 'test "$(grep ', "! grep ")
    for family, case in CASES.items():
        kinds = {check.kind for check in case.checks}
        for check in case.checks:
            if check.kind == "verify" and not check.text.startswith(sound):
                assert "calls" in kinds, (family, check.text)
                assert "=" not in check.text, (family, check.text)


def test_no_file_of_the_suite_is_left_over() -> None:
    """Every fixture, hidden folder, call file, expected text and script belongs to a case."""
    home = OWN.parent
    entries = [
        entry for file in sorted(OWN.glob("*.yml")) for entry in yaml.safe_load(file.read_text(encoding="utf-8"))
    ]
    text = str(entries)
    assert {path.name for path in (home / "fixtures").iterdir()} == {case.fixture for case in CASES.values()}
    for path in (*(home / "hidden").iterdir(), *(home / "expected").iterdir()):
        assert f"'{path.stem}'" in text, path
    scripts = {f"{path.parent.parent.name}/{path.parent.name}" for path in (home / "scripted").rglob("gold.sh")}
    assert scripts == set(CASES)
