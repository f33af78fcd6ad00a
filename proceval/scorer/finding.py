"""Grades a review by running code: does the claimed input really show the claimed fault?

A review of a case with a key ends in JSON: `{"line": .., "input": {..}, "expected": .., "actual": ..}`, or `null` where
the reviewer finds nothing wrong. A claim holds when the input is within the contract, `expected` is what the contract's
reference returns for it, `actual` is what the file under review gives for it, and the two differ. The line is graded
beside it and decides nothing. A file that runs out of time or memory shows a bug only where the key says that the bug is
of that kind: an honest rewriting may be slower than the reference, too. Everything that runs, runs in the sandbox;
nothing in the review is ever executed.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import ValidationError

from proceval.compare import same, show
from proceval.errors import InputError, Malformed, Unscored
from proceval.protocols import Family, Section
from proceval.schema import Grade, Json, Record, ReviewCase
from proceval.scorer.reasoning import without_reasoning
from sandbox.contract import Execution, Job, Limits, Result
from sandbox.worker import Worker

FIELDS = ("line", "input", "expected", "actual")
MOST_CHARACTERS = 20_000
"""Length of a claim's JSON text that is still read."""
_MOST_BRACES = 300
_TRIES = 2
_RAN_OUT = frozenset({"timeout", "memory", "killed", "output_limit"})
_LONG_S = 2.0
_TIMES = 20
"""A file that never ends has had this much CPU time, and this many times what the reference needs."""


class Key(Record):
    """The content of key.json: the proved truth about the file under review."""

    truth: Literal["bug", "harmless"]
    family: str
    entry_point: str
    file: str
    """Path of the file under review below input/."""
    reference: str
    """The contract as code: a whole Python module."""
    lines: tuple[int, ...]
    """Lines of the file that the bug's edit wrote, counted from 1; where it left a statement out, those on both sides of the
    gap; none where there is no bug."""
    operator: str | None
    """Of the mutant that makes the bug."""
    witness: dict[str, Json] | None
    """A smallest known input, with what is expected and what the file gives, as a claim; None for a harmless file."""
    revealed_by: float | None
    """Share of all small instances that show the bug."""
    rewritings: tuple[str, ...]
    """What was rewritten honestly around it: rule and place."""
    proof: dict[str, Json] | None
    """Of a proven equivalent edit in the file: before, after, method, bound, lemma."""
    tested: int
    """Small and targeted instances on which the file was run against the oracle."""


class LimitedSandbox(Protocol):
    """A sandbox that carries the limits that its configuration gives every job."""

    limits: Limits

    async def arun(self, job: Job) -> Execution: ...


@dataclass(frozen=True)
class Claim:
    """What a review says, read but not believed; `input` is None for "nothing is wrong"."""

    line: Json
    input: Json
    expected: Json
    actual: Json


@dataclass(frozen=True)
class Found:
    """What running the claim gave."""

    passed: bool | None
    """None where the case itself is refuted: the claim holds, but the file counts as harmless."""
    rule: str
    """`holds`, `missed`, `nothing_to_find`, or why a claim fails: `unreadable`, `outside_contract`, ..."""
    detail: str
    grades: tuple[Grade, ...]


def key_of(case: ReviewCase) -> Key:
    """The case's key. Raises InputError naming the case and the field that is wrong."""
    try:
        return Key.model_validate(case.key)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"case {case.family}: key.json, {where or 'content'}: {first['msg']}") from error


class Finding:
    """The deterministic grader of procedural reviews. Make it on the main thread, before event loops exist.

    `families` by name decide what is within a contract; the worker that asks them is forked at once.
    """

    def __init__(self, *, sandbox: LimitedSandbox, families: Mapping[str, Family]):
        self._sandbox, self._families = sandbox, families
        self._worker = Worker(self._truth, cpu_s=2.0, wall_s=60.0, memory_bytes=2 << 30)

    def close(self) -> None:
        self._worker.close()

    def check(self, cases: Iterable[ReviewCase]) -> None:
        """Raises InputError for a case with a broken key or of a family that is not there."""
        for case in cases:
            if case.key is None:
                continue
            key = key_of(case)
            if key.family not in self._families:
                have = ", ".join(self._families) or "none"
                raise InputError(f"case {case.family} is about {key.family}: choose its domain=; families here: {have}")
            if key.file not in {file.path for file in case.files}:
                raise InputError(f"case {case.family}: key.json, file: {key.file} is not among the files under review")

    async def grade(self, case: ReviewCase, review: str) -> Found:
        """Grade one review. Raises Unscored when the sandbox fails."""
        key = key_of(case)
        try:
            claim = read(review)
        except ValueError as error:
            return _found(key, None, False, "unreadable", f"the review's end cannot be read: {error}")
        if claim.input is None:
            if key.truth == "harmless":
                return _found(key, claim, True, "nothing_to_find", "nothing is claimed, and nothing is wrong")
            return _found(key, claim, False, "missed", "nothing is claimed, but there is a bug")
        if not isinstance(claim.input, dict):
            return _found(key, claim, False, "outside_contract", "the input is not a JSON object of arguments by name")
        ran = self._worker.call((key.family, claim.input))
        truth = ran.value if ran.status == "done" else f"the contract could not be decided ({ran.status})"
        if truth is not None:
            return _found(key, claim, False, "outside_contract", truth)
        file = next(file for file in case.files if file.path == key.file)
        expected = await self._run(key.reference, key.entry_point, claim.input)
        actual = await self._run(file.content, key.entry_point, claim.input)
        return _compared(key, claim, expected, actual)

    async def _run(self, code: str, entry_point: str, arguments: dict[str, Json]) -> Result:
        execution = Execution((), fault="not run")
        for attempt in range(_TRIES):
            execution = await self._sandbox.arun(Job(code, entry_point, [arguments], self._sandbox.limits))
            if execution.fault is None and execution.results:
                return execution.results[0]
            await asyncio.sleep(0.05 * attempt)
        raise Unscored(f"sandbox: {execution.fault or 'results are missing'}")

    def _truth(self, asked: tuple[str, dict[str, Json]], section: Section) -> str | None:
        """In the worker: why the input is outside the contract, or None."""
        family, arguments = self._families[asked[0]], asked[1]
        try:
            family.validate(arguments)
        except Malformed as error:
            return f"the input is outside the contract: {error}"
        status = family.oracle(arguments).status
        return None if status == "unique" else f"the input is outside the contract: its answer is {status}"


