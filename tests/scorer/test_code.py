"""The judge of programs, in a real sandbox: right ones score, attacks do not, and every failure has its class."""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from proceval.errors import Unscored
from proceval.protocols import Judgement
from proceval.schema import Completion, Problem, Test
from proceval.scorer.code import Code
from proceval.scorer.extract import extract
from sandbox.contract import Execution, Job
from sandbox.process import Process
from tests.arena import problem, solve

HIDDEN = problem(0)
HEAD = "def scaled_sum(values, factor):\n"


def completion(text: str, finish_reason: str = "stop") -> Completion:
    return Completion(
        text=text, finish_reason=finish_reason, prompt_tokens=1, completion_tokens=1, cost_usd=0.0, latency_s=0.0
    )  # type: ignore[arg-type]


def judge(box: Any, text: str, finish_reason: str = "stop", asked: Problem = HIDDEN) -> Judgement:
    return asyncio.run(Code(sandbox=box).score(asked, completion(text, finish_reason)))


RIGHT = {
    "reference": HIDDEN.reference,
    "built-in": HEAD + "    return sum(values) * factor",
    "method": "class Solution:\n    def scaled_sum(self, values, factor):\n        return sum(values) * factor",
    "own names": "def scaled_sum(v, f):\n    return sum(v) * f",
    "prints": HEAD + "    print('{\"passed\": false}')\n    return sum(values) * factor",
    "changes its argument": HEAD + "    total = sum(values)\n    values.clear()\n    return total * factor",
    "guarded": HEAD
    + "    return sum(values) * factor\nif __name__ == '__main__':\n    raise SystemExit(scaled_sum([1], 1))",
}

ATTACKS = {
    "constant": HEAD + "    return 0",
    "key plus one": HEAD + "    return sum(values) * factor + 1",
    "as a float": HEAD + "    return float(sum(values) * factor)",
    "as a text": HEAD + "    return str(sum(values) * factor)",
    "as a list": HEAD + "    return [sum(values) * factor]",
    "every candidate at once": HEAD + "    return set(range(-1000, 1000))",
    "equal to everything": "class E:\n    def __eq__(self, other):\n        return True\n" + HEAD + "    return E()",
    "a subclass": "class N(int):\n    def __eq__(self, other):\n        return True\n" + HEAD + "    return N(-1)",
    "prints a verdict": HEAD + "    print('passed')",
    "prints at import": 'print(\'{"status": "passed"}\')\n' + HEAD + "    return None",
    "leaves with 0": "import os\nos._exit(0)\n" + HEAD + "    return 0",
    "exits with 0": "import sys\n" + HEAD + "    sys.exit(0)",
    "walks the frames": (
        "import sys\n" + HEAD + "    frame = sys._getframe()\n    while frame:\n"
        "        for found in list(frame.f_locals.values()):\n            if hasattr(found, 'expected'):\n"
        "                return found.expected\n        frame = frame.f_back\n    return -1"
    ),
    "learns from the examples": HEAD
    + f"    return {{(1, 2): {HIDDEN.examples[0].expected}, (4,): {HIDDEN.examples[1].expected}}}.get(tuple(values))",
}

CLASSES = {
    "wrong_answer": HEAD + "    return 1",
    "runtime_error": HEAD + "    return values[99]",
    "timeout": HEAD + "    while True:\n        pass",
    "resource_limit": HEAD + "    return [0] * 10**10",
    "no_code": "Sum them up and multiply.",
    "refused": "I'm sorry, but I can't help with that.",
    "truncated": "<think>Let me think about",
}


def fenced(code: str) -> str:
    return f"```python\n{code}\n```\n"


@pytest.mark.parametrize("name", RIGHT)
def test_each_form_of_a_right_program_scores(box: Process, name: str) -> None:
    found = judge(box, fenced(RIGHT[name]))
    assert (found.outcome, found.fault) == ("passed", "none"), found.detail
    assert len(found.tests) == len(HIDDEN.tests)


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_scores(box: Process, name: str) -> None:
    found = judge(box, fenced(ATTACKS[name]))
    assert found.fault == "model"
    assert found.outcome in ("wrong_answer", "runtime_error", "resource_limit"), found.detail


def test_the_prompt_echoed_scores_nothing(box: Process) -> None:

    echo = solve("code").prompt(HIDDEN)[0].content
    assert judge(box, echo).outcome in ("no_code", "runtime_error")


