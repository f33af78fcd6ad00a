"""The self-test of a review suite: what must be rejected without a model, then both sides of every rubric by the judges.

A bad review must fail every criterion and a good one must pass every criterion, with every judge: a judge that is too
permissive shows in the first, one that is too strict in the second.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from proceval.errors import InputError
from proceval.protocols import AskJudge, AskModel, CheckText, Judgement, Model, Respond, Strategy, Submission, Task
from proceval.schema import Completion, Json, Message, Outcome, ReviewCase, Verdict
from proceval.scorer.review import Review as Scorer
from proceval.strategy.flat import Flat
from proceval.track import review_stamp
from proceval.track.review_fixtures import trials

Say = Callable[[str], None]
WANTED = {"bad": False, "good": True}
"""What every criterion must come to."""


class Rehearsal:
    """A track in which nobody reviews: the suite's own bad and good reviews are handed to the judges."""

    mode: Literal["review"] = "review"
    arms = ("bad", "good")
    proved = False
    failures: frozenset[Outcome] = frozenset()

    def __init__(self, cases: Sequence[ReviewCase], samples: Mapping[str, Mapping[str, str]], judges: Sequence[Model]):
        self._cases, self._samples, self._judges = cases, samples, judges

    def cases(self, folder: Any) -> Sequence[ReviewCase]:
        return self._cases

    def prompt(self, case: ReviewCase, arm: str) -> tuple[Message, ...]:
        return (Message(role="user", content=case.prompt),)

    def scorer(self, sandbox: Any) -> Scorer:
        raise TypeError("the self-test brings its own scorer")

    def judges(self) -> Sequence[Model]:
        return self._judges

    async def ready(self, ask: AskModel) -> None:
        """No reviewer is asked."""

    async def work(self, task: Task, strategy: Strategy, respond: Respond, check: CheckText) -> Submission:
        text = self._samples[task.case.id][task.arm]
        completion = Completion(
            text=text, finish_reason="stop", prompt_tokens=0, completion_tokens=0, cost_usd=0.0, latency_s=0.0
        )
        return Submission(completion, transcript=text)

    async def judge(self, task: Task, submission: Submission, scorer: Scorer, ask: AskJudge) -> Judgement:
        case = task.case.model_copy(update={"key": None})  # the rubric is tested, not the finding
        return (await scorer.grade(case, submission.completion, submission.transcript, ask))[0]


class Nobody:
    """Stands where an engine wants a model; it is never asked."""

    id = "nobody"
    base_url: str | None = None
    parameters: Mapping[str, Json] = {}
    needs_key = False
    max_in_flight: int | None = None

    def warm(self) -> None:
        """Nothing to load."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0

    async def complete(self, request: Any) -> Completion:
        raise TypeError("nobody is asked for a review in a self-test")

    async def close(self) -> None:
        """Nothing is open."""


def hold(say: Say) -> bool:
    """Whether everything is rejected that must be, tried without any model."""
    tried = list(trials())
    wrong = [(name, found) for name, found in tried if found is not None]
    for name, found in wrong:
        say(f"selftest FAILED {name}: {found}")
    say(f"selftest {len(tried) - len(wrong)} of {len(tried)} offline trials hold (no model was asked)")
    return not wrong


def run(track: Any, folder: Any, *, engine: Any, say: Say) -> int:
    """Both sides of every rubric, by every judge; returns the exit status: 1 for a finding, 3 where a judge broke."""
    cases = track.read(folder)
    judges = track.judges()
    if not judges:
        raise InputError("track.judges: none, so there is no judge to test")
    suite = track.suite
    both = [case for case in cases if set(suite.samples[case.id]) == set(WANTED)]
    without = [case.family for case in cases if case not in both]
    if not both:
        raise InputError(f"{suite.name}: no case has selftest/good.md and selftest/bad.md; its judges cannot be tested")
    verdicts = _asked(both, suite.samples, judges, track.judge_attempts, Path(folder.path) / "selftest", engine)
    status = _judged(both, verdicts, judges, say, lambda case, judge: _stamp(folder, suite.name, case, judge))
    if without:
        say(f"selftest without both selftest/good.md and selftest/bad.md, so untested: {', '.join(without)}")
    return status


def _asked(
    cases: Sequence[ReviewCase], samples: Any, judges: Sequence[Model], attempts: int, folder: Path, engine: Any
) -> list[Verdict]:
    scorer = Scorer(sandbox=None, families={}, cases=(), judges=len(judges), attempts=attempts)
    rehearsal = Rehearsal(cases, samples, judges)
    report = engine.evaluate(
        cases,
        model=Nobody(),
        strategy=Flat(),
        track=rehearsal,
        scorer=scorer,
        samples=1,
        folder=folder,
        progress=lambda done, total: None,
    )
    return list(report.verdicts)


def _judged(
    cases: Sequence[ReviewCase],
    verdicts: Sequence[Verdict],
    judges: Sequence[Model],
    say: Say,
    stamp: Callable[[ReviewCase, Model], None],
) -> int:
    """Say what deviates, stamp the judges of the rubrics where nothing does."""
    bad: Counter[tuple[str, int]] = Counter()
    broken, decided = 0, 0
    for verdict in verdicts:
        if not verdict.grades:
            broken += 1
            bad.update((verdict.problem_id, number) for number in range(len(judges)))
            say(f"selftest {verdict.family}, {verdict.arm} review: {verdict.outcome}: {verdict.detail}")
        for grade in verdict.grades:
            for number, vote in enumerate(grade.votes):
                decided += 1
                if vote != WANTED[verdict.arm]:
                    bad[verdict.problem_id, number] += 1
                    side = "passes" if vote else "fails"
                    kind = "permissive" if vote else "strict"
                    say(
                        f"selftest {verdict.family}, {verdict.arm} review: judge {judges[number].id} {side} {grade.id} "
                        f"({grade.evidence[:80]!r}): too {kind}"
                    )
    stamped = [(case, judge) for case in cases for n, judge in enumerate(judges) if not bad[case.id, n]]
    for case, judge in stamped:
        stamp(case, judge)
    wrong = sum(bad.values()) - broken * len(judges)
    say(
        f"selftest {decided - wrong} of {decided} judgements as they must be; "
        f"{len(stamped)} of {len(cases) * len(judges)} pairs of rubric and judge stamped"
    )
    return 3 if broken else int(wrong > 0)


def _stamp(folder: Any, suite: str, case: ReviewCase, judge: Model) -> None:
    review_stamp.give(review_stamp.home(folder.outputs), case.criteria, judge, suite=suite, case=case.family)