def read(review: str) -> Claim:
    """The JSON that a review ends in, in a fence or bare. Raises ValueError in words for people."""
    visible = without_reasoning(review.replace("\r\n", "\n"))
    if visible is None:
        raise ValueError("the reasoning never ends")
    text = re.sub(r"\n?(?:```|~~~)\s*\Z", "", visible.rstrip()).rstrip()
    if re.search(r"(?:\A|[\s`:*])null\Z", text):
        return Claim(None, None, None, None)
    tail = text[-MOST_CHARACTERS:]
    for place in [match.start() for match in re.finditer(r"\{", tail)][-_MOST_BRACES:]:
        try:
            found, end = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refused).raw_decode(tail, place)
        except (ValueError, RecursionError):
            continue
        if end == len(tail) and isinstance(found, dict):
            return _claim(found)
    raise ValueError(f"it does not end in a JSON object with {', '.join(FIELDS)}, or in null")


def _claim(found: dict[str, Json]) -> Claim:
    if set(found) != set(FIELDS):
        raise ValueError(f"the keys must be exactly {', '.join(FIELDS)}, not {', '.join(found) or 'none'}")
    if found["input"] is None:
        raise ValueError("input must be an object of arguments; where nothing is wrong the review ends in null")
    return Claim(**found)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _refused(constant: str) -> Json:
    raise ValueError(f"{constant} is not JSON")


def _compared(key: Key, claim: Claim, expected: Result, actual: Result) -> Found:
    if expected.kind != "returned":
        return _found(key, claim, False, "too_large", f"the reference gives no value for this input: {expected.kind}")
    if not same(claim.expected, expected.wire):
        got = show(expected.wire or "")
        return _found(key, claim, False, "wrong_expected", f"the contract asks for {got}, not what the review expects")
    if actual.wire == expected.wire:
        return _found(key, claim, False, "no_fault", f"the file gives the right value, {show(actual.wire or '')}")
    if _ran_out(actual) and not _by_its_bug(key, expected, actual):
        return _found(
            key, claim, False, "too_large", f"the file {_did(actual)}, which shows nothing for an input so large"
        )
    if not _told(claim.actual, actual):
        return _found(key, claim, False, "wrong_actual", f"the file {_did(actual)}, not what the review says")
    return _found(
        key, claim, True, "holds", f"the file {_did(actual)}, the contract asks for {show(expected.wire or '')}"
    )


def _told(said: Json, actual: Result) -> bool:
    """Whether the review says what the file does; failures are told as `raises NAME` or by the result's own kind."""
    if actual.kind == "returned":
        return same(said, actual.wire)
    if not isinstance(said, str):
        return False
    if actual.kind == "raised":
        return (
            re.fullmatch(rf"(?:raises? )?{re.escape(actual.exception or '?')}\b.*", said.strip(), re.DOTALL) is not None
        )
    return said.strip() == actual.kind


def _ran_out(actual: Result) -> bool:
    return actual.kind in _RAN_OUT or actual.exception in ("MemoryError", "RecursionError")


def _by_its_bug(key: Key, expected: Result, actual: Result) -> bool:
    """Whether the file ran out of what the key's witness runs out of, and of time only far beyond the reference."""
    if key.truth == "harmless" or key.witness is None or not _told(key.witness.get("actual"), actual):
        return False
    return actual.kind != "timeout" or actual.cpu_s >= max(_LONG_S, _TIMES * expected.cpu_s)


def _did(actual: Result) -> str:
    if actual.kind == "returned":
        return f"returns {show(actual.wire or '')}"
    return f"raises {actual.exception}" if actual.kind == "raised" else f"ends with {actual.kind}"


def _found(key: Key, claim: Claim | None, passed: bool, rule: str, detail: str) -> Found:
    if passed and rule == "holds" and key.truth == "harmless":
        return Found(None, "refuted", f"the case is wrong: {detail}, but the file counts as harmless", ())
    grades = [Grade(id="finding", kind="finding", passed=passed, weight=1.0, evidence=f"{rule}: {detail}")]
    if key.truth == "bug" and claim is not None and claim.input is not None:
        near = isinstance(claim.line, int) and any(abs(claim.line - line) <= 1 for line in key.lines)
        said = json.dumps(claim.line)[:80]
        grades.append(
            Grade(id="line", kind="finding_line", passed=near, weight=0.0, evidence=f"the review says line {said}")
        )
    return Found(passed, rule, detail, tuple(grades))
