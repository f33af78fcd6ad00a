"""Drives other mutation tools on one reference and its tests, for the benchmark and the cross-check of the audit.

Both tools live in an environment of their own, named on the command line: they are no dependency of this project.
"""

import ast
import json
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proceval.schema import Test

TESTS = """import json

import pytest
import subject

CASES = json.loads({cases!r})


@pytest.mark.parametrize("arguments, expected", CASES)
def test_case(arguments, expected):
    value = subject.{entry_point}(**arguments)
    assert type(value) is type(expected) and value == expected
"""
COSMIC_RAY = """[cosmic-ray]
module-path = "subject.py"
timeout = {timeout_s}
excluded-modules = []
test-command = "{python} -m pytest -x -q test_subject.py"
[cosmic-ray.distributor]
name = "local"
"""
MUTMUT = "[mutmut]\npaths_to_mutate=subject.py\ntests_dir=test_subject.py\n"


@dataclass(frozen=True)
class Ran:
    """What a tool did with one reference."""

    tool: str
    mutants: tuple[tuple[str, str], ...]
    """(module text in normal form, fate as the tool says it)."""
    cpu_s: float
    wall_s: float

    @property
    def stopped(self) -> int:
        """Mutants that a clock stopped."""
        return sum(fate == "timeout" for _, fate in self.mutants)

    def fate(self, word: str) -> list[str]:
        return [text for text, fate in self.mutants if fate == word]


def run(tool: str, environment: Path, source: str, entry_point: str, tests: Sequence[Test]) -> Ran:
    """Run `cosmic-ray` or `mutmut` from a virtual environment. Raises CalledProcessError when the tool fails."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "subject.py").write_text(source)
        cases = json.dumps([[test.arguments, test.expected] for test in tests])
        (place / "test_subject.py").write_text(TESTS.format(entry_point=entry_point, cases=cases))
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        mutants = (_cosmic_ray if tool == "cosmic-ray" else _mutmut)(place, environment.absolute() / "bin", source)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Ran(tool, tuple(mutants), cpu_s, time.monotonic() - start)


def _call(place: Path, *command: object) -> str:
    done = subprocess.run([str(word) for word in command], cwd=place, capture_output=True, text=True, check=True)
    return done.stdout


def _cosmic_ray(place: Path, programs: Path, source: str) -> list[tuple[str, str]]:
    (place / "run.toml").write_text(COSMIC_RAY.format(python=programs / "python", timeout_s=5.0))
    _call(place, programs / "cosmic-ray", "init", "run.toml", "run.sqlite")
    _call(place, programs / "cosmic-ray", "exec", "run.toml", "run.sqlite")
    found = []
    for line in _call(place, programs / "cosmic-ray", "dump", "run.sqlite").splitlines():
        result = json.loads(line)[1]
        fate = "timeout" if result["output"] == "timeout" else result["test_outcome"]
        found.append((_normal(_patched(source, result["diff"])), fate))
    return found


def _patched(source: str, difference: str) -> str:
    """The source with a unified diff of one or more hunks applied."""
    lines, out, at = source.splitlines(), [], 0
    for line in difference.splitlines()[3:]:
        if hunk := re.match(r"@@ -(\d+)", line):
            start = int(hunk[1]) - 1
            out += lines[at:start]
            at = start
        elif line.startswith("+"):
            out.append(line[1:])
        elif at < len(lines):  # cosmic-ray ends its diffs with an empty context line
            if not line.startswith("-"):
                out.append(lines[at])
            at += 1
    return "\n".join(out + lines[at:]) + "\n"


def _mutmut(place: Path, programs: Path, source: str) -> list[tuple[str, str]]:
    (place / "setup.cfg").write_text(MUTMUT)
    _call(place, programs / "mutmut", "run")
    fates = dict(re.findall(r"subject\.(\S+): (\w+)", _call(place, programs / "mutmut", "results", "--all", "true")))
    mutated = {
        f.name: f
        for f in ast.parse((place / "mutants" / "subject.py").read_text()).body
        if isinstance(f, ast.FunctionDef)
    }
    found = []
    for name, fate in fates.items():
        tree = ast.parse(source)
        for number, node in enumerate(tree.body):
            if isinstance(node, ast.FunctionDef) and name.startswith(f"x_{node.name}__mutmut_"):
                changed = mutated[name]
                changed.name, changed.decorator_list = node.name, node.decorator_list
                tree.body[number] = changed
        found.append((ast.unparse(tree), fate))
    return found


def _normal(text: str) -> str:
    return ast.unparse(ast.parse(text))
