"""The first index of a sorted array at which a target is reached."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, pairwise, product
from random import Random
from typing import Any

from proceval.domain.arrays.level import LARGEST_NUMBER, Level, check_integers
from proceval.domain.family import Base, is_integer
from proceval.errors import Malformed
from proceval.protocols import Instance, Truth
from proceval.schema import Json
from proceval.smt import Spec, integer


def monotonic_split(array: list[int], target: int) -> int:
    """Find the first position of a sorted array at which a target is reached.

    `array` is a non-empty list of integers of any size and sign in non-decreasing order; equal numbers may stand side
    by side. `target` is an integer that is at most the last number of the array.

    Return, as an int, the smallest index k, counted from 0, for which array[k] >= target.

    An array may hold hundreds of numbers, and each call has a CPU-time limit of a few seconds: a call that runs into it
    counts as wrong. Prefer a solution that uses the order and takes about as many steps as a binary search.
    """
    low = 0
    high = len(array)
    while low < high:
        middle = (low + high) // 2
        if array[middle] >= target:
            high = middle
        else:
            low = middle + 1
    return low


class MonotonicSplit(Base[Level]):
    """Sorted arrays with a planted first index; ties with the target and among the numbers are common."""

    domain = "arrays"
    version = 1
    logic = "QF_IDL"
    oracle_name = "scan"
    solver = monotonic_split
    level = Level
    source = "binary search (Knuth, The Art of Computer Programming 3, 1973)"

    def __init__(self, *, difficulty: Mapping[str, Any], length: Sequence[int] | None, spread: int):
        super().__init__(difficulty=difficulty, own={"length": length})
        self.spread = self.counted("spread", spread, LARGEST_NUMBER)

    def sample(self, rng: Random, tier: str) -> Instance:
        low, high = self.levels[tier].length
        index = rng.randint(0, high - 1)
        return _planted(rng, index, rng.randint(max(low, index + 1), high), self.spread)

    def validate(self, instance: Instance) -> None:
        self.fields(instance)
        check_integers(instance["array"])
        if not is_integer(instance["target"]):
            raise Malformed("target must be an integer")
        if any(a > b for a, b in pairwise(instance["array"])):
            raise Malformed("array must be in non-decreasing order")

    def specify(self, instance: Instance, spec: Spec) -> None:
        array, target = instance["array"], integer(instance["target"])
        k = spec.int("k")
        spec.rule("k is an index", f"(and (<= 0 {k}) (< {k} {len(array)}))")
        for j, number in enumerate(array):
            spec.rule("numbers before k miss the target", f"(=> (< {j} {k}) (< {integer(number)} {target}))")
            spec.rule("the number at k reaches the target", f"(=> (= {j} {k}) (>= {integer(number)} {target}))")
        spec.answer([k], lambda values: values[k])
        spec.direct("neighbours", lambda answer, _: splits(array, instance["target"], answer))

    def oracle(self, instance: Instance) -> Truth:
        return self.verdict(instance, _scan)

    def small(self) -> Iterator[Instance]:
        yield {"array": [], "target": 0}
        for length in (1, 2, 3):
            for array in product((-2, 0, 1), repeat=length):
                for target in range(-3, 3):
                    yield {"array": list(array), "target": target}
        for array in combinations_with_replacement((0, 1), 5):
            for target in (-1, 0, 1, 2):
                yield {"array": list(array), "target": target}
        yield from ({"array": [1, 2], "target": target} for target in (1.0, True, "1", None))

    def examples(self) -> Sequence[Instance]:
        shown = (([1, 3, 3, 8], 3), ([-4, 0, 9], 5), ([2, 6], -7))
        return [{"array": array, "target": target} for array, target in shown]

    def targeted(self, rng: Random) -> Iterator[Instance]:
        for array, target in (([3], 3), ([3], 2), ([1, 1, 1], 1), ([1, 1, 2], 2), ([0, 5, 5, 9], 5), ([-3, -1], -2)):
            yield {"array": array, "target": target}
        yield {"array": [-(2**64), 0, 2**64, 2**64 + 1], "target": 2**64 + 1}
        # Long enough that a search that has lost its logarithm overruns a generous step budget.
        long = list(range(0, 4000, 2))
        for target in (-1, 0, 5, 3990, 3997, 3998):
            yield {"array": long, "target": target}
        for _ in range(36):
            length = rng.randint(1, 9)
            yield _planted(rng, rng.randrange(length), length, 1)

    def canonical(self, instance: Instance, tier: str) -> Json:
        return [instance["array"], instance["target"]]

    def space(self, tier: str) -> int | None:
        return None


def _planted(rng: Random, index: int, length: int, spread: int) -> Instance:
    array = sorted(rng.randint(-spread * length, spread * length) for _ in range(length))
    array[index:] = [number + 1 for number in array[index:]]  # a step at the index, however the draw fell
    lowest = array[index - 1] + 1 if index else array[0] - spread
    return {"array": array, "target": rng.choice((array[index], rng.randint(lowest, array[index])))}


def _scan(array: list[int], target: int) -> Truth:
    """From the left, number by number."""
    for k, number in enumerate(array):
        if number >= target:
            return Truth("unique", k)
    return Truth("infeasible")


def splits(array: list[int], target: int, k: Any) -> bool:
    """In a sorted array everything before k misses the target if its left neighbour does."""
    if not is_integer(k, 0, len(array) - 1) or any(a > b for a, b in pairwise(array)):
        return False
    reached: bool = array[k] >= target and (k == 0 or array[k - 1] < target)
    return reached
