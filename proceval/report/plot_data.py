"""What each figure shows, as rows: pure functions of a summary and its records, so that a test can read a figure.

Every row carries its contestant's name; a row exists only where its value is defined. No function returns a guess.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from proceval.report.evidence import UNKNOWN, Plain
from proceval.report.evidence_sheets import floor
from proceval.report.scores import contestants, outcome_owner
from proceval.schema import Certificate, Problem, Verdict

Row = dict[str, Any]


def accuracy_by_tier(summary: Plain) -> list[Row]:
    """contestant, tier, accuracy, low, high (null where no interval exists), floor (or null)."""
    return [
        {
            "contestant": contestant["name"],
            "tier": tier,
            "accuracy": cell["accuracy"],
            "low": cell["interval"] and cell["interval"][0],
            "high": cell["interval"] and cell["interval"][1],
            "floor": floor(summary, tier=tier),
        }
        for contestant in _contestants(summary)
        for tier, cell in contestant["by_tier"].items()
        if cell["accuracy"] is not None
    ]


def pass_curves(summary: Plain) -> list[Row]:
    """contestant, k, value: only contestants with at least two points."""
    return [
        {"contestant": contestant["name"], "k": k, "value": value}
        for contestant in _contestants(summary)
        if len(contestant["pass_curve"]) > 1
        for k, value in contestant["pass_curve"]
    ]


def failures(summary: Plain) -> list[Row]:
    """contestant, tier, outcome, samples, share of the cell's samples; outcomes that occur nowhere are left out."""
    cells = [(c["name"], tier, cell) for c in _contestants(summary) for tier, cell in c["by_tier"].items()]
    present = [outcome for outcome in outcome_owner() if any(outcome in cell["outcomes"] for _, _, cell in cells)]
    return [
        {
            "contestant": name,
            "tier": tier,
            "outcome": outcome,
            "samples": cell["outcomes"].get(outcome, 0),
            "share": cell["outcomes"].get(outcome, 0) / cell["samples"],
        }
        for name, tier, cell in cells
        for outcome in present
    ]


def frontier(summary: Plain, cost: str) -> list[Row]:
    """contestant, accuracy, cost a sample, best (nobody is at least as accurate and cheaper); cost: `tokens`, `usd`.

    A contestant with a sample of unknown cost has no place in it.
    """
    rows = []
    for contestant in _contestants(summary):
        cell = contestant["overall"]
        spent = _cost(cell, cost)
        if cell["accuracy"] is not None and spent is not None:
            rows.append({"contestant": contestant["name"], "accuracy": cell["accuracy"], "cost": spent})
    for row in rows:
        row["best"] = not any(_dominates(other, row) for other in rows)
    return sorted(rows, key=lambda row: (row["cost"], row["contestant"]))


def _cost(cell: Plain, cost: str) -> float | None:
    parts = ("cost_usd",) if cost == "usd" else ("prompt_tokens", "completion_tokens")
    totals = [cell[part]["total"] for part in parts]
    return None if None in totals else sum(totals) / cell["samples"]


def _dominates(other: Row, row: Row) -> bool:
    at_least = other["accuracy"] >= row["accuracy"] and other["cost"] <= row["cost"]
    return at_least and (other["accuracy"], other["cost"]) != (row["accuracy"], row["cost"])


def mutation_and_accuracy(summary: Plain) -> list[Row]:
    """contestant, family, score (all tests), main_score (main test alone), accuracy."""
    audited = (summary["audit"] or {"by_family": {}})["by_family"]
    return [
        {
            "contestant": contestant["name"],
            "family": family,
            "score": audited[family]["score"],
            "main_score": audited[family]["main_score"],
            "accuracy": cell["accuracy"],
        }
        for contestant in _contestants(summary)
        for family, cell in contestant["by_family"].items()
        if cell["accuracy"] is not None and family in audited and audited[family]["score"] is not None
    ]


def guess_floors(summary: Plain) -> list[Row]:
    """contestant (or null without verdicts), family, floor, accuracy (or null): families with enough problems."""
    rows = []
    for family in summary["guesses"] or {}:
        level = floor(summary, family=family)
        if level is None:
            continue
        judged = [c for c in _contestants(summary) if family in c["by_family"]]
        scores = {c["name"]: c["by_family"][family]["accuracy"] for c in judged}
        for name, accuracy in (scores or {None: None}).items():
            rows.append({"contestant": name, "family": family, "floor": level, "accuracy": accuracy})
    return rows


def distribution(verdicts: Sequence[Verdict], figure: str) -> list[Row]:
    """contestant, tier, value of each sample where it is known; figure: `latency_s` or `tokens` (of the completion)."""
    field = "completion_tokens" if figure == "tokens" else figure
    return [
        {"contestant": name, "tier": verdict.difficulty, "value": value}
        for name, rows in contestants(verdicts).items()
        for verdict in rows
        if (value := getattr(verdict, field)) is not None
    ]


def proof_work(certificates: Iterable[Certificate], problems: Sequence[Problem]) -> list[Row]:
    """family, tier, value: the solver's resource count over the queries that prove a problem's main answer.

    Companion tests are left out: they come in the same sizes whatever the tier.
    """
    place = {p.id: (p.family, p.difficulty) for p in problems}
    rows = []
    for certificate in certificates:
        counts = [query.resource_count for query in certificate.queries]
        if certificate.test == 0 and counts and None not in counts:
            family, tier = place.get(certificate.problem_id, (UNKNOWN, UNKNOWN))
            rows.append({"family": family, "tier": tier, "value": sum(c for c in counts if c is not None)})
    return rows


def _contestants(summary: Plain) -> list[Plain]:
    return list((summary["scores"] or {"contestants": []})["contestants"])
