"""Sizes of array instances and the check that an argument is an array of integers."""

from typing import Annotated

from pydantic import Field

from proceval.domain import family
from proceval.errors import Malformed
from proceval.protocols import Instance
from proceval.schema import Json

LARGEST_NUMBER = 10**12
"""Most that a parameter may let the sampler draw: numbers as long as these are hard enough to copy."""


class Level(family.Level):
    """Sizes of one tier."""

    length: Annotated[
        family.Range,
        family.span(3, 20_000),
        Field(description="two integers [low, high] with 3 <= low <= high <= 20000"),
    ]
    """Numbers in the array."""

    def sizes(self, instance: Instance) -> dict[str, list[int]]:
        return {"length": [len(instance["array"])]}


def check_integers(array: Json) -> None:
    """Raises Malformed unless the value is a non-empty list of integers."""
    if not isinstance(array, list) or not array or not all(map(family.is_integer, array)):
        raise Malformed("array must be a non-empty list of integers")
