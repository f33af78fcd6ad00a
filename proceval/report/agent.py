"""Agents in a report: one line a case as it went, and figures by group."""

from collections.abc import Iterator, Sequence
from statistics import mean, median

from proceval.report.cells import Sheet, percent, short, whole
from proceval.report.evidence import Plain, grouped
from proceval.report.run import printable
from proceval.report.scores import contestants
from proceval.schema import AgentCase, Grade, Verdict

_FAILED = ("failed", "refused", "truncated")
"""Outcomes of work that came to its end; all others but `passed` are an ERROR."""


_EXPLAINED = "score: mean weighted share of the checks that hold; requests: median of a sample"


def listing(cases: Sequence[AgentCase]) -> str:
    """The cases without running them, one a line."""
    width = max(len(case.family) for case in cases)
    return "\n".join(f"{case.family:<{width}}  {_about(case)}" for case in cases)


def told(verdicts: Sequence[Verdict]) -> str:
    """PASS, FAIL with a line for each check that does not hold, or ERROR with its reason; then how many passed."""
    lines = [line for verdict in verdicts for line in _told(verdict)]
    passed = sum(verdict.passed for verdict in verdicts)
    return "\n".join([*lines, "", f"{passed}/{len(verdicts)} passed"])


def summarise(verdicts: Sequence[Verdict]) -> Plain | None:
    """By contestant and group: cases, samples passed and not scored, mean score, requests; null without agents."""
    agents = [verdict for verdict in verdicts if verdict.mode == "agent"]
    if not agents:
        return None
    return {
        "unchecked": sum(verdict.extraction == "unchecked" for verdict in agents),
        "contestants": [
            {
                "name": name,
                "overall": _cell(rows),
                "by_group": {group: _cell(some) for group, some in grouped(rows, lambda v: v.domain).items()},
                "by_case": {case: _cell(some) for case, some in grouped(rows, lambda v: v.family).items()},
            }
            for name, rows in contestants(agents).items()
        ],
    }


def sheets(summary: Plain) -> list[Sheet]:
    """One table of groups a contestant; nothing for runs of other tracks."""
    found = summary.get("agent")
    if found is None:
        return []
    unchecked = found["unchecked"]
    warnings = (f"{unchecked} samples passed without any check: their cases have no expect",) if unchecked else ()
    columns = ("family", "cases", "passed", "failed", "cut off", "unscored", "score", "requests")
    made = []
    for contestant in found["contestants"]:
        rows = [(group, *_figures(cell)) for group, cell in contestant["by_group"].items()]
        rows += [("all", *_figures(contestant["overall"]))]
        made.append(Sheet(f"{contestant['name']} by group", columns, tuple(rows), (_EXPLAINED,), warnings))
    return made


def _about(case: AgentCase) -> str:
    turns = f"{len(case.turns)} turn{'s' if len(case.turns) > 1 else ''}"
    checks = len(case.checks) + len(case.rubric)
    return f"{case.fixture}, {turns}, " + (f"{checks} check{'s' if checks > 1 else ''}" if checks else "unchecked")


def _told(verdict: Verdict) -> Iterator[str]:
    name = verdict.family if verdict.sample == 0 else f"{verdict.family} (sample {verdict.sample})"
    if verdict.passed:
        yield f"PASS {name}" + (" (unchecked)" if verdict.extraction == "unchecked" else "")
    elif verdict.outcome in _FAILED:
        yield f"FAIL {name}"
        if verdict.outcome != "failed":
            yield f"  the final reply is {verdict.outcome}"
        if not verdict.grades and verdict.detail:
            yield f"  {' '.join(printable(verdict.detail).split())}"
        yield from (f"  {_line(grade)}" for grade in verdict.grades if not grade.passed)
    else:
        yield f"ERROR {name}: {' '.join(printable(verdict.detail).split()) or verdict.outcome}"


def _line(grade: Grade) -> str:
    said = f"rubric {grade.id}: {grade.evidence}" if grade.kind == "rubric" else grade.evidence
    return " ".join(printable(said).split())


def _cell(verdicts: Sequence[Verdict]) -> Plain:
    scored = [verdict for verdict in verdicts if verdict.scored]
    scores = [verdict.score for verdict in scored if verdict.score is not None]
    return {
        "cases": len({verdict.problem_id for verdict in verdicts}),
        "samples": len(verdicts),
        "passed": sum(verdict.passed for verdict in scored),
        "failed": sum(verdict.outcome in _FAILED for verdict in scored),
        "cut_off": sum(verdict.outcome in ("turn_limit", "timeout") for verdict in scored),
        "unscored": len(verdicts) - len(scored),
        "score": mean(scores) if scores else None,
        "requests": median(verdict.turns for verdict in scored) if scored else None,
    }


def _figures(cell: Plain) -> tuple[str, ...]:
    counts = (whole(cell[name]) for name in ("cases", "passed", "failed", "cut_off", "unscored"))
    return (*counts, percent(cell["score"]), short(cell["requests"]))
