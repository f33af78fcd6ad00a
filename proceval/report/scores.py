"""The part of a summary that judges models: one cell of figures per contestant and domain, family or tier."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import get_args

from proceval.report.evidence import Plain, counts, grouped, tier_order
from proceval.report.run import printable
from proceval.schema import UNSCORED, Outcome, Verdict
from proceval.statistics import clustered_interval, mean, pass_at_k, pass_hat_k

OFFLINE = {
    "mock": "mock results show the machinery, they support no claim about difficulty",
    "scripted_reviewer": "scripted reviews show the machinery, they support no claim about a skill",
    "gold": "gold submits the answer key: its results test the harness, not a model",
    **dict.fromkeys(
        (f"scripted_agent/{name}" for name in ("gold", "clumsy", "lazy", "cheating", "cheat")),
        "scripted_agent runs scripts that lie beside the cases: its results test the harness, not a model",
    ),
}
"""What must stand beside the results of models that are handed the key."""

PARTS = ("model", "strategy", "mode", "arm", "base_url")
"""What makes a contestant; a name shows the model and whatever else tells two contestants apart."""


def summarise_scores(verdicts: Sequence[Verdict], ks: Sequence[int]) -> Plain:
    """Contestants in order of name, each with cells overall and by domain, family, tier, and family and tier."""
    found = contestants(verdicts)
    return {
        "ks": list(ks),
        "examples": _examples(found),
        "contestants": [
            {
                "name": name,
                **{part: getattr(rows[0], part) for part in PARTS},
                "offline": rows[0].model if rows[0].model in OFFLINE else None,
                "overall": cell(rows, ks),
                "pass_curve": pass_curve(rows),
                "by_domain": {n: cell(r, ks) for n, r in grouped(rows, lambda v: v.domain).items()},
                "by_family": {n: cell(r, ks) for n, r in grouped(rows, lambda v: v.family).items()},
                "by_tier": {n: cell(r, ks) for n, r in grouped(rows, lambda v: v.difficulty, tier_order).items()},
                "by_family_and_tier": {
                    n: {t: cell(r, ks) for t, r in grouped(members, lambda v: v.difficulty, tier_order).items()}
                    for n, members in grouped(rows, lambda v: v.family).items()
                },
            }
            for name, rows in found.items()
        ],
    }


def contestants(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Verdicts by contestant, under the shortest names that tell them apart: model, then whatever differs."""
    groups = grouped(verdicts, lambda v: "\0".join(str(getattr(v, part) or "") for part in PARTS))
    heads = [rows[0] for rows in groups.values()]
    differing = [part for part in PARTS[1:] if len({getattr(head, part) for head in heads}) > 1]
    return {
        ", ".join([head.model, *(str(getattr(head, part) or "default") for part in differing)]): rows
        for head, rows in zip(heads, groups.values(), strict=True)
    }


def cell(verdicts: Sequence[Verdict], ks: Sequence[int]) -> Plain:
    """All figures of some samples of one contestant.

    Scores are means over problems; a problem with fewer than k scored samples has no pass@k (one of k passes) or pass^k
    (all k pass) and is not in the mean: `problems` says over how many `of` those with any scored sample it runs, and
    `accuracy` beside it is pass@1 of these very problems; it is null over none. The cell's own `accuracy` is pass@1 of
    all, with its interval clustered by prompt; `bounds` are accuracy if every unscored sample had failed, or passed.
    """
    tally = _tally(verdicts)
    prompts = {v.problem_id: v.prompt_sha256 for v in verdicts}
    scored = [v for v in verdicts if v.scored]
    first = mean_over_problems(tally, 1)
    return {
        "samples": len(verdicts),
        "scored": len(scored),
        "passed": sum(v.passed for v in scored),
        "unscored": counts(v.outcome for v in verdicts if not v.scored),
        "problems": len(tally),
        "prompts": len(set(prompts.values())),
        "accuracy": None if first is None else float(first),
        "interval": interval(tally, prompts),
        "bounds": _bounds(tally),
        "pass_at_k": {str(k): _over_problems(tally, k, pass_at_k) for k in ks},
        "pass_hat_k": {str(k): _over_problems(tally, k, pass_hat_k) for k in ks},
        "outcomes": counts(v.outcome for v in verdicts),
        "latency_s": _total([v.latency_s for v in verdicts]),
        "prompt_tokens": _total([v.prompt_tokens for v in verdicts]),
        "completion_tokens": _total([v.completion_tokens for v in verdicts]),
        "cost_usd": _total([v.cost_usd for v in verdicts]),
    }


