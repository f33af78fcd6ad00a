"""Tables about reviews, made from a summary alone: what was wrongly flagged first, then what a skill changes."""

from collections.abc import Iterator
from typing import Any

from proceval.report.cells import NOTHING, Sheet, percent, whole
from proceval.report.evidence import Plain
from proceval.report.review import ARMS
from proceval.report.run import printable

FEW = 10
"""Cases below which a bootstrap interval is narrower than it should be."""
MOST_ROWS = 12
"""False alarms that a terminal shows."""


def sheets(summary: Plain) -> list[Sheet]:
    """What a terminal shows of reviews; nothing for runs of other tracks."""
    found = summary.get("review")
    if found is None:
        return []
    return [*(_false_alarms(c, found) for c in found["contestants"] if "treatment" in c["arms"]), _changes(found)]


def details(summary: Plain) -> list[Sheet]:
    """What only report.md adds: every criterion in both arms."""
    rows = []
    for contestant in (summary.get("review") or {"contestants": []})["contestants"]:
        for one in contestant["criteria"]:
            cells = (_share(one["arms"].get(arm)) for arm in ARMS)
            signal = "no signal" if one["no_signal"] else ""
            rows.append((contestant["name"], one["case"], one["kind"], one["id"], *cells, signal))
    note = "passed of decided; no signal: the baseline passes it every time, so it says nothing about the skill"
    columns = ("model", "case", "kind", "criterion", *ARMS, "signal")
    return [Sheet("Review: every criterion", columns, tuple(rows), (note,))]


def _false_alarms(contestant: Plain, found: Plain) -> Sheet:
    """What the skill tells reviewers to leave alone, and they flagged all the same: worse than anything missed."""
    failed = [
        c
        for c in contestant["criteria"]
        if c["kind"] == "must_not_flag" and c["arms"].get("treatment", {}).get("failed")
    ]
    failed.sort(key=lambda c: -c["arms"]["treatment"]["failed"])
    rows = [
        (c["case"], c["id"], *(_share(c["arms"].get(arm)) for arm in ARMS), printable(c["evidence"] or "")[:60])
        for c in failed[:MOST_ROWS]
    ]
    title = "Review: false alarms of the treatment arm"
    if len(found["contestants"]) > 1:
        title += f", {contestant['name']}"
    notes = (
        ["none: nothing that is right was flagged"]
        if not rows
        else ["passed of decided reviews, and the first evidence"]
    )
    if len(failed) > MOST_ROWS:
        notes.append(f"{len(failed) - MOST_ROWS} more in report.md")
    return Sheet(title, ("case", "criterion", *ARMS, "evidence") if rows else (), tuple(rows), tuple(notes))


def _changes(found: Plain) -> Sheet:
    """Shares by kind in both arms, paired where both were run."""
    rows, notes = [], []
    several = len(found["contestants"]) > 1
    paired = [cell for contestant in found["contestants"] for cell in contestant["uplift"].values()]
    for contestant in found["contestants"]:
        name = (contestant["name"],) if several else ()
        if contestant["uplift"]:
            for kind, cell in contestant["uplift"].items():
                rows.append(
                    (*name, kind, whole(cell["pairs"]), *(percent(cell[arm]) for arm in ARMS), *_difference(cell))
                )
        else:
            rows += [(*name, kind, NOTHING, *shares, *[NOTHING] * 3) for kind, shares in _unpaired(contestant).items()]
            notes.append(f"{contestant['name']}: no criterion was decided in both arms, so there is no uplift")
        if "baseline" in contestant["arms"]:
            mute, total = sum(bool(one["no_signal"]) for one in contestant["criteria"]), len(contestant["criteria"])
            notes.append(
                f"{contestant['name']}: {mute} of {total} criteria without signal: the baseline always passes them"
            )
    if paired:
        notes.insert(0, "the same criteria of the same reviews in both arms; intervals and p count cases")
        if max(cell["cases"] for cell in paired) < FEW:
            notes.append(f"with fewer than {FEW} cases the intervals are too narrow; p is exact")
    notes += _agreements(found)
    columns = (*(("model",) if several else ()), "kind", "pairs", *ARMS, "uplift", "95%", "p")
    title = "Review: what the skill changes" if paired else "Review: criteria by kind"
    return Sheet(title, columns, tuple(rows), tuple(notes), tuple(_warnings(found)))


def _unpaired(contestant: Plain) -> dict[str, list[str]]:
    """By kind, the share that passed in each arm."""
    found: dict[str, list[str]] = {}
    for place, arm in enumerate(ARMS):
        for kind, cell in contestant["arms"].get(arm, {"kinds": {}})["kinds"].items():
            decided = cell["passed"] + cell["failed"]
            found.setdefault(kind, [NOTHING] * len(ARMS))[place] = percent(
                cell["passed"] / decided if decided else None
            )
    return found


def _agreements(found: Plain) -> Iterator[str]:
    judges, finding = found["judges"], found["finding"]
    if judges["units"]:
        alpha = "undefined, no vote differs" if judges["alpha"] is None else f"{judges['alpha']:.3f}"
        yield f"{len(judges['ids'])} judges, Krippendorff's alpha {alpha} over {judges['units']} grades; the majority counts"
    if finding is not None:
        yield (
            f"finding and judges agree on {finding['agree']} of {finding['reviews']} reviews ({percent(finding['share'])}); "
            f"right by the finding alone {finding['only_finding']}, by the judges alone {finding['only_judge']}"
        )


def _warnings(found: Plain) -> Iterator[str]:
    for judge, cases in found["judges"]["untested"].items():
        shown = ", ".join(cases[:5]) + (f" and {len(cases) - 5} more" if len(cases) > 5 else "")
        yield f"UNTESTED JUDGE: {judge}, on {shown}: run stage=selftest with the same words"
    if any(who.startswith("scripted_judge") for who in found["judges"]["ids"]):
        yield "scripted_judge looks for phrases: its grades show the machinery, they support no claim about a reviewer"
    for contestant in found["contestants"]:
        for arm, cell in contestant["arms"].items():
            if cell["rewrote"]:
                yield f"{contestant['name']}, {arm}: {cell['rewrote']} of {cell['samples']} reviews REWROTE the files"
            if cell["leaks"]:
                yield f"{contestant['name']}, {arm}: the skill LEAKED into {cell['leaks']} transcripts: no comparison holds"


def _difference(cell: Plain) -> tuple[str, str, str]:
    interval: Any = cell["interval"]
    shown = NOTHING if interval is None else f"[{100 * interval[0]:+.0f}, {100 * interval[1]:+.0f}]"
    return f"{100 * cell['difference']:+.1f}", shown, f"{cell['sign_flip_p']:.3f}"


def _share(cell: Plain | None) -> str:
    return NOTHING if cell is None else f"{cell['passed']}/{cell['passed'] + cell['failed']}"
