"""Chooses companion tests: the fewest instances that kill what the main instance leaves alive."""

from collections.abc import Mapping

from proceval.seeding import canonical


def cover(rows: Mapping[int, set[str]], sizes: Mapping[int, int], wanted: set[str], limit: int) -> list[int]:
    """Greedy cover: instances (by number) whose kills together hold every wanted mutant, as far as the rows go.

    `rows` gives what each instance kills, `sizes` how large it is; ties go to the smaller, then to the earlier one. At
    most `limit` instances are taken.
    """
    open_mutants = wanted & set().union(*rows.values()) if rows else set()
    chosen: list[int] = []
    while open_mutants and len(chosen) < limit:
        best = max(rows, key=lambda number: (len(rows[number] & open_mutants), -sizes[number], -number))
        chosen.append(best)
        open_mutants -= rows[best]
    for number in list(chosen):  # a later choice may have made an earlier one superfluous
        rest = [other for other in chosen if other != number]
        if rows[number] & wanted <= set().union(*(rows[other] for other in rest)):
            chosen = rest
    return chosen


def size(instance: object) -> int:
    """Length of the instance's JSON text: what a test costs to prove, to store and to read."""
    return len(canonical(instance))


def distinct_rows(kills: Mapping[str, frozenset[object]]) -> int:
    """How many different sets of tests kill a mutant: mutants with one row are one fault for these tests."""
    return len({row for row in kills.values() if row})


def dominators(kills: Mapping[str, frozenset[object]]) -> int:
    """How many rows hold no other row: a suite that kills these kills all (Ammann, Delamaro and Offutt, 2014)."""
    rows = {row for row in kills.values() if row}
    return sum(1 for row in rows if not any(other < row for other in rows))
