"""From how an agent ended and what its checks gave to one judgement."""

from proceval.protocols import Judgement, Submission
from proceval.schema import AgentCase, Grade
from proceval.scorer.expectations import score
from proceval.scorer.refusal import refuses
from proceval.track.tools import cut
from proceval.workshop import CaseFault, Unusable

_MOST_DIFF_CHARACTERS = 20_000


def unfinished(case: AgentCase, ending: str, fault: str | None, limit_s: float) -> Judgement | None:
    """The judgement of work that was cut off, or never began; None where there is something to look at."""
    if fault is not None:
        return at_fault(CaseFault(fault))
    if ending == "turn_limit":
        return Judgement("turn_limit", "model", "cut_off", detail=f"turn limit {case.max_turns} exceeded")
    if ending == "timeout":
        return Judgement("timeout", "model", "cut_off", detail=f"time limit {limit_s:g} s exceeded")
    return None


def at_fault(error: CaseFault | Unusable) -> Judgement:
    """Nobody's answer where the case is at fault, the model's failure where what it left is."""
    if isinstance(error, CaseFault):
        return Judgement("case_fault", "case", "not_scored", detail=str(error)[:500])
    detail = f"the workspace as it was left cannot be judged: {error}"
    return Judgement("failed", "model", "workspace", detail=detail[:500], score=0.0)


def of(case: AgentCase, grades: tuple[Grade, ...], submission: Submission, judges_fault: str | None) -> Judgement:
    """Passed when every grade holds; what could not be decided leaves the sample unscored."""
    if judges_fault is not None:
        return Judgement("judge_fault", "judge", "not_scored", detail=judges_fault[:500], grades=grades)
    undecided = [grade for grade in grades if grade.passed is None]
    if undecided:
        outcome, fault = ("judge_fault", "judge") if undecided[0].kind == "rubric" else ("case_fault", "case")
        detail = f"{undecided[0].id}: {undecided[0].evidence}"
        return Judgement(outcome, fault, "not_scored", detail=detail[:500], grades=grades)  # type: ignore[arg-type]
    found = score(grades)
    failed = [grade for grade in grades if not grade.passed]
    rule = "unchecked" if case.unchecked else "workspace"
    if not failed:
        return Judgement("passed", "none", rule, grades=grades, score=found)
    completion = submission.completion
    detail = "; ".join(line(grade) for grade in failed)[:500]
    if completion.finish_reason in ("refusal", "content_filter") or refuses(completion.text):
        return Judgement("refused", "model", rule, detail=detail, grades=grades, score=found)
    if completion.finish_reason == "length" or getattr(submission, "ending", "done") == "context":
        return Judgement("truncated", "model", rule, detail=detail, grades=grades, score=found)
    return Judgement("failed", "model", rule, detail=detail, grades=grades, score=found)


def line(grade: Grade) -> str:
    """One line on a check that does not hold."""
    return f"rubric {grade.id}: {grade.evidence}" if grade.kind == "rubric" else grade.evidence


def shown(reply: str, diff: str) -> str:
    """What a judge of a rubric sees."""
    changes = cut(diff, _MOST_DIFF_CHARACTERS) if diff.strip() else "(none)"
    return f"{reply.strip() or '(no reply)'}\n\nChanges to the files:\n\n{changes}"
