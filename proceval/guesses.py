"""The guess floor: how often a trivial guess hits the key, measured over the problems of one family and tier.

A benchmark score means little beside an unknown floor: published sets hold 38.6% to 68.8% of one answer, or yield 93.5%
to an echo of the input.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from proceval.register import Register
from proceval.schema import Json, Problem
from proceval.seeding import canonical


def floor(problems: Iterable[Problem | None]) -> dict[str, Any]:
    """Counts and shares over the problems of one cell; shares are None when there is no problem.

    Of answers that come up equally often the first in text order is named.
    """
    answers = Register("answer (key TEXT PRIMARY KEY, hits INTEGER) WITHOUT ROWID")
    hits: Counter[str] = Counter()
    total = 0
    for problem in filter(None, problems):
        total += 1
        key = canonical(problem.expected)
        answers.put("INSERT INTO answer VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET hits = hits + 1", key)
        for name, guess in shortcuts(problem.arguments):
            hits[name] += canonical(guess) == key
    answer, often = answers.one("SELECT key, hits FROM answer ORDER BY hits DESC, key LIMIT 1") or (None, 0)
    shortcut = min(hits, key=lambda name: (-hits[name], name), default=None)
    (distinct,) = answers.one("SELECT count(*) FROM answer")
    answers.close()
    return {
        "problems": total,
        "distinct_answers": distinct,
        "commonest_answer": answer,
        "commonest_share": often / total if answer is not None else None,
        "best_shortcut": shortcut,
        "shortcut_share": hits[shortcut] / total if shortcut is not None else None,
    }


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
