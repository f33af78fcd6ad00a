"""A table as plain text cells, and how figures are written in it."""

from dataclasses import dataclass

from proceval.report.evidence import Plain

NOTHING = "-"
"""Stands for undefined: null is never shown as 0."""

WORDS = frozenset(
    [
        *("family", "model", "owner", "tier", "which", "problem", "detail", "outcome", "operator", "job", "state"),
        *("case", "criterion", "kind", "evidence", "signal"),
        *("failed by the model", "by others"),
    ],
)
"""Columns that hold words and are set left; all others hold figures."""


@dataclass(frozen=True)
class Sheet:
    """One table; `notes` are sentences below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """Sentences that must not be overlooked."""


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f}%"


def whole(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def short(number: float | None) -> str:
    """Three significant digits: 950, 12.3k, 4.56M."""
    if number is None:
        return NOTHING
    units = iter(("", "k", "M", "G"))
    unit = next(units)
    while abs(number) >= 999.5 and unit != "G":
        number, unit = number / 1000, next(units)
    return f"{number:.3g}{unit}"


def listed(found: Plain) -> str:
    """`ambiguous 8, duplicate 4`, the largest first."""
    largest_first = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {whole(n)}" for name, n in largest_first) or "none"
