"""Krippendorff's alpha against the examples that he published with their results."""

import pytest

from proceval.statistics import krippendorff_alpha


def test_two_observers_of_binary_data_without_gaps() -> None:
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(list(zip(first, second, strict=True))) == pytest.approx(0.095, abs=5e-4)


def test_four_observers_of_nominal_data_with_gaps() -> None:
    """Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": 12 units, 0.743."""
    rows = (
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . 3",
        ". 3 3 3 2 3 4 2 2 5 1 .",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    )
    units = [[value for value in unit if value != "."] for unit in zip(*(row.split() for row in rows), strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)


def test_its_ends() -> None:
    assert krippendorff_alpha([(True, True), (False, False)]) == 1.0
    assert krippendorff_alpha([(True, False), (False, True)]) == pytest.approx(-0.5)
    assert krippendorff_alpha([(True, True), (True, True)]) is None
    assert krippendorff_alpha([(True,), (False,)]) is None
    assert krippendorff_alpha([]) is None
