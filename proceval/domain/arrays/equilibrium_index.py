"""The index that splits an array of positive integers into two equal sums, itself left out."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

from proceval.domain.arrays.level import LARGEST_NUMBER, Level, check_integers
from proceval.domain.family import Base, is_integer
from proceval.errors import Malformed
from proceval.protocols import Instance, Truth
from proceval.schema import Json
from proceval.smt import Spec, disj, integer


def equilibrium_index(array: list[int]) -> int:
    """Find the index at which an array balances.

    `array` is a list of strictly positive integers of any size. Its equilibrium index is the index i, counted from 0,
    for which the sum of all numbers before position i equals the sum of all numbers after it; the number at position i
    belongs to neither side, and the sum of no numbers is 0. Every array that is given has exactly one such index.

    Return that index as an int.

    An array may hold hundreds of numbers, and each call has a CPU-time limit of a few seconds: a call that runs into it
    counts as wrong. Prefer a solution that goes over the array a few times.
    """
    index = 0
    left = 0
    right = sum(array) - array[0]
    while left != right:
        left += array[index]
        index += 1
        right -= array[index]
    return index


class EquilibriumIndex(Base[Level]):
    """Arrays with a planted equilibrium; strict positivity leaves room for no other."""

    domain = "arrays"
    version = 1
    logic = "QF_LIA"
    oracle_name = "slice_sums"
    solver = equilibrium_index
    level = Level
    source = "running sums, folklore"

    def __init__(self, *, difficulty: Mapping[str, Any], length: Sequence[int] | None, largest_value: int):
        super().__init__(difficulty=difficulty, own={"length": length})
        self.largest_value = self.counted("largest_value", largest_value, LARGEST_NUMBER)

    def sample(self, rng: Random, tier: str) -> Instance:
        low, high = self.levels[tier].length
        # The index first and the length second: drawing them the other way round makes small indices common.
        index = rng.randint(1, high - 2)
        length = rng.randint(max(low, index + 2), high)
        left, right = ([rng.randint(1, self.largest_value) for _ in range(k)] for k in (index, length - 1 - index))
        light, heavy = sorted((left, right), key=sum)
        _spread(rng, light, sum(heavy) - sum(light))
        return {"array": [*left, rng.randint(1, self.largest_value), *right]}

    def validate(self, instance: Instance) -> None:
        self.fields(instance)
        check_integers(instance["array"])
        if min(instance["array"]) < 1:
            raise Malformed("array must hold strictly positive integers")

    def specify(self, instance: Instance, spec: Spec) -> None:
        array = instance["array"]
        index = spec.int("index")
        before = [spec.int(f"before_{j}") for j in range(len(array) + 1)]
        spec.rule("nothing stands before the first number", f"(= {before[0]} 0)")
        for j, number in enumerate(array):
            spec.rule("prefix sums", f"(= {before[j + 1]} (+ {before[j]} {integer(number)}))")
        after = [f"(- {before[-1]} {before[j + 1]})" for j in range(len(array))]
        balanced = [f"(and (= {index} {j}) (= {before[j]} {after[j]}))" for j in range(len(array))]
        spec.rule("both sides of the index weigh the same", disj(balanced))
        spec.answer([index], lambda values: values[index])
        spec.direct("balance", lambda answer, _: balances(array, answer))

    def oracle(self, instance: Instance) -> Truth:
        return self.verdict(instance, _by_slices)

    def small(self) -> Iterator[Instance]:
        yield {"array": []}
        for length in range(1, 5):
            for array in product(range(4), repeat=length):
                yield {"array": list(array)}
        for array in product((1, 2), repeat=6):
            yield {"array": list(array)}
        yield from ({"array": array} for array in ("11", None, [True], [1.0], [1, "1"]))

    def examples(self) -> Sequence[Instance]:
        return [{"array": [3, 1, 5, 4]}, {"array": [2, 7, 1, 1]}, {"array": [6]}]

    def targeted(self, rng: Random) -> Iterator[Instance]:
        for array in ([1], [9], [1, 1, 1], [2, 3, 2], [1, 5, 1], [4, 4, 9, 4, 4], [1, 1, 1, 1, 1], [3, 1, 1, 1, 1]):
            yield {"array": array}
        yield {"array": [2**64, 3, 2**64 - 1, 1]}
        yield {"array": [1] * 40 + [7] + [2] * 20}
        for _ in range(36):
            length = rng.randint(3, 9)
            index = rng.choice((1, length - 2, rng.randint(1, length - 2)))
            left, right = ([rng.randint(1, 6) for _ in range(k)] for k in (index, length - 1 - index))
            light, heavy = sorted((left, right), key=sum)
            _spread(rng, light, sum(heavy) - sum(light))
            yield {"array": [*left, rng.randint(1, 9), *right]}

    def canonical(self, instance: Instance, tier: str) -> Json:
        return instance["array"]

    def space(self, tier: str) -> int | None:
        return None


def _spread(rng: Random, numbers: list[int], surplus: int) -> None:
    """Adds the surplus to the numbers in random shares."""
    cuts = sorted(rng.randint(0, surplus) for _ in numbers[1:])
    for k, (start, end) in enumerate(zip([0, *cuts], [*cuts, surplus], strict=True)):
        numbers[k] += end - start


def _by_slices(array: list[int]) -> Truth:
    """Every index against the definition: quadratic, and in use at every size."""
    found = [i for i in range(len(array)) if sum(array[:i]) == sum(array[i + 1 :])]
    if len(found) == 1:
        return Truth("unique", found[0])
    return Truth("ambiguous" if found else "infeasible")


def balances(array: list[int], index: Any) -> bool:
    """Numbers above zero make the left sum grow and the right sum shrink with the index: they can meet only once."""
    positive = all(number > 0 for number in array)
    return positive and is_integer(index, 0, len(array) - 1) and sum(array[:index]) == sum(array[index + 1 :])
