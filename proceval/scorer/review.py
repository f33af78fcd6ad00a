"""Grades of a review: the judges' under their contract and, where a case has a key, the finding's beside them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from proceval.protocols import AskJudge, Check, Family, Judgement
from proceval.schema import Completion, Grade, ReviewCase
from proceval.scorer.finding import Finding, Found
from proceval.scorer.judge import Judge, Ruling


class Review:
    """Make it on the main thread: where a case has a key, a worker is forked that knows the contracts."""

    mode: Literal["review"] = "review"

    def __init__(
        self,
        *,
        sandbox: Any,
        families: Mapping[str, Family],
        cases: Sequence[ReviewCase],
        judges: int,
        attempts: int,
    ):
        self._judge = Judge(count=judges, attempts=attempts, subject="a review of some files") if judges else None
        self._finding: Finding | None = None
        if any(case.key is not None for case in cases):
            self._finding = Finding(sandbox=sandbox, families=families)
            self._finding.check(cases)

    async def ready(self) -> None:
        """The judges are tested by stage=selftest; a report says when they were not."""

    async def check(self, case: ReviewCase, text: str) -> Check:
        """There is no public evidence about a review."""
        return Check(True, "")

    async def score(self, case: ReviewCase, completion: Completion) -> Judgement:
        raise TypeError("reviews are graded with judges: the track calls grade")

    async def grade(
        self, case: ReviewCase, completion: Completion, transcript: str, ask: AskJudge
    ) -> tuple[Judgement, Ruling | None]:
        """Raises ProviderError when a judge cannot be asked, Unscored when the sandbox fails."""
        if completion.finish_reason in ("refusal", "content_filter"):
            return Judgement("refused", "model", "not_read", detail=f"finish reason {completion.finish_reason}"), None
        if not transcript.strip():
            return _empty(case, completion), None
        found = await self._finding.grade(case, transcript) if self._finding and case.key is not None else None
        if found is not None and found.passed is None:
            return Judgement("case_fault", "case", found.rule, detail=found.detail), None
        ruling = await self._judge.rule(case.criteria, transcript, ask) if self._judge else None
        if ruling is not None and ruling.fault is not None:
            return Judgement("judge_fault", "judge", "no_grade", detail=ruling.fault[:500]), ruling
        return _judgement(completion, found, ruling), ruling


def _judgement(completion: Completion, found: Found | None, ruling: Ruling | None) -> Judgement:
    """The finding decides where there is one; else every criterion must hold."""
    judged = ruling.grades if ruling is not None else ()
    grades = (*judged, *(found.grades if found is not None else ()))
    rule = "review" if found is None else found.rule
    passed = found.passed if found is not None else _all(judged)
    if passed is None:
        tied = ", ".join(grade.id for grade in judged if grade.passed is None)
        return Judgement("judge_fault", "judge", "tie", detail=f"the judges tie on {tied}", grades=grades)
    failed = [grade.id for grade in grades if grade.passed is False and grade.weight]
    detail = "" if passed else found.detail if found is not None else f"failed: {', '.join(failed)}"
    if passed:
        return Judgement("passed", "none", rule, grades=grades, score=_score(grades))
    if completion.finish_reason == "length":
        return Judgement("truncated", "model", rule, (), f"cut at the token limit; {detail}", grades, _score(grades))
    return Judgement("failed", "model", rule, (), detail, grades, _score(grades))


def _empty(case: ReviewCase, completion: Completion) -> Judgement:
    """Whoever says nothing has flagged nothing and engaged with nothing, and what it left alone it left by omission."""
    grades = tuple(
        Grade(
            id=c.id,
            kind=c.kind,
            passed=None if c.kind == "must_not_flag" else False,
            weight=1.0,
            evidence="the review is empty",
        )
        for c in case.criteria
    )
    outcome: Literal["truncated", "failed"] = "truncated" if completion.finish_reason == "length" else "failed"
    return Judgement(outcome, "model", "empty", (), "the review is empty; no judge was asked", grades, 0.0)


def _all(grades: Sequence[Grade]) -> bool | None:
    """Whether all passed: False as soon as one failed, None where that hangs on one that could not be decided."""
    if any(grade.passed is False for grade in grades):
        return False
    return None if any(grade.passed is None for grade in grades) else True


def _score(grades: Sequence[Grade]) -> float | None:
    """The weighted share that passed."""
    total = sum(grade.weight for grade in grades)
    return sum(grade.weight for grade in grades if grade.passed) / total if total else None
