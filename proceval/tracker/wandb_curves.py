"""A run's history: how accuracy and spending grew over its samples, and what each tier came to, as rows of scalars."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
PARTS = ("model", "strategy", "mode", "arm", "base_url")

STEPS = {"accuracy/*": "accuracy/samples", "spent/*": "accuracy/samples", "tier/*": "tier/number", "curve/*": "curve/k"}
"""Metrics -> the metric that they are drawn against."""

POINTS = 200
"""Most points of a curve over samples; they lie evenly and the last is always among them."""


def curves(contestants: Sequence[Mapping[str, Any]], samples: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Rows to log in order; with several contestants their names stand after the first slash. Undefined is left out."""
    rows = list(samples)
    for contestant in contestants:
        prefix = "" if len(contestants) == 1 else f"{contestant['name']}/"
        own = [row for row in rows if all(row.get(part) == contestant.get(part) for part in PARTS)]
        yield from _over_samples(prefix, own)
        for number, (_, cell) in enumerate(contestant["by_tier"].items()):
            low, high = cell["interval"] or (None, None)
            row = {f"tier/{prefix}pass@1": cell["accuracy"], f"tier/{prefix}low": low, f"tier/{prefix}high": high}
            yield {"tier/number": number} | {name: value for name, value in row.items() if value is not None}
        for k, value in contestant["pass_curve"]:
            yield {"curve/k": k, f"curve/{prefix}pass@k": value}


def _over_samples(prefix: str, samples: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """Share of scored samples that passed, tokens and cost, so far; a sum ends where a summand is unknown."""
    scored = passed = 0
    tokens: int | None = 0
    cost: float | None = 0.0
    every = max(1, -(-len(samples) // POINTS))
    for number, sample in enumerate(samples, 1):
        scored += bool(sample["scored"])
        passed += bool(sample["passed"])
        tokens = _plus(_plus(tokens, sample["prompt_tokens"]), sample["completion_tokens"])
        cost = _plus(cost, sample["cost_usd"])
        if number % every and number != len(samples):
            continue
        row = {f"accuracy/{prefix}so_far": passed / scored if scored else None}
        row |= {f"spent/{prefix}tokens": tokens, f"spent/{prefix}usd": cost}
        yield {"accuracy/samples": number} | {name: value for name, value in row.items() if value is not None}


def _plus(sum_so_far: Any, more: Any) -> Any:
    return None if sum_so_far is None or more is None else sum_so_far + more
