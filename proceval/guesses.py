"""The guess floor: how often a trivial guess hits the key, measured over the problems of one family and tier.

A benchmark score means little beside an unknown floor: published sets hold 38.6% to 68.8% of one answer, or yield 93.5%
to an echo of the input.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from proceval.schema import Json, Problem
from proceval.seeding import canonical


class Floor:
    """Streaming counts for one cell; memory grows with the number of distinct answers only."""

    def __init__(self) -> None:
        self.problems = 0
        self.answers: Counter[str] = Counter()
        self.hits: Counter[str] = Counter()

    def add(self, problem: Problem) -> None:
        self.problems += 1
        key = canonical(problem.expected)
        self.answers[key] += 1
        for shortcut, guess in shortcuts(problem.arguments):
            self.hits[shortcut] += canonical(guess) == key

    def report(self) -> dict[str, Any]:
        """Counts and shares; shares are None when there is no problem."""
        answer, share = self._best(self.answers)
        shortcut, hit = self._best(self.hits)
        return {
            "problems": self.problems,
            "distinct_answers": len(self.answers),
            "commonest_answer": answer,
            "commonest_share": share,
            "best_shortcut": shortcut,
            "shortcut_share": hit,
        }

    def _best(self, counts: Counter[str]) -> tuple[str | None, float | None]:
        if not self.problems or not counts:
            return None, None
        name, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        return name, count / self.problems


def shortcuts(arguments: dict[str, Json], prefix: str = "") -> Iterator[tuple[str, Json]]:
    """Guesses that read the instance without solving it: echo a number, count things, take a middle or an end."""
    for name, value in arguments.items():
        path = f"{prefix}{name}"
        if isinstance(value, bool):
            continue
        if isinstance(value, int):
            yield f"echo {path}", value
            yield f"{path} plus 1", value + 1
            yield f"{path} minus 1", value - 1
            yield f"half of {path}", value // 2
        elif isinstance(value, list):
            yield f"length of {path}", len(value)
            yield f"half the length of {path}", len(value) // 2
            if value and all(type(x) is int for x in value):
                yield f"first of {path}", value[0]
                yield f"largest of {path}", max(value)
        elif isinstance(value, dict):
            yield from shortcuts(value, f"{path}.")
