"""Somebody's own function and tests are read with sentences that name the file and line."""

from pathlib import Path

import pytest

from proceval.audit.own import read
from proceval.errors import InputError

GOOD = '{"arguments": {"x": 1}, "expected": 2}\n'


def test_reads_a_function_and_its_tests(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def f(x):\n    return x + 1\n")
    (tmp_path / "t.jsonl").write_text(GOOD + "\n" + GOOD)
    text, tests = read(tmp_path / "f.py", tmp_path / "t.jsonl")
    assert text.startswith("def f")
    assert [(test.arguments, test.expected) for test in tests] == [({"x": 1}, 2)] * 2


@pytest.mark.parametrize(
    ("function", "tests", "sentence"),
    [
        ("def f(x):\n    return x\n", GOOD + "{", "line 2: is not JSON"),
        ("def f(x):\n    return x\n", '{"arguments": [1], "expected": 2}', "line 1: needs `arguments`"),
        ("def f(x):\n    return x\n", '{"expected": 2}', "line 1: needs `arguments`"),
        ("def f(x):\n    return x\n", "[]", "line 1: needs `arguments`"),
        ("def f(x):\n    return x\n", "\n", "holds no test"),
        ("def f(x:\n", GOOD, "not Python"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, function: str, tests: str, sentence: str) -> None:
    (tmp_path / "f.py").write_text(function)
    (tmp_path / "t.jsonl").write_text(tests)
    with pytest.raises(InputError, match=sentence):
        read(tmp_path / "f.py", tmp_path / "t.jsonl")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.py cannot be read"):
        read(tmp_path / "none.py", tmp_path / "none.jsonl")