@pytest.mark.parametrize("outcome", CLASSES)
def test_failures_fall_into_their_class(box: Process, outcome: str) -> None:
    code = CLASSES[outcome]
    found = judge(box, fenced(code) if code.startswith("def") else code)
    assert (found.outcome, found.fault) == (outcome, "model"), found


@pytest.mark.parametrize("reason", ["refusal", "content_filter"])
def test_a_refusal_is_the_models_whatever_it_says(box: Process, reason: str) -> None:
    assert judge(box, fenced(RIGHT["reference"]), reason).outcome == "refused"


def test_a_reply_cut_at_the_limit_is_truncated_unless_its_program_was_whole(box: Process) -> None:
    cut = "```python\n" + HEAD + "    total = 0\n    for value in values:\n        total +="
    assert judge(box, cut, "length").outcome == "truncated"
    assert judge(box, "Here is the plan:", "length").outcome == "truncated"
    assert judge(box, fenced(RIGHT["reference"]) + "This wor", "length").outcome == "passed"
    assert judge(box, fenced(ATTACKS["constant"]) + "This wor", "length").outcome == "wrong_answer"


def test_a_long_reply_is_read_beside_the_loop_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch, box: Process
) -> None:
    threads: list[bool] = []

    def watched(*given: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return extract(*given)

    monkeypatch.setattr("proceval.scorer.code.extract", watched)
    short = fenced(RIGHT["reference"])
    long = "It is a sum.\n" * 4000 + short
    found = [judge(box, short), judge(box, long)]
    checks = [asyncio.run(Code(sandbox=box).check(HIDDEN, text)) for text in (short, long)]
    assert found[0] == found[1]
    assert checks[0] == checks[1]
    assert threads == [True, False, True, False]


def test_hidden_values_stay_out_of_public_feedback_and_of_details(box: Process) -> None:
    code = Code(sandbox=box)
    check = asyncio.run(code.check(HIDDEN, fenced(HEAD + "    return 5")))
    assert not check.passed
    assert check.score == 0
    assert "scaled_sum(values=[1, 2], factor=2)" in check.feedback
    found = judge(box, fenced(HEAD + "    return 5"))
    for test in HIDDEN.tests:
        assert str(test.expected) not in found.detail or test.expected == 0
        assert str(test.arguments["values"]) not in check.feedback


def test_public_score_is_a_share(box: Process) -> None:
    first_only = fenced(HEAD + f"    return {HIDDEN.examples[0].expected}")
    assert asyncio.run(Code(sandbox=box).check(HIDDEN, first_only)).score == 0.5
    assert asyncio.run(Code(sandbox=box).check(HIDDEN, fenced(HIDDEN.reference))).passed


class Broken:
    """A sandbox that fails `failures` times."""

    def __init__(self, box: Process, failures: int):
        self.limits, self._box, self._failures = box.limits, box, failures

    async def arun(self, job: Job) -> Execution:
        if self._failures:
            self._failures -= 1
            return Execution((), fault="no memory for another process")
        return await self._box.arun(job)


def test_a_sandbox_failure_is_nobodys_answer(box: Process) -> None:
    found = judge(Broken(box, 9), fenced(RIGHT["reference"]))
    assert (found.outcome, found.fault) == ("sandbox_fault", "sandbox")
    assert judge(Broken(box, 1), fenced(RIGHT["reference"])).outcome == "passed"
    with pytest.raises(Unscored, match="no memory"):
        asyncio.run(Code(sandbox=Broken(box, 9)).check(HIDDEN, fenced("x = 1\n" + HIDDEN.reference)))


def test_a_sandbox_that_misjudges_its_canary_scores_nothing(box: Process) -> None:
    asyncio.run(Code(sandbox=box).ready())

    class Flattering(Broken):
        async def arun(self, job: Job) -> Execution:
            execution = await self._box.arun(job)
            return replace(execution, results=tuple(replace(r, kind="returned", wire="0") for r in execution.results))

    for bad in (Flattering(box, 0), Broken(box, 9)):
        with pytest.raises(Unscored):
            asyncio.run(Code(sandbox=bad).ready())


def test_a_key_that_cannot_be_compared_is_the_judges_fault(box: Process) -> None:
    class Odd(int):
        pass

    tests = (Test.model_construct(arguments={}, expected=Odd(1), origin="main"),)
    spoiled = HIDDEN.model_copy(update={"tests": tests})
    found = judge(box, "banana", asked=spoiled)
    assert (found.outcome, found.fault) == ("judge_fault", "judge")
