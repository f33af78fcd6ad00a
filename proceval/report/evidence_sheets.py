"""Tables about problems, proofs, mutants and guesses, made from a summary alone."""

from proceval.report.cells import NOTHING, Sheet, listed, percent, short, whole
from proceval.report.evidence import Plain

FATES = {
    "killed": "killed",
    "timeout": "budget",
    "survived": "survived",
    "equivalent": "equiv.",
    "duplicate": "dupl.",
    "broken": "broken",
}
"""Fates of mutants in the order of the columns, as they are headed."""

FEW = 10
"""Problems of one family and tier below which a guess floor says nothing."""


def problems(summary: Plain) -> Sheet:
    """Problems by family and tier with the solver's work."""
    title = "Problems and proofs"
    found, proofs, rejected = summary["problems"], summary["proofs"], summary["rejected"]
    if found is None:
        return Sheet(title, (), (), ("no dataset in this run",))
    tiers = list(found["by_tier"])
    rows = []
    for family, cells in found["by_family_and_tier"].items():
        work = (proofs or {"by_family": {}})["by_family"].get(family, {"resource_count": {"median": None, "max": None}})
        rows.append((
            family,
            *(whole(cells.get(tier, 0)) for tier in tiers),
            whole(found["tests_per_problem_by_family"][family]["median"]),
            short(work["resource_count"]["median"]),
            short(work["resource_count"]["max"]),
            NOTHING if rejected is None else whole(sum(rejected["by_family"].get(family, {}).values())),
        ))  # fmt: skip
    total = (
        "all", *(whole(found["by_tier"][tier]) for tier in tiers), whole(found["tests_per_problem"]["median"]),
        short(proofs and proofs["resource_count"]["median"]), short(proofs and proofs["resource_count"]["max"]),
        NOTHING if rejected is None else whole(rejected["total"]),
    )  # fmt: skip
    columns = ("family", *tiers, "tests", "work", "most", "rejected")
    notes, warnings = _proof_notes(proofs, rejected)
    return Sheet(title, columns, (*rows, total), notes, (*warnings, *_generation_warnings(summary["generation"])))


def _proof_notes(proofs: Plain | None, rejected: Plain | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    notes, warnings = [], []
    if proofs is None:
        warnings.append("no certificates in this run: these answers are not proved here")
    else:
        solvers = ", ".join(proofs["solvers"]) or "no solver"
        proved, total = whole(proofs["by_status"].get("unique", 0)), whole(proofs["certificates"])
        notes.append(
            f"{proved} of {total} answers proved to exist and to be unique, by {solvers} in {whole(proofs['queries'])} "
            "queries; work and most: the solver's own count a query, median and maximum"
        )
        for by, verdicts in proofs["opinions"].items():
            notes.append(f"second opinion of {by}: {listed(verdicts)}")
            if verdicts.get("disagrees"):
                warnings.append(f"{by} DISAGREES on {verdicts['disagrees']} answers")
    if rejected and rejected["total"]:
        notes.append(f"rejected candidates: {listed(rejected['by_reason'])}")
    return tuple(notes), tuple(warnings)


def _generation_warnings(facts: Plain | None) -> list[str]:
    shortfalls = (facts and facts["shortfalls"]) or []
    found = [f"{short['difficulty']} {short['family']}: {short['sentence']}" for short in shortfalls]
    if facts and facts["machine_dependent"]:
        found.append("a clock or memory limit fired while proving: another machine may accept other candidates")
    return found


def audit(summary: Plain) -> Sheet:
    """Mutants by family and fate; columns without a single mutant are left out."""
    title = "Audit: mutants of the references against the tests"
    found = summary["audit"]
    if found is None:
        return Sheet(title, (), (), ("no audit in this run: how much its tests catch is not known",))
    shown = [fate for fate in FATES if found["by_fate"].get(fate) or fate in ("killed", "survived")]

    def row(name: str, cell: Plain) -> tuple[str, ...]:
        fates = (whole(cell["by_fate"].get(fate, 0)) for fate in shown)
        return (name, whole(cell["mutants"]), *fates)

    rows = [row(name, cell) for name, cell in found["by_family"].items()]
    score, alone = percent(found["score"]), percent(found["main_score"])
    kinds = listed(found["by_kill_kind"])
    late, kills = found["by_kill_kind"].get("step_budget", 0), sum(found["by_kill_kind"].values())
    notes = [
        f"{score} of the mutants that can be killed are killed, {alone} by the main test alone; kills by {kinds}",
        f"{percent(late / kills if kills else None)} of the kills rest on the audit's step budget alone, which the scorer lacks",
    ]
    if found["equivalent_by_method"]:
        notes.append(f"equivalence shown by: {listed(found['equivalent_by_method'])}")
    warnings = []
    if found["withheld"]:
        survivors = found["withheld"] - found["faults"]
        warnings.append(
            f"{found['withheld']} of {found['problems']} problems withheld: {survivors} with survivors, "
            f"{found['faults']} whose audit broke"
        )
    columns = ("family", "mutants", *(FATES[fate] for fate in shown))
    return Sheet(title, columns, (*rows, row("all", found)), tuple(notes), tuple(warnings))


def rejections(summary: Plain) -> Sheet:
    """Candidates that did not become problems."""
    found = summary["rejected"] or {"by_family": {}, "by_reason": {}}
    reasons = list(found["by_reason"])
    rows = tuple((n, *(whole(cell.get(reason, 0)) for reason in reasons)) for n, cell in found["by_family"].items())
    return Sheet("Rejected candidates", ("family", *reasons), rows)


def operators(summary: Plain) -> Sheet:
    """Mutants by operator and fate."""
    found = summary["audit"] or {"by_operator": {}, "by_fate": {}}
    fates = list(found["by_fate"])
    rows = tuple((n, *(whole(cell.get(fate, 0)) for fate in fates)) for n, cell in found["by_operator"].items())
    return Sheet("Mutants by operator", ("operator", *fates), rows)


def guesses(summary: Plain) -> Sheet:
    """What a guess scores without solving anything."""
    rows = tuple(
        (
            family, tier, whole(cell["problems"]), whole(cell["distinct_answers"]), percent(cell["commonest_share"]),
            percent(cell["shortcut_share"]), cell["best_shortcut"] if cell["shortcut_share"] else NOTHING,
        )
        for family, tiers in (summary["guesses"] or {}).items()
        for tier, cell in tiers.items()
    )  # fmt: skip
    columns = ("family", "tier", "problems", "answers", "commonest", "shortcut", "which")
    note = "what the commonest answer, or the best shortcut, gets right; few problems make it high by arithmetic alone"
    return Sheet("Guess floor", columns, rows, (note,))


def floor(summary: Plain, *, tier: str | None = None, family: str | None = None) -> float | None:
    """Expected score of the best guess made cell by cell: the commonest answer or the best shortcut of each.

    None where a cell has fewer than FEW problems, since there arithmetic alone makes it high.
    """
    cells = [
        cell
        for name, tiers in (summary["guesses"] or {}).items()
        for level, cell in tiers.items()
        if tier in (None, level) and family in (None, name)
    ]
    if not cells or min(cell["problems"] for cell in cells) < FEW:
        return None
    hits = sum(cell["problems"] * max(cell["commonest_share"], cell["shortcut_share"] or 0.0) for cell in cells)
    return float(hits / sum(cell["problems"] for cell in cells))
