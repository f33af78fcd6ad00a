"""The report's figures counted by column: the same numbers as report.scores gives, from tables instead of records.

Problems with equally many scored and passed samples have the same pass@k, so each pattern is worked out once, exactly,
and weighed by how many problems show it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from proceval.console.problems import tiers
from proceval.report.scores import OFFLINE, PARTS
from proceval.statistics import clustered_interval, pass_at_k, pass_hat_k

Plain = dict[str, Any]
Patterns = Counter[tuple[int, int, int]]
"""(scored, passed, all) samples of a problem -> how many problems have it."""

LONGEST = 100
"""Points of a pass@k curve."""
AXES = {"domain": "domain", "family": "family", "tier": "difficulty"}


def scores(table: Any, ks: Sequence[int]) -> Plain:
    """Contestants in order of name, each with cells overall and by domain, family and tier."""
    import pyarrow as pa
    import pyarrow.compute as pc

    scored = pc.is_in(table["fault"].cast("string"), value_set=pa.array(["none", "model"]))
    passed = pc.and_(scored, pc.equal(table["outcome"].cast("string"), "passed"))
    table = table.append_column("is_scored", scored).append_column("is_passed", passed)
    groups = table.select(list(PARTS)).group_by(list(PARTS)).aggregate([]).to_pylist()
    groups.sort(key=lambda group: "\0".join(str(group[part] or "") for part in PARTS))
    differing = [part for part in PARTS[1:] if len({group[part] for group in groups}) > 1]
    found = []
    for group in groups:
        rows = _only(table, group)
        found.append({
            "name": ", ".join([group["model"], *(str(group[part] or "default") for part in differing)]),
            **{part: group[part] for part in PARTS},
            "offline": group["model"] if group["model"] in OFFLINE else None,
            "overall": cell(rows, ks),
            "pass_curve": _curve(_patterns(rows)),
            **{f"by_{axis}": _by(rows, column, ks) for axis, column in AXES.items()},
        })  # fmt: skip
    return {"ks": list(ks), "contestants": found}


def _only(table: Any, wanted: Plain) -> Any:
    import pyarrow.compute as pc

    for name, value in wanted.items():
        column = table[name].cast("string")
        table = table.filter(pc.is_null(column) if value is None else pc.equal(column, value))
    return table


def _by(rows: Any, column: str, ks: Sequence[int]) -> Plain:
    names = [name for name in rows[column].unique().to_pylist() if name is not None]
    ordered = tiers(names) if column == "difficulty" else sorted(names)
    return {name: cell(_only(rows, {column: name}), ks) for name in ordered}


def cell(rows: Any, ks: Sequence[int]) -> Plain:
    """All figures of some samples of one contestant, as report.scores.cell gives them."""
    import pyarrow.compute as pc

    problems = _problems(rows)
    patterns = _counted(problems)
    outcomes = _counts(rows["outcome"])
    first = _mean(patterns, 1, pass_at_k)
    worst = _weighed(patterns, lambda n, c, m: Fraction(c, m))
    best = _weighed(patterns, lambda n, c, m: Fraction(c + m - n, m))
    return {
        "samples": rows.num_rows,
        "scored": pc.sum(rows["is_scored"]).as_py() or 0,
        "passed": pc.sum(rows["is_passed"]).as_py() or 0,
        "unscored": _counts(rows.filter(pc.invert(rows["is_scored"]))["outcome"]),
        "problems": len(problems["scored"]),
        "prompts": len(set(problems["prompt"])),
        "accuracy": None if first is None else float(first),
        "interval": _interval(problems),
        "bounds": None if worst is None or best is None else [float(worst), float(best)],
        "pass_at_k": {str(k): _figure(patterns, k, pass_at_k) for k in ks},
        "pass_hat_k": {str(k): _figure(patterns, k, pass_hat_k) for k in ks},
        "outcomes": outcomes,
        **{name: _total(rows[name]) for name in ("latency_s", "prompt_tokens", "completion_tokens", "cost_usd")},
    }


def _problems(rows: Any) -> dict[str, list[Any]]:
    """For each problem: scored, passed and all samples, and its prompt, for which its place among the prompts stands."""
    prompts = rows["prompt_sha256"].combine_chunks()
    coded = rows.select(["problem_id", "is_scored", "is_passed"]).append_column("prompt", prompts.indices)
    groups = coded.group_by("problem_id").aggregate([
        ("is_scored", "sum"), ("is_passed", "sum"), ([], "count_all"), ("prompt", "max"),
    ])  # fmt: skip
    names = {"is_scored_sum": "scored", "is_passed_sum": "passed", "count_all": "all", "prompt_max": "prompt"}
    return {name: groups[column].to_pylist() for column, name in names.items()}


def _patterns(rows: Any) -> Patterns:
    return _counted(_problems(rows))


def _counted(problems: dict[str, list[Any]]) -> Patterns:
    return Counter(zip(problems["scored"], problems["passed"], problems["all"], strict=True))


Figure = Callable[[int, int, int], Fraction | None]


def _mean(patterns: Patterns, k: int, figure: Figure) -> Fraction | None:
    """Exact mean over the problems that have the figure, or None."""
    total, count = Fraction(0), 0
    for (n, c, _), times in patterns.items():
        value = figure(n, c, k)
        if value is not None:
            total, count = total + value * times, count + times
    return total / count if count else None


def _weighed(patterns: Patterns, share: Callable[[int, int, int], Fraction]) -> Fraction | None:
    count = patterns.total()
    return sum((share(*one) * times for one, times in patterns.items()), Fraction(0)) / count if count else None


def _figure(patterns: Patterns, k: int, figure: Figure) -> Plain:
    able = Counter({pattern: times for pattern, times in patterns.items() if pattern[0] >= k})
    value, first = _mean(able, k, figure), _mean(able, 1, pass_at_k)
    return {
        "value": None if value is None else float(value),
        "exact": None if value is None else str(value),
        "problems": able.total(),
        "of": sum(times for (n, _, _), times in patterns.items() if n),
        "accuracy": None if first is None else float(first),
    }


def _curve(patterns: Patterns) -> list[list[float]]:
    shortest = min((n for n, _, _ in patterns), default=0)
    points = ((k, _mean(patterns, k, pass_at_k)) for k in range(1, min(shortest, LONGEST) + 1))
    return [[k, float(value)] for k, value in points if value is not None]


def _interval(problems: dict[str, list[Any]]) -> list[float] | None:
    clusters: dict[Any, list[float]] = {}
    for n, c, prompt in zip(problems["scored"], problems["passed"], problems["prompt"], strict=True):
        if n:
            clusters.setdefault(prompt, []).append(c / n)
    found = clustered_interval(list(clusters.values()))
    return None if found is None or found.low is None or found.high is None else [found.low, found.high]


def _counts(column: Any) -> dict[str, int]:
    found = {one["values"]: one["counts"] for one in column.cast("string").value_counts().to_pylist()}
    return {name: found[name] for name in sorted(found)}


def _total(column: Any) -> Plain:
    import pyarrow.compute as pc

    known = column.drop_null()
    unknown = len(column) - len(known)
    total = pc.sum(known).as_py() if len(known) else None
    return {
        "total": None if unknown else total,
        "known": total,
        "unknown": unknown,
        "median": _median(known),
        "max": pc.max(known).as_py() if len(known) else None,
    }


def _median(known: Any) -> float | None:
    import pyarrow.compute as pc

    if not len(known):
        return None
    low, high = (
        pc.quantile(known, q=0.5, interpolation="lower")[0],
        pc.quantile(known, q=0.5, interpolation="higher")[0],
    )
    value: float = low.as_py() if low == high else (low.as_py() + high.as_py()) / 2
    return value
