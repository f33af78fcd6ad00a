"""The part of a summary that needs no model: problems, guess floors, rejections, proofs and mutants, counted."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, TypeVar

from proceval.guesses import floor
from proceval.schema import AuditReport, Certificate, Problem, Rejection
from proceval.seeding import text_digest

T = TypeVar("T")
Plain = dict[str, Any]

TIERS = ("easy", "medium", "hard", "extreme", "frontier")
UNKNOWN = "unknown"
"""Stands for the family or tier of evidence whose problem is not in the dataset."""


def tier_order(tier: str) -> tuple[int, str]:
    """Sort key: the house's tiers from easy to frontier, then any others by name."""
    return (TIERS.index(tier) if tier in TIERS else len(TIERS), tier)


def grouped(items: Iterable[T], key: Callable[[T], str], order: Callable[[str], Any] = str) -> dict[str, list[T]]:
    """Items by key, keys in order."""
    found: dict[str, list[T]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return {name: found[name] for name in sorted(found, key=order)}


def counts(values: Iterable[str], order: Callable[[str], Any] = str) -> dict[str, int]:
    """How often each value occurs, in order."""
    found = Counter(values)
    return {name: found[name] for name in sorted(found, key=order)}


def spread(values: Sequence[float]) -> Plain:
    """Median and maximum; null for no values."""
    return {"median": median(values) if values else None, "max": max(values, default=None)}


def summarise_problems(problems: Sequence[Problem]) -> Plain:
    """Counts by domain, family and tier; hidden tests a problem; size of the statement's public part."""
    families = grouped(problems, lambda p: p.family)
    return {
        "total": len(problems),
        "by_domain": counts(p.domain for p in problems),
        "by_family": {name: len(rows) for name, rows in families.items()},
        "by_tier": counts((p.difficulty for p in problems), tier_order),
        "by_family_and_tier": {n: counts((p.difficulty for p in rows), tier_order) for n, rows in families.items()},
        "domain_of_family": {name: rows[0].domain for name, rows in families.items()},
        "tests_per_problem": spread([len(p.tests) for p in problems]),
        "tests_per_problem_by_family": {n: spread([len(p.tests) for p in rows]) for n, rows in families.items()},
    }


def summarise_guesses(problems: Sequence[Problem]) -> Plain:
    """Guess floor by family and tier: share of the commonest answer and of the best shortcut (see guesses.py).

    A cell of few problems has a high share by arithmetic alone (one problem: 1.0), so read it beside `problems`.
    """
    cells: Plain = {}
    for family, rows in grouped(problems, lambda p: p.family).items():
        cells[family] = {}
        for tier, members in grouped(rows, lambda p: p.difficulty, tier_order).items():
            cells[family][tier] = floor(members)
    return cells


def summarise_rejections(rejections: Iterable[Rejection]) -> Plain:
    """Candidates that did not become problems, by reason."""
    families: dict[str, Counter[str]] = defaultdict(Counter)
    for rejection in rejections:
        families[rejection.family][rejection.reason] += 1
    reasons = sum(families.values(), Counter[str]())
    return {
        "total": reasons.total(),
        "by_reason": _sorted(reasons),
        "by_family": {name: _sorted(families[name]) for name in sorted(families)},
    }


def summarise_proofs(certificates: Iterable[Certificate], known: Mapping[str, Problem]) -> Plain:
    """Certificates by status, queries by verdict, and solver work (`resource_count`) overall and by family."""
    statuses, solvers, verdicts, oracles, proved = Counter(), Counter(), Counter(), Counter(), Counter()  # type: ignore[var-annotated]
    opinions: dict[str, Counter[str]] = defaultdict(Counter)
    work: dict[str, list[int]] = defaultdict(list)
    for certificate in certificates:
        family = known[certificate.problem_id].family if certificate.problem_id in known else UNKNOWN
        statuses[certificate.status] += 1
        solvers[certificate.solver] += 1
        oracles[certificate.oracle] += 1
        proved[family] += certificate.status == "unique"
        for query in certificate.queries:
            verdicts[f"{query.kind} {query.verdict}"] += 1
            if query.resource_count is not None:
                work[family].append(query.resource_count)
        for opinion in certificate.opinions:
            opinions[opinion.by][_agreement(opinion.existence, opinion.uniqueness)] += 1
    return {
        "certificates": statuses.total(),
        "by_status": _sorted(statuses),
        "solvers": _sorted(solvers),
        "oracles": _sorted(oracles),
        "queries": verdicts.total(),
        "queries_by_verdict": _sorted(verdicts),
        "resource_count": spread([count for rows in work.values() for count in rows]),
        "opinions": {by: _sorted(opinions[by]) for by in sorted(opinions)},
        "by_family": {
            family: {"proved": proved[family], "resource_count": spread(work[family])} for family in sorted(proved)
        },
    }


def _agreement(existence: str, uniqueness: str) -> str:
    """agrees: the opinion confirms both queries; partly: one of them, the other not run; else disagrees or unknown."""
    good = (existence in ("sat", "checked"), uniqueness in ("unsat", "checked"))
    if all(good):
        return "agrees"
    if existence == "unsat" or uniqueness == "sat":
        return "disagrees"
    if "unknown" in (existence, uniqueness):
        return "unknown"
    return "partly" if any(good) else "not_run"


def summarise_audit(audits: Iterable[AuditReport], problems: Sequence[Problem]) -> Plain:
    """Mutants by fate, operator and kill kind; problems accepted, withheld and faulty.

    `score` is (killed + timeout) / (killed + timeout + survived), null when that is empty: equivalents, duplicates and
    broken mutants are in no denominator. `main_score` counts only what the main instance kills alone.
    """
    known = {p.id: p for p in problems}
    by_template = {text_digest(p.reference): p.family for p in {p.family: p for p in problems}.values()}
    total, families = _Tally(), defaultdict(_Tally)  # type: ignore[var-annotated]
    operators: dict[str, Counter[str]] = defaultdict(Counter)
    methods: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for report in audits:
        problem = known.get(report.problem_id)
        family = problem.family if problem else by_template.get(report.template_sha256, UNKNOWN)
        names[report.audit] += 1
        for tally in (total, families[family]):
            tally.add(report)
        for mutant in report.mutants:
            operators[mutant.operator][mutant.fate] += 1
            if mutant.fate == "equivalent":
                methods[mutant.reason or UNKNOWN] += 1
    return {
        "audits": _sorted(names),
        **total.plain(),
        "by_family": {name: families[name].plain() for name in sorted(families)},
        "by_operator": {name: _sorted(operators[name]) for name in sorted(operators)},
        "equivalent_by_method": _sorted(methods),
    }


class _Tally:
    """Counts over audit reports, one report's mutants in memory at a time."""

    def __init__(self) -> None:
        self.accepted = self.withheld = self.faults = self.by_main = 0
        self.fates: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()

    def add(self, report: AuditReport) -> None:
        self.faults += report.fault is not None
        self.accepted += report.accepted
        self.withheld += not report.accepted
        for mutant in report.mutants:
            self.fates[mutant.fate] += 1
            if mutant.fate in ("killed", "timeout"):
                self.kinds[mutant.kill_kind or UNKNOWN] += 1
                self.by_main += mutant.killed_by == 0

    def plain(self) -> Plain:
        killed = self.fates["killed"] + self.fates["timeout"]
        judged = killed + self.fates["survived"]
        return {
            "problems": self.accepted + self.withheld,
            "accepted": self.accepted,
            "withheld": self.withheld,
            "faults": self.faults,
            "mutants": self.fates.total(),
            "by_fate": _sorted(self.fates),
            "by_kill_kind": _sorted(self.kinds),
            "score": killed / judged if judged else None,
            "main_score": self.by_main / judged if judged else None,
        }


def _sorted(found: Counter[str]) -> dict[str, int]:
    return {name: found[name] for name in sorted(found)}
