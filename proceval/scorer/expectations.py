"""What must hold when an agent is done: commands, files, calls and the final reply, looked at in a fresh workspace."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from proceval.compare import same
from proceval.errors import Unscored
from proceval.protocols import Check, Judgement
from proceval.schema import AgentCase, AgentCheck, Completion, Grade, Json
from proceval.scorer.printed import shown_line, unlike
from proceval.scorer.python_tree import ENTRY_POINT, program
from proceval.scorer.ruby import translate
from proceval.workshop import CaseFault, Unusable, Workshop
from sandbox.contract import Execution, Job, Limits
from sandbox.fixture import Changed, shown
from sandbox.workspace import Workspace

_MATCH = "import re\n\n\ndef matches(pattern, text):\n    return re.search(pattern, text) is not None\n"
_MOST_SOURCE_BYTES = 4 << 20
_TRIES = 2
T = TypeVar("T")


class LimitedSandbox(Protocol):
    """A sandbox that carries the limits that its configuration gives every job."""

    limits: Limits

    async def arun(self, job: Job) -> Execution: ...


@dataclass(frozen=True)
class Exam:
    """What a case is judged with besides its checks."""

    fixture: Path
    hidden: Mapping[str, bytes]
    """Content by path of what is laid over the workspace before commands run."""
    secret: Sequence[Path]
    """Folders that no command sees."""


@dataclass(frozen=True)
class Graded:
    """What the checks gave."""

    grades: tuple[Grade, ...]
    notes: tuple[str, ...]
    """What the commands printed, one text a check, for people."""
    diff: str
    """What the agent changed since set-up; git's own files are left out."""


class Expectations:
    """Judges what an agent left: commands in a fresh workspace, patterns and calls in the sandbox, texts here."""

    mode: Literal["agent"] = "agent"

    def __init__(self, *, sandbox: LimitedSandbox, workshop: Workshop):
        self._sandbox, self._workshop = sandbox, workshop

    async def ready(self) -> None:
        """A command that succeeds, one that fails and a pattern. Raises Unscored when one is misjudged."""
        try:
            async with self._workshop.open(None, ("echo ready > canary",)) as workspace:
                good, bad = await workspace.arun("grep -q ready canary"), await workspace.arun("exit 7")
        except CaseFault as error:
            raise Unscored(f"the workspace fails its canary, nothing was scored: {error}") from error
        if (good.kind, good.exit_code, bad.kind, bad.exit_code) != ("exited", 0, "exited", 7):
            raise Unscored(f"the workspace fails its canary, nothing was scored: {good}, {bad}")
        if not await self._matches("^b$", "a\nb\nc") or await self._matches(r"\Ab", "a\nb"):
            raise Unscored("the sandbox fails its canary, nothing was scored")

    async def check(self, problem: AgentCase, text: str) -> Check:
        """Nothing is public: an agent sees its task and its workspace."""
        return Check(False, "")

    async def score(self, problem: AgentCase, completion: Completion) -> Judgement:
        """Agents are judged by what they leave: see `grade`."""
        raise TypeError("an agent's completion is judged with its workspace")

    async def grade(self, case: AgentCase, exam: Exam, left: bytes, reply: str) -> Graded:
        """Every check, in order.

        Raises Unscored when the sandbox fails, CaseFault when set-up does not repeat, Unusable when what was left, or
        what its commands make of it, is a tree that can be neither put back nor looked at.
        """
        async with self._workshop.open(exam.fixture, case.setup, covered=exam.secret) as workspace:
            await _on_the_tree(workspace.unpack, left)
            diff = await _on_the_tree(workspace.diff, [".git"])
            paths = {check.path for check in case.checks if check.path}
            files = {path: await asyncio.to_thread(_text, workspace, path) for path in paths}
            found = []
            for check in case.checks:
                if check.kind in ("verify", "prints", "calls"):
                    # Before each of them: what ran before may have changed what the next one rests on.
                    await _on_the_tree(_put_right, workspace, case, exam)
                if check.kind in ("verify", "prints"):
                    found.append(await self._command(check, workspace))
                elif check.kind == "calls":
                    found.append(await self._calls(check, workspace))
                elif check.path:
                    found.append((_file(check, *files[check.path]), ""))
                else:
                    found.append((await self._response(check, reply), ""))
        return Graded(tuple(grade for grade, _ in found), tuple(note for _, note in found), diff)

    async def _command(self, check: AgentCheck, workspace: Workspace) -> tuple[Grade, str]:
        """A command that must end with 0 and, for `prints`, print what only this process knows."""
        outcome = await workspace.arun(check.text)
        if outcome.fault is not None:
            raise Unscored(f"workspace: {outcome.fault}")
        ended = f"exit {outcome.exit_code}" if outcome.kind == "exited" else outcome.kind.replace("_", " ")
        passed = outcome.kind == "exited" and outcome.exit_code == 0
        if passed and check.expected is not None:
            other = unlike(check.expected, outcome.raw_stdout)
            passed, ended = other is None, ended if other is None else other
        elif not passed and (complaint := outcome.stderr.strip()):
            ended += f", {shown_line(complaint.splitlines()[-1])}"
        command = " ".join(check.text.split())
        said = f"{check.kind} {'passed' if passed else 'failed'} ({ended}): {command[:300]}"
        return _grade(check, passed, said), f"{outcome.stdout}{outcome.stderr}"[-4000:]

    async def _calls(self, check: AgentCheck, workspace: Workspace) -> tuple[Grade, str]:
        code = program(await _on_the_tree(_sources, workspace), check.text)
        execution = await self._run(code, ENTRY_POINT, [call.arguments for call in check.calls])
        right = [same(c.expected, r.wire) for c, r in zip(check.calls, execution.results, strict=True)]
        said = f"{check.text}: {sum(right)} of {len(right)} calls right"
        if not all(right):
            first = right.index(False)
            result = execution.results[first]
            told = f"{result.kind} {result.exception or ''}".strip() if result.kind != "returned" else "another value"
            told += f": {shown_line(result.message)}" if result.message else ""
            said += f"; call {first + 1}: {told}"
        return _grade(check, all(right), said), execution.stdout[-4000:]

    async def _response(self, check: AgentCheck, reply: str) -> Grade:
        if check.kind == "response_matches":
            found = await self._matches(check.text, reply)
            if found is None:
                # The reply is the model's, and it must not choose to be left uncounted: not matched is not matched.
                return _grade(check, False, f"reply: /{check.text}/ did not come to an end on it")
            return _grade(check, found, f"reply {'matches' if found else 'does not match'} /{check.text}/")
        return _grade(check, *_looked_for(check, "reply", reply))

    async def _matches(self, pattern: str, text: str) -> bool | None:
        """Whether a Ruby pattern matches; None when it runs into a limit: neither text nor pattern is ours."""
        execution = await self._run(_MATCH, "matches", [{"pattern": translate(pattern), "text": text}])
        result = execution.results[0]
        return same(True, result.wire) if result.kind == "returned" else None

    async def _run(self, code: str, entry_point: str, inputs: list[dict[str, Json]]) -> Execution:
        job = Job(code, entry_point, inputs, self._sandbox.limits)
        for _ in range(_TRIES):
            execution = await self._sandbox.arun(job)
            if execution.fault is None and len(execution.results) == len(inputs):
                return execution
        raise Unscored(f"sandbox: {execution.fault or 'results are missing'}")


