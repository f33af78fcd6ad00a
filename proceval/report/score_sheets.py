"""Tables about models, made from a summary alone: scores beside the guess floor, and failures beside their owners."""

from collections.abc import Iterable

from proceval.report.cells import NOTHING, Sheet, listed, percent, whole
from proceval.report.evidence import Plain
from proceval.report.evidence_sheets import FEW, floor
from proceval.report.scores import OFFLINE, outcome_owner
from proceval.words import counted

SIDE_BY_SIDE = 5
"""Most models or tiers whose outcomes stand in columns."""
WIDE = 55
"""Characters of all their names together, up to which they fit side by side into 80 columns."""


def jobs(summary: Plain) -> list[Sheet]:
    """One line for each job of a sweep, the failed ones included; nothing for a single run."""
    if "jobs" not in summary:
        return []
    rows = []
    for job in summary["jobs"]:
        cells = [one["overall"] for one in job["contestants"]] or [None]
        for cell in cells:
            scored = NOTHING if cell is None else f"{cell['scored']}/{cell['samples']}"
            accuracy = NOTHING if cell is None else _accuracy(cell)
            rows.append((job["job"], job["state"], whole(job["problems"]), scored, accuracy))
    bad = [job["job"] for job in summary["jobs"] if job["state"] != "fine"]
    faults = [f"{job['job']}: {job['fault']}" for job in summary["jobs"] if job["fault"]]
    warnings = [f"{len(bad)} of {len(summary['jobs'])} jobs did not end fine: {', '.join(bad)}"] if bad else []
    columns = ("job", "state", "problems", "scored", "pass@1 [95%]")
    return [Sheet("Jobs of the sweep", columns, tuple(rows), (), (*warnings, *faults))]


def evaluation(summary: Plain) -> list[Sheet]:
    """Scores by contestant and tier, then how the failures happened and whose they are."""
    scores = summary["scores"]
    if scores is None:
        return [Sheet("Evaluation", (), (), ("no verdicts in this run: no model was judged",))]
    rows, notes = [], []
    for contestant in scores["contestants"]:
        name, overall = contestant["name"], contestant["overall"]
        rows.append((name, *_figures(overall, scores["ks"]), percent(floor(summary))))
        if len(contestant["by_tier"]) > 1:
            for tier, cell in contestant["by_tier"].items():
                rows.append((f"  {tier}", *_figures(cell, scores["ks"]), percent(floor(summary, tier=tier))))
        notes.append(f"{name}: {_spent(overall)}")
    if summary["problems"] and all(row[-1] == NOTHING for row in rows):
        notes.append(f"guess floor unknown: it takes {FEW} problems of a family and tier")
    columns = ("model", "scored", "pass@1 [95%]", *(f"pass@{k}" for k in scores["ks"] if k != 1), "floor")
    return [Sheet("Evaluation", columns, tuple(rows), tuple(notes), tuple(_warnings(scores))), failures(summary)]


def by_family(summary: Plain) -> Sheet:
    """Scores by contestant and family."""
    scores = summary["scores"] or {"contestants": [], "ks": []}
    rows = tuple(
        (contestant["name"], family, *_figures(cell, scores["ks"]), percent(floor(summary, family=family)))
        for contestant in scores["contestants"]
        for family, cell in contestant["by_family"].items()
    )
    columns = ("model", "family", "scored", "pass@1 [95%]", *(f"pass@{k}" for k in scores["ks"] if k != 1), "floor")
    return Sheet("Scores by family", columns, rows)


UNUSUAL = ("failed", "rewrote", "turn_limit", "case_fault", "budget")
"""Outcomes that only reviews, agents and runs with a budget can have: not told where they did not occur."""


def reliability(summary: Plain) -> Sheet:
    """pass^k by contestant and tier: the chance that all of k samples pass, where pass@k asks for one of them."""
    scores = summary["scores"] or {"contestants": [], "ks": []}
    ks = [k for k in scores["ks"] if k != 1]
    rows = tuple(
        (name, *(pass_at(cell, k, "pass_hat_k") for k in ks))
        for contestant in scores["contestants"]
        for name, cell in ((contestant["name"], contestant["overall"]), *_tiers(contestant))
    )
    return Sheet("All of k samples pass", ("model", *(f"pass^{k}" for k in ks)), rows if ks else ())


def _tiers(contestant: Plain) -> Iterable[tuple[str, Plain]]:
    """The tiers of a contestant, where it has more than one."""
    found = contestant["by_tier"]
    return ((f"  {tier}", cell) for tier, cell in found.items()) if len(found) > 1 else ()


