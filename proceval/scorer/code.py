"""Code mode: the program runs in the sandbox on inputs alone; what it returns is compared here with strict types."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Literal, Protocol

from proceval.compare import key, same, show
from proceval.errors import Unscored
from proceval.protocols import Check, Judgement
from proceval.schema import Completion, Json, Outcome, Problem, Test, TestResult
from proceval.scorer.extract import Extracted, extract
from proceval.scorer.refusal import refuses
from proceval.seeding import digest
from sandbox.contract import Execution, Job, Limits, Result

_OUTCOME: dict[str, Outcome] = {
    "raised": "runtime_error",
    "exited": "runtime_error",
    "killed": "runtime_error",
    "protocol": "runtime_error",
    "timeout": "timeout",
    "memory": "resource_limit",
    "output_limit": "resource_limit",
    "unserialisable": "wrong_answer",
}
_FEEDBACK = Template((Path(__file__).parent / "code.md").read_text(encoding="utf-8"))
_MOST_KNOWN, _MOST_KNOWN_CHARACTERS = 1000, 20_000
_MOST_READ_HERE = 20_000
"""Longer replies, in characters, are read in a thread: the densest of them take more than 50 ms."""
_TRIES = 2
"""Runs of one job before a sandbox failure is recorded as a fault."""


class LimitedSandbox(Protocol):
    """A sandbox that carries the limits that its configuration gives every job."""

    limits: Limits

    async def arun(self, job: Job) -> Execution: ...


class Code:
    """Judges programs: hidden tests for the record, public examples for strategies."""

    mode: Literal["code"] = "code"

    def __init__(self, *, sandbox: LimitedSandbox):
        self._sandbox = sandbox
        self._known: dict[str, Execution] = {}

    async def ready(self) -> None:
        """Run a right and a wrong program whose results are known. Raises Unscored when either is misjudged."""
        inputs = ({"value": 20},)
        execution = await self._run("def canary(value):\n    return [value, value + 1.5, None]\n", "canary", inputs)
        if not same([20, 21.5, None], execution.results[0].wire) or same([20, 22.5, None], execution.results[0].wire):
            raise Unscored(f"the sandbox fails its canary, nothing was scored: {execution.results[0]}")
        execution = await self._run("def canary(value):\n    raise KeyError(value)\n", "canary", inputs)
        if execution.results[0].kind != "raised":
            raise Unscored(f"the sandbox calls a failing program {execution.results[0].kind}, nothing was scored")

    async def check(self, problem: Problem, text: str) -> Check:
        """What the public examples say, in words; they are shown in the prompt, so nothing here is a secret."""
        found = await _read(text, problem)
        if found.code is None:
            failures = f"No program that defines `{problem.entry_point}` was found in your reply ({found.rule}).\n"
            return Check(False, _FEEDBACK.substitute(failures=failures, entry_point=problem.entry_point))
        if not problem.examples:
            return Check(True, "", score=1.0)
        inputs = [test.arguments for test in problem.examples]
        execution = await self._run(found.code, problem.entry_point, inputs)
        results = [
            _judge(*tried) for tried in zip(range(len(inputs)), problem.examples, execution.results, strict=True)
        ]
        passed = sum(result.outcome == "passed" for result in results)
        failures = "\n".join(
            f"- `{_call(problem, test)}` should return `{test.expected!r}`; {result.detail}."
            for test, result in zip(problem.examples, results, strict=True)
            if result.outcome != "passed"
        )
        feedback = _FEEDBACK.substitute(failures=failures + "\n", entry_point=problem.entry_point) if failures else ""
        return Check(passed == len(results), feedback, score=passed / len(results))

    async def score(self, problem: Problem, completion: Completion) -> Judgement:
        """Run the hidden tests in order up to the first that does not pass."""
        if completion.finish_reason in ("refusal", "content_filter"):
            return Judgement("refused", "model", "not_read", detail=f"finish reason {completion.finish_reason}")
        try:
            for test in problem.tests:
                key(test.expected)
        except ValueError as error:
            return Judgement(
                "judge_fault", "judge", "not_read", detail=f"an expected value cannot be compared: {error}"
            )
        found = await _read(completion.text, problem)
        if found.code is None:
            return _nothing_found(found, completion)
        try:
            execution = await self._run(
                found.code, problem.entry_point, [t.arguments for t in problem.tests], stop_on_failure=True
            )
        except Unscored as fault:
            return Judgement("sandbox_fault", "sandbox", found.rule, detail=str(fault))
        results = []
        for number, (test, got) in enumerate(zip(problem.tests, execution.results, strict=True)):
            results.append(_judge(number, test, got))
            if results[-1].outcome != "passed":
                break
        last = results[-1]
        if last.outcome == "passed":
            return Judgement("passed", "none", found.rule, tuple(results))
        if completion.finish_reason == "length" and not found.closed:
            return Judgement("truncated", "model", found.rule, tuple(results), "cut at the token limit")
        return Judgement(last.outcome, "model", found.rule, tuple(results), f"test {last.test}: {last.detail}")

    async def _run(
        self, code: str, entry_point: str, inputs: Sequence[dict[str, Json]], *, stop_on_failure: bool = False
    ) -> Execution:
        job = Job(code, entry_point, inputs, self._sandbox.limits, stop_on_failure)
        identity = digest([code, entry_point, list(inputs), stop_on_failure])
        if identity in self._known:
            return self._known[identity]
        for attempt in range(_TRIES):
            execution = await self._sandbox.arun(job)
            if execution.fault is None and len(execution.results) == len(inputs):
                self._remember(identity, execution)
                return execution
            await asyncio.sleep(0.05 * attempt)
        raise Unscored(f"sandbox: {execution.fault or 'results are missing'}")

    def _remember(self, identity: str, execution: Execution) -> None:
        """Equal programs on equal inputs run once: models repeat themselves."""
        if sum(len(result.wire or "") for result in execution.results) <= _MOST_KNOWN_CHARACTERS:
            self._known[identity] = execution
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]


async def _read(text: str, problem: Problem) -> Extracted:
    """The program in a reply; a long one is read beside the loop, which waits for one parse at most at a time."""
    if len(text) <= _MOST_READ_HERE:
        return extract(text, problem.entry_point, problem.parameters)
    return await asyncio.to_thread(extract, text, problem.entry_point, problem.parameters)


def _judge(number: int, test: Test, got: Result) -> TestResult:
    if got.kind == "returned":
        if same(test.expected, got.wire):
            return TestResult(test=number, outcome="passed", detail="")
        return TestResult(test=number, outcome="wrong_answer", detail=f"it returned {show(got.wire or '')}")
    if got.kind == "not_run":
        return TestResult(test=number, outcome="sandbox_fault", detail="it was not run")
    where = f" in line {got.line}" if got.line else ""
    told = {
        "raised": f"it raised {got.exception}{where}{': ' if got.message else ''}{got.message or ''}",
        "timeout": "it did not end within the time limit",
        "memory": "it ran out of memory",
        "output_limit": "it returned or printed too much",
        "unserialisable": "it returned something other than plain data",
        "exited": "it left before returning",
        "killed": "it crashed",
        "protocol": "it broke off without a result",
    }[got.kind]
    return TestResult(test=number, outcome=_OUTCOME[got.kind], detail=" ".join(told.split())[:300])


def _nothing_found(found: Extracted, completion: Completion) -> Judgement:
    if completion.finish_reason == "length" or found.rule == "unclosed_reasoning":
        return Judgement("truncated", "model", found.rule, detail="the reply ends before its program")
    if refuses(completion.text):
        return Judgement("refused", "model", found.rule, detail="the reply declines the task")
    return Judgement("no_code", "model", found.rule, detail="no program in the reply")


def _call(problem: Problem, test: Test) -> str:
    arguments = ", ".join(f"{name}={test.arguments[name]!r}" for name in problem.parameters)
    return f"{problem.entry_point}({arguments})"
