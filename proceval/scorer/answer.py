"""Answer mode: one typed value in the reply, equal to the proved answer or not; no part marks, no tolerance."""

from pathlib import Path
from string import Template
from typing import Literal

from proceval.compare import key, show
from proceval.protocols import Check, Judgement
from proceval.schema import Completion, Problem, TestResult
from proceval.scorer.refusal import refuses
from proceval.scorer.reply import read

_FEEDBACK = Template((Path(__file__).parent / "answer.md").read_text(encoding="utf-8"))


class Answer:
    """Judges answers. Its public evidence is readability and the vote; whether an answer is right it tells nobody."""

    mode: Literal["answer"] = "answer"

    async def ready(self) -> None:
        """Needs nothing."""

    async def check(self, problem: Problem, text: str) -> Check:
        """Whether the answer can be read, and what it says; the key is not looked at, only the kind of an example's."""
        like = problem.examples[0].expected if problem.examples else problem.expected
        said = read(text, like)
        if said.text is None:
            return Check(False, _FEEDBACK.substitute(rule=said.rule.replace("_", " ")))
        return Check(True, "", score=1.0, vote=said.text)

    async def score(self, problem: Problem, completion: Completion) -> Judgement:
        """Compare with strict types. An unreadable key is the judge's fault, whatever the reply says."""
        try:
            expected = key(problem.expected)
        except ValueError as error:
            return Judgement(
                "judge_fault", "judge", "not_read", detail=f"the proved answer cannot be compared: {error}"
            )
        if completion.finish_reason in ("refusal", "content_filter"):
            return Judgement("refused", "model", "not_read", detail=f"finish reason {completion.finish_reason}")
        said = read(completion.text, problem.expected)
        if said.text is None:
            if completion.finish_reason == "length" or said.rule == "unclosed_reasoning":
                return Judgement("truncated", "model", said.rule, detail="the reply ends before its answer")
            if refuses(completion.text):
                return Judgement("refused", "model", said.rule, detail="the reply declines the task")
            return Judgement("unreadable", "model", said.rule, detail="no answer could be read")
        if said.text == expected:
            return Judgement("passed", "none", said.rule, (TestResult(test=0, outcome="passed", detail=""),))
        detail = f"it answered {show(said.text)}"
        return Judgement(
            "wrong_answer", "model", said.rule, (TestResult(test=0, outcome="wrong_answer", detail=detail),), detail
        )