def score(grades: tuple[Grade, ...]) -> float | None:
    """Weighted share of what holds; None when there is nothing, or something could not be decided."""
    if not grades or any(grade.passed is None for grade in grades):
        return None
    return sum(grade.weight for grade in grades if grade.passed) / sum(grade.weight for grade in grades)


async def _on_the_tree(work: Callable[..., T], *arguments: Any) -> T:
    """Work of the host on files of the agent's, in a thread. Raises Unusable where they do not allow it."""
    try:
        return await asyncio.to_thread(work, *arguments)
    except Changed as error:
        raise Unscored(f"workspace: {error}") from error
    except ValueError as error:
        raise Unusable(str(error)) from error


def _put_right(workspace: Workspace, case: AgentCase, exam: Exam) -> None:
    if case.protect:
        workspace.restore(case.protect)
    workspace.lay(exam.hidden)


def _grade(check: AgentCheck, passed: bool | None, evidence: str) -> Grade:
    return Grade(id=check.id, kind=check.kind, passed=passed, weight=check.weight, evidence=evidence)


def _text(workspace: Workspace, path: str) -> tuple[str | None, str]:
    """A file's text; where there is none to be read, None and why."""
    try:
        return workspace.read(path).decode("utf-8", "replace"), ""
    except FileNotFoundError:
        return None, "is not there"
    except ValueError as error:
        return None, f"cannot be read as a file: {error}"


def _file(check: AgentCheck, text: str | None, why: str) -> Grade:
    if text is None:
        return _grade(check, False, f"{check.path} {why}")
    return _grade(check, *_looked_for(check, check.path, text))


def _looked_for(check: AgentCheck, where: str, text: str) -> tuple[bool, str]:
    there = check.text in text
    shown = '"' + check.text[:200].replace("\n", "\\n") + '"'
    if check.kind.endswith("not_contains"):
        return not there, f"{where} {'still has' if there else 'lacks'} {shown}"
    return there, f"{where} {'has' if there else 'missing'} {shown}"


def _sources(workspace: Workspace) -> dict[str, str]:
    """The Python files of a workspace with names in UTF-8, up to a few megabytes in all."""
    found, left = {}, _MOST_SOURCE_BYTES
    for path, entry in workspace.list().items():
        if entry.kind == "file" and path.endswith(".py") and shown(path) == path and entry.size_bytes <= left:
            left -= entry.size_bytes
            text, _ = _text(workspace, path)
            if text is not None:
                found[path] = text
    return found
