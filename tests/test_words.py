"""The words of a command line reach Hydra as they were meant."""

import pytest

from proceval import words


@pytest.mark.parametrize(
    ("given", "handed_on"),
    [
        ("id=354e60", 'id="354e60"'),
        ("id=0576277", 'id="0576277"'),
        ("id='354e60'", "id='354e60'"),
        ("id=null", "id=null"),
        ("seed=354e60", "seed=354e60"),
        ("count=3", "count=3"),
    ],
)
def test_an_id_is_text_whatever_it_looks_like(given: str, handed_on: str) -> None:
    assert words.literal([given]) == [handed_on]
