"""Reviews in a report: what the treatment arm wrongly flags first, then what the skill changes, and who judged.

arms             by contestant and arm: samples, scored, passed, rewrote, leaks
uplift           by contestant and kind of criterion: pairs, baseline, treatment, difference, interval, p
criteria         by contestant: every criterion with how often it passed in each arm, and whether it can tell anything
judges           their ids, the rubrics on which they were never tested, alpha
finding          how often running the claim and judging the review come to the same
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from proceval.paired import bootstrap, sign_flip
from proceval.report.evidence import Plain, grouped
from proceval.report.run import Run
from proceval.schema import Grade, Verdict
from proceval.statistics import krippendorff_alpha

KINDS = ("must_flag", "must_not_flag", "engagement", "finding")
"""In the order of the tables; `all` is over all that count."""
ARMS = ("baseline", "treatment")

Cell = tuple[str, str, str]
"""(case id, kind, criterion id)."""


def summarise(run: Run, verdicts: Sequence[Verdict]) -> Plain | None:
    """Null for runs without reviews."""
    reviews = [verdict for verdict in verdicts if verdict.mode == "review"]
    if not reviews:
        return None
    groups: dict[str, list[Verdict]] = {}
    for verdict in reviews:
        arm, _, variant = verdict.arm.partition(", ")  # a sweep puts what tells its jobs apart behind the arm
        name = ", ".join(filter(None, (verdict.model, verdict.base_url, variant)))
        groups.setdefault(name, []).append(verdict.model_copy(update={"arm": arm}))
    return {
        "contestants": [
            {
                "name": name,
                "arms": {arm: _arm(rows) for arm, rows in grouped(members, lambda v: v.arm).items()},
                "uplift": _uplift(members),
                "criteria": _criteria(members),
            }
            for name, members in sorted(groups.items())
        ],
        "judges": _judges(run, reviews),
        "finding": _agreement(reviews),
    }


def _arm(verdicts: Sequence[Verdict]) -> Plain:
    return {
        "samples": len(verdicts),
        "scored": sum(v.scored for v in verdicts),
        "passed": sum(v.passed for v in verdicts),
        "rewrote": sum(v.outcome == "rewrote" for v in verdicts),
        "leaks": sum(v.extraction == "leak" for v in verdicts),
        "judge_faults": sum(v.fault == "judge" for v in verdicts),
        "kinds": {k: _passes(g) for k, g in grouped(_all_grades(verdicts), lambda g: g.kind, _order).items()},
    }


def _all_grades(verdicts: Sequence[Verdict]) -> list[Grade]:
    return [grade for verdict in verdicts if verdict.scored for grade in _counted(verdict)]


def _order(kind: str) -> tuple[int, str]:
    return (KINDS.index(kind) if kind in KINDS else len(KINDS), kind)


# ------------------------------------------------------------------------------------------------ the two arms, paired


def _uplift(verdicts: Sequence[Verdict]) -> Plain:
    """By kind: the same criteria of the same cases and samples in both arms; cases are what the intervals count."""
    clusters: dict[str, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for case, kind, pair in _pairs(verdicts):
        clusters[kind][case].append(pair)
        clusters["all"][case].append(pair)
    return {kind: _compared(list(clusters[kind].values())) for kind in (*KINDS, "all") if kind in clusters}


def _pairs(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """(case, kind, (baseline, treatment)) of each criterion that both arms decided."""
    left, right = ({(v.problem_id, v.sample): v for v in verdicts if v.arm == arm and v.scored} for arm in ARMS)
    for key in sorted(left.keys() & right.keys()):
        second = {grade.id: grade for grade in _counted(right[key])}
        for grade in _counted(left[key]):
            other = second.get(grade.id)
            if other is not None and grade.passed is not None and other.passed is not None:
                yield key[0], grade.kind, (int(grade.passed), int(other.passed))


def _compared(clusters: Sequence[Sequence[tuple[int, int]]]) -> Plain:
    pairs = [pair for cluster in clusters for pair in cluster]
    first, second = (sum(pair[arm] for pair in pairs) / len(pairs) for arm in (0, 1))
    low, high = bootstrap(clusters) if len(clusters) > 1 else (None, None)
    return {
        "pairs": len(pairs),
        "cases": len(clusters),
        "baseline": first,
        "treatment": second,
        "difference": second - first,
        "interval": None if low is None else [low, high],
        "sign_flip_p": float(sign_flip([sum(b - a for a, b in cluster) for cluster in clusters])),
    }


def _criteria(verdicts: Sequence[Verdict]) -> list[Plain]:
    """Every criterion in the order of cases and rubrics; without signal where the baseline always passes it already."""
    found: dict[Cell, dict[str, list[Grade]]] = {}
    names = {v.problem_id: v.family for v in verdicts}
    for verdict in sorted(verdicts, key=lambda v: (v.family, v.problem_id)):
        if verdict.scored:
            for grade in verdict.grades:
                arms = found.setdefault((verdict.problem_id, grade.kind, grade.id), defaultdict(list))
                arms[verdict.arm].append(grade)
    return [
        {
            "case": names[case],
            "kind": kind,
            "id": id,
            "arms": {arm: _passes(grades) for arm, grades in sorted(arms.items())},
            "no_signal": _passes(arms["baseline"])["failed"] == 0 < _passes(arms["baseline"])["passed"]
            if "baseline" in arms
            else None,
            "evidence": next((g.evidence for g in arms.get("treatment", []) if g.passed is False), None),
        }
        for (case, kind, id), arms in found.items()
    ]


def _passes(grades: Sequence[Grade]) -> Plain:
    decided = [grade.passed for grade in grades if grade.passed is not None]
    return {"passed": sum(decided), "failed": len(decided) - sum(decided)}


def _counted(verdict: Verdict) -> Iterator[Grade]:
    return (grade for grade in verdict.grades if grade.weight)


# ------------------------------------------------------------------------------------------------ who judged


def _judges(run: Run, verdicts: Sequence[Verdict]) -> Plain:
    """`untested` names, by judge, the rubrics for which stage=selftest left no stamp that still fits."""
    units = [grade.votes for verdict in verdicts for grade in verdict.grades if len(grade.votes) > 1]
    found: Plain = {"ids": [], "untested": {}, "units": len(units), "alpha": krippendorff_alpha(units)}
    for one in getattr(run, "runs", lambda: [run])():
        noted = one.document("judges.json")
        if not isinstance(noted, Mapping):
            continue
        ids = [judge["id"] for judge in noted["judges"]]
        for judge in noted["judges"]:
            who = judge["id"] if ids.count(judge["id"]) == 1 else f"{judge['id']} ({judge['name']})"
            found["ids"] += [who] if who not in found["ids"] else []
            stamps = one.path / noted["stamps"]
            lacking = [case for case, stamp in judge["rubrics"].items() if not (stamps / f"{stamp}.json").is_file()]
            if lacking:
                known = found["untested"].setdefault(who, [])
                known += [case for case in lacking if case not in known]
    return found


def _agreement(verdicts: Sequence[Verdict]) -> Plain | None:
    """Reviews graded both ways: whether the finding holds, and whether the criteria about the same question do."""
    both = []
    for verdict in verdicts:
        finding = next((g.passed for g in verdict.grades if g.kind == "finding"), None)
        judged = _judged(verdict)
        if finding is not None and judged and None not in judged:
            both.append((finding, all(judged)))
    if not both:
        return None
    return {
        "reviews": len(both),
        "agree": sum(a == b for a, b in both),
        "share": sum(a == b for a, b in both) / len(both),
        "only_finding": sum(a and not b for a, b in both),
        "only_judge": sum(b and not a for a, b in both),
        "alpha": krippendorff_alpha(both),
    }


def _judged(verdict: Verdict) -> list[bool | None]:
    """What judges say of the flaws to be flagged or, where there are none, of what must be left alone."""
    by_kind = {k: [g.passed for g in verdict.grades if g.kind == k and g.votes] for k in ("must_flag", "must_not_flag")}
    return by_kind["must_flag"] or by_kind["must_not_flag"]