def failures(summary: Plain) -> Sheet:
    """Outcomes with their owners: by tier for one contestant, else by contestant."""
    contestants = summary["scores"]["contestants"]
    single = contestants[0] if len(contestants) == 1 and len(contestants[0]["by_tier"]) > 1 else None
    cells: Plain = single["by_tier"] if single else {c["name"]: c["overall"] for c in contestants}
    owners = outcome_owner()
    if len(cells) > SIDE_BY_SIDE or sum(map(len, cells)) > WIDE:
        return _failures_in_words(cells, owners)
    present = [name for name in owners if any(name in cell["outcomes"] for cell in cells.values())]
    rows = [
        (name, owners[name], *(whole(cell["outcomes"].get(name, 0)) for cell in cells.values())) for name in present
    ]
    absent = [name for name in owners if name not in present and name not in UNUSUAL]
    notes = [f"did not occur: {', '.join(absent)}"] if absent else []
    return Sheet("Outcomes and whose they are", ("outcome", "owner", *cells), tuple(rows), tuple(notes))


def _failures_in_words(cells: Plain, owners: Plain) -> Sheet:
    """A line for each of many contestants: columns for all of them would not fit a terminal."""
    rows = []
    for name, cell in cells.items():
        found = {outcome: n for outcome, n in cell["outcomes"].items() if outcome != "passed"}
        its_own = {outcome: n for outcome, n in found.items() if owners[outcome] == "model"}
        others = {outcome: n for outcome, n in found.items() if outcome not in its_own}
        rows.append((name, whole(cell["outcomes"].get("passed", 0)), listed(its_own), listed(others)))
    return Sheet("Outcomes and whose they are", ("model", "passed", "failed by the model", "by others"), tuple(rows))


def examples(summary: Plain) -> Sheet:
    """One sample of each failure class."""
    found = (summary["scores"] or {"examples": {}})["examples"]
    rows = tuple(
        (outcome, one["contestant"], one["problem_id"], whole(one["sample"]), one["detail"])
        for outcome, one in found.items()
    )
    note = "look at one with: python -m proceval stage=show id=PROBLEM and the overrides of this run"
    return Sheet("An example of each failure", ("outcome", "model", "problem", "sample", "detail"), rows, (note,))


def _figures(cell: Plain, ks: Iterable[int]) -> tuple[str, ...]:
    rest = (pass_at(cell, k) for k in ks if k != 1)
    return (f"{cell['scored']}/{cell['samples']}", _accuracy(cell), *rest)


def pass_at(cell: Plain, k: int, figure: str = "pass_at_k") -> str:
    """pass@k or pass^k, with the problems that it is of where some have too few scored samples for it."""
    found = cell[figure][str(k)]
    return percent(found["value"]) + (f" ({found['problems']}/{found['of']})" if _fewer(found) else "")


def _fewer(found: Plain) -> bool:
    return bool(0 < found["problems"] < found.get("of", 0))  # older summaries do not say of how many


def _accuracy(cell: Plain) -> str:
    found = cell["interval"]
    return percent(cell["accuracy"]) + ("" if found is None else f" [{100 * found[0]:.0f}, {100 * found[1]:.0f}]")


def _spent(cell: Plain) -> str:
    """What the samples cost; sums over the known ones are said to be lower bounds where some are unknown."""
    prompt, answer, cost = cell["prompt_tokens"], cell["completion_tokens"], cell["cost_usd"]
    parts = [f"{counted(cell['problems'], 'problem')} in {counted(cell['prompts'], 'distinct prompt')}"]
    if prompt["known"] is None or answer["known"] is None:
        parts.append("tokens unknown")
    else:
        parts.append(f"{_at_least(prompt)}{whole(prompt['known'])} + {whole(answer['known'])} tokens")
    parts.append("cost unknown" if cost["known"] is None else f"{_at_least(cost)}{cost['known']:.4f} USD")
    if cell["latency_s"]["median"] is not None:
        parts.append(f"median latency {cell['latency_s']['median']:.2f} s")
    return ", ".join(parts)


def _at_least(total: Plain) -> str:
    return "at least " if total["unknown"] else ""


def _warnings(scores: Plain) -> Iterable[str]:
    for offline in dict.fromkeys(c["offline"] for c in scores["contestants"] if c["offline"]):
        yield OFFLINE[offline]
    for contestant in scores["contestants"]:
        cell = contestant["overall"]
        if cell["unscored"]:
            low, high = (percent(bound) for bound in cell["bounds"])
            yield (
                f"{contestant['name']}: {counted(cell['samples'] - cell['scored'], 'sample')} unscored "
                f"({listed(cell['unscored'])}); accuracy would be {low} if all had failed, {high} if all had passed"
            )
        for k, found in cell["pass_at_k"].items():
            if _fewer(found):
                yield (
                    f"{contestant['name']}: pass@{k} is of {counted(found['problems'], 'problem')} with {k} scored samples, "
                    f"not of all {found['of']}; pass@1 of the same is {percent(found['accuracy'])}"
                )