Tally = Mapping[str, tuple[int, int, int]]
"""Problem id -> (scored, passed, all) samples."""

Figure = Callable[[int, int, int], Fraction | None]
"""pass@k or pass^k of one problem from its scored samples, passed samples and k."""


def _tally(verdicts: Sequence[Verdict]) -> Tally:
    return {
        problem: (sum(v.scored for v in rows), sum(v.scored and v.passed for v in rows), len(rows))
        for problem, rows in grouped(verdicts, lambda v: v.problem_id).items()
    }


def mean_over_problems(tally: Tally, k: int, figure: Figure = pass_at_k) -> Fraction | None:
    """Mean of an exact figure over the problems that have one, or None."""
    return mean([value for n, c, _ in tally.values() if (value := figure(n, c, k)) is not None])


def pass_curve(verdicts: Sequence[Verdict], longest: int = 100) -> list[list[float]]:
    """[k, pass@k] from k = 1 to the fewest scored samples of a problem, every point over the same problems."""
    tally = _tally(verdicts)
    shortest = min((n for n, _, _ in tally.values()), default=0)
    points = ((k, mean_over_problems(tally, k)) for k in range(1, min(shortest, longest) + 1))
    return [[k, float(value)] for k, value in points if value is not None]


def interval(tally: Tally, prompts: Mapping[str, str]) -> list[float] | None:
    """95% confidence interval of accuracy, clustered by prompt; null for fewer than two prompts."""
    clusters: dict[str, list[float]] = {}
    for problem, (n, c, _) in tally.items():
        if n:
            clusters.setdefault(prompts[problem], []).append(c / n)
    found = clustered_interval(list(clusters.values()))
    return None if found is None or found.low is None or found.high is None else [found.low, found.high]


def _over_problems(tally: Tally, k: int, figure: Figure) -> Plain:
    able = {problem: row for problem, row in tally.items() if row[0] >= k}
    value, first = mean_over_problems(able, k, figure), mean_over_problems(able, 1)
    return {
        "value": None if value is None else float(value),
        "exact": None if value is None else str(value),
        "problems": len(able),
        "of": sum(n > 0 for n, _, _ in tally.values()),
        "accuracy": None if first is None else float(first),
    }


def _bounds(tally: Tally) -> list[float] | None:
    if not tally:
        return None
    worst = sum((Fraction(c, m) for _, c, m in tally.values()), Fraction(0)) / len(tally)
    best = sum((Fraction(c + m - n, m) for n, c, m in tally.values()), Fraction(0)) / len(tally)
    return [float(worst), float(best)]


def _total(values: Sequence[float | None]) -> Plain:
    """`total` is null as soon as one sample's value is unknown; `known` sums the others and `unknown` counts them."""
    known = [v for v in values if v is not None]
    unknown = len(values) - len(known)
    return {
        "total": sum(known) if known and not unknown else None,
        "known": sum(known) if known else None,
        "unknown": unknown,
        "median": median(known) if known else None,
        "max": max(known, default=None),
    }


def outcome_owner() -> dict[str, str]:
    """Every outcome of a sample with whose doing it is."""
    faults = {outcome: outcome.removesuffix("_fault") for outcome in UNSCORED} | {"passed": "nobody"}
    return {outcome: faults.get(outcome, "model") for outcome in get_args(Outcome)}


def _examples(found: Mapping[str, Sequence[Verdict]]) -> Plain:
    """The first sample of each outcome but `passed`, in order of contestant, problem and sample."""
    chosen: Plain = {}
    for name, rows in found.items():
        for verdict in sorted(rows, key=lambda v: (v.problem_id, v.sample)):
            if verdict.outcome != "passed" and verdict.outcome not in chosen:
                place = verdict.model_dump(include={"problem_id", "sample"})
                chosen[verdict.outcome] = {"contestant": name, **place, "detail": printable(verdict.detail)}
    return {outcome: chosen[outcome] for outcome in get_args(Outcome) if outcome in chosen}
