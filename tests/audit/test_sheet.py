"""What people see of an audit: one golden sheet."""

from pathlib import Path

import pytest

from proceval.audit.sheet import sheet, side_by_side
from proceval.audit.standard import Standard
from proceval.schema import Test

CLAMP = '''def clamp(x, low, high):
    """x, moved into low..high."""
    if x < low:
        return low
    return min(x, high)
'''
GOLDEN = Path(__file__).with_name("golden_sheet.txt")


def test_the_sheet_is_golden(standard: Standard) -> None:
    tests = [
        Test(arguments={"x": x, "low": 2, "high": 9}, expected=expected, origin="main")
        for x, expected in ((5, 5), (-3, 2))
    ]
    report = standard.audit_function(CLAMP, tests)
    assert sheet(report, CLAMP, standard, width=90) == GOLDEN.read_text(encoding="utf-8")


def test_side_by_side_keeps_its_width_and_marks_what_differs() -> None:
    long = "def f(x):\n    y = 0\n    return x" + " + x" * 40 + "\n"
    rows = side_by_side(long, long.replace("y = 0", "y = 1").rstrip(), 60)
    assert all(len(row) <= 60 for row in rows)
    assert [row for row in rows if " | " in row] == ["    y = 0                    |     y = 1"]


@pytest.mark.parametrize(
    ("body", "did"),
    [
        ("return x + (x > 1) - 2 * (x > 2)", "test 2: returned 3, expected 2"),
        ("return {1: x, 2: True}.get(x, x)", "test 2: returned True, expected 2"),
        ("return 1 // (2 - x) and 1", "test 2: raised ZeroDivisionError, expected 2"),
        ("return 1 if x == 1 else lambda: x", "test 2: returned <function"),
        ("return 1 if x == 1 else 10 ** 5000", "test 2: returned an integer of 16610 bits, expected 2"),
        ("return 1 if x == 1 else [2] * 1000", "test 2: returned [2, 2"),
        ("while True: pass", "test 1: went over 10,000,000 steps, expected 1"),
        ("return y", "test 1: raised NameError, expected 1"),
    ],
)
def test_a_reference_that_fails_is_said_first_and_nothing_of_its_mutants(
    standard: Standard, body: str, did: str
) -> None:
    source = f"def f(x):\n    {body}\n"
    report = standard.audit_function(source, [Test(arguments={"x": x}, expected=x, origin="main") for x in (1, 2, 3)])
    first, *rest = sheet(report, source, standard).splitlines()
    assert first.startswith(f"the reference fails {did}")
    assert len(first) < 300
    assert rest == ["audit standard 1: withheld"]
    assert not report.accepted
