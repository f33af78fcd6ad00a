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
        ("def f(x, y):\n    return x\n", GOOD, r"t\.jsonl, line 1: f\(x, y\) is not given y"),
        ("def f(x, *, y):\n    return x\n", GOOD, r"line 1: f\(x, \*, y\) is not given y"),
        ("def f(z=0):\n    return z\n", "\n" + GOOD, r"t\.jsonl, line 2: f\(z=0\) has no parameter x"),
        ("def f(x, /):\n    return x\n", GOOD, "line 1: .* by name: x is positional only"),
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


@pytest.mark.parametrize(
    "function", ["def f(x, y=0):", "def f(*, x):", "def f(**given):", "def f(y=0, *, x=1):", "@given\ndef f(y):"]
)
def test_what_a_function_can_take_is_read(tmp_path: Path, function: str) -> None:
    (tmp_path / "f.py").write_text(f"def f(q):\n    return q\n\n\n{function}\n    return 2\n")
    (tmp_path / "t.jsonl").write_text(GOOD)
    assert len(read(tmp_path / "f.py", tmp_path / "t.jsonl")[1]) == 1
