"""Chooses companion tests: the fewest instances that kill what the main instance leaves alive."""

from collections.abc import Mapping

from proceval.seeding import canonical


def cover(
    kills: Mapping[int, set[str]], costs: Mapping[int, tuple[float, ...]], wanted: set[str], limit: int
) -> list[int]:
    """Greedy cover: instances (by number) whose kills together hold every wanted mutant, as far as they go.

    `kills` gives what each instance kills; ties go to the lower cost, then to the lower number. At most `limit`
    instances are taken.
    """
    open_mutants = wanted & set().union(*kills.values())
    chosen: list[int] = []
    while open_mutants and len(chosen) < limit:
        best = min(kills, key=lambda number: (-len(kills[number] & open_mutants), costs[number], number))
        chosen.append(best)
        open_mutants -= kills[best]
    for number in list(chosen):  # a later choice may have made an earlier one superfluous
        rest = [other for other in chosen if other != number]
        if kills[number] & wanted <= set().union(*(kills[other] for other in rest)):
            chosen = rest
    return chosen


def fill(
    chosen: list[int],
    kills: Mapping[int, set[str]],
    costs: Mapping[int, tuple[float, ...]],
    wanted: set[str],
    least: int,
) -> list[int]:
    """The chosen instances and, up to `least`, those that kill most of what no chosen one kills."""
    while len(chosen) < least:
        rest = {number: killed for number, killed in kills.items() if number not in chosen}
        told = set().union(*(kills[number] for number in chosen))
        more = cover(rest, costs, wanted - told, 1) or cover(rest, costs, wanted, 1)
        if not more:
            break
        chosen = chosen + more
    return chosen


def size_class(instance: object) -> int:
    """Bits of the length of the instance's JSON text: what a test costs to prove, to store and to read, roughly."""
    return len(canonical(instance)).bit_length()


def distinct_rows(kills: Mapping[str, frozenset[object]]) -> int:
    """How many different sets of tests kill a mutant: mutants with one row are one fault for these tests."""
    return len({row for row in kills.values() if row})


def dominators(kills: Mapping[str, frozenset[object]]) -> int:
    """How many rows hold no other row: a suite that kills these kills all (Ammann, Delamaro and Offutt, 2014)."""
    rows = {row for row in kills.values() if row}
    return sum(1 for row in rows if not any(other < row for other in rows))
