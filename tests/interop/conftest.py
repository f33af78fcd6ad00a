"""A small release, completions of every kind, and what proceval itself says of each."""

from pathlib import Path
from typing import Any

import pytest

import proceval
from proceval.release import recheck, rows
from tests.interop.cases import KINDS, PASSES
from tests.release.made import exported, made  # noqa: F401


@pytest.fixture(scope="session")
def published(exported: Path) -> dict[str, dict[str, Any]]:  # noqa: F811
    """Family -> its row."""
    return {row["family"]: row for _, row in recheck.rows(exported)}


@pytest.fixture(scope="session")
def columns(published: dict[str, Any]) -> dict[str, list[dict[str, str]]]:
    """Mode -> columns; a column gives each family one kind of completion, so that each kind meets two families or more."""
    found: dict[str, list[dict[str, str]]] = {}
    for mode, kinds in KINDS.items():
        names = list(kinds(next(iter(published.values()))))
        needed = -(-2 * len(names) // len(published))
        found[mode] = [
            {family: names[(n * len(published) + place) % len(names)] for place, family in enumerate(published)}
            for n in range(needed)
        ]
    return found


@pytest.fixture(scope="session")
def verdicts(published: dict[str, Any], columns: dict[str, Any]) -> dict[str, list[dict[str, bool]]]:
    """Mode -> for each column what proceval's own judge says of each family's completion: whether it passes."""
    found: dict[str, list[dict[str, bool]]] = {}
    for mode, kinds in KINDS.items():
        found[mode] = [
            {
                family: proceval.score(rows.problem(row), kinds(row)[column[family]], f"track.mode={mode}").outcome
                == "passed"
                for family, row in published.items()
            }
            for column in columns[mode]
        ]
        for column, verdict in zip(columns[mode], found[mode], strict=True):
            assert verdict == {family: kind in PASSES for family, kind in column.items()}, "the cases themselves"
    return found
