"""What people see of an audit: one golden sheet."""

from pathlib import Path

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
