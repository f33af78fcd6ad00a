"""Finish a real task in a throw-away workspace: a loop of tool calls, or a command that works there itself."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from proceval.errors import InputError
from proceval.protocols import (
    AskJudge,
    AskModel,
    CheckText,
    Judgement,
    Model,
    Respond,
    Scorer,
    Strategy,
    Submission,
    Task,
)
from proceval.schema import AgentCase, Completion, Message, Outcome
from proceval.scorer.expectations import Exam, Expectations, Graded
from proceval.scorer.judge import Judge
from proceval.scorer.reasoning import without_reasoning
from proceval.track import agent_suite, agent_verdict, agent_written
from proceval.track.agent_prompt import SystemPrompt
from proceval.track.agent_suite import Suite
from proceval.track.tool_loop import Ending, Loop
from proceval.track.tools import TOOLS, Tools, schemas
from proceval.track.workplace import Workplace
from proceval.workshop import CaseFault, Unusable, Workshop
from sandbox.workspace import Workspace

ToolName = Literal["read", "write", "edit", "list", "search", "shell"]
_SUBJECT = "work on files in a folder; the text is the final reply, then the changes to the files"
_NOTHING = Completion(
    text="", finish_reason="other", prompt_tokens=None, completion_tokens=None, cost_usd=None, latency_s=0.0
)


@dataclass(frozen=True)
class Done(Submission):
    """How an agent's work ended, with what it left; `fault` is the case's own, and then there was no work."""

    ending: Ending = "done"
    fault: str | None = None
    unusable: str | None = None
    """Why there is no `workspace`, though there was work."""


class Agent:
    """Cases of a suite of files, each in a workspace of its own; what is left there is judged in a fresh one.

    `list` shows the chosen cases and does nothing else. `timeout_s` bounds the model's answers and its commands together,
    for cases that give no time of their own. Of tool results the model sees at most `result_characters`.
    """

    mode: Literal["agent"] = "agent"
    arms = ("default",)
    proved = False
    failures: frozenset[Outcome] = frozenset({"failed", "refused", "truncated", "turn_limit", "timeout"})

    def __init__(
        self,
        *,
        cases: str | list[str],
        cases_dir: str | None,
        fixtures_dir: str | None,
        list: bool,
        system_prompt: str | None,
        tools: Annotated[Sequence[ToolName], Field(min_length=1)],
        result_characters: Annotated[int, Field(ge=200)],
        timeout_s: Annotated[float, Field(gt=0)],
        judges: dict[str, Any],
        judge_attempts: Annotated[int, Field(ge=1)],
        workspace: Workshop,
    ):
        if len(set(tools)) != len(tools):
            raise InputError(f"track.tools={tools}: a tool is there twice")
        self.listing = list
        self._globs = cases
        self._cases_dir = agent_suite.OWN if cases_dir is None else Path(cases_dir)
        self._fixtures_dir = None if fixtures_dir is None else Path(fixtures_dir)
        self._system_prompt = SystemPrompt(system_prompt, {name: TOOLS[name][0] for name in tools})
        self._tools, self._result_characters, self._timeout_s = tuple(tools), result_characters, timeout_s
        self._judges, self._judge_attempts = dict(judges), judge_attempts
        self.workshop = self._workshop = workspace
        self._suite: Suite | None = None

    # -------------------------------------------------------------------------------------- cases

    @property
    def requests(self) -> tuple[int, int]:
        """Fewest and most model requests of one sample."""
        cases = self._known.cases
        return min(len(case.turns) for case in cases), max(case.max_turns for case in cases)

    def cases(self, folder: Any) -> Sequence[AgentCase]:
        """The chosen cases. Raises InputError naming file and line for whatever is wrong with any of the suite."""
        if self._suite is None:
            suite = agent_suite.load(self._cases_dir, self._fixtures_dir, self._globs)
            needs = next((case.family for case in suite.cases if case.rubric), None)
            if needs is not None and not self._judges and not self.listing:
                raise InputError(f"track.judges: none, but {needs} has a rubric; add +model@track.judges.first=MODEL")
            for case in suite.cases:
                self._system_prompt.of(case)
            for warning in suite.warnings:
                print(f"WARNING: {warning}", file=sys.stderr)
            self._suite = suite
        self._workshop.hide(folder.outputs, folder.path)
        return self._suite.cases

    @property
    def _known(self) -> Suite:
        assert self._suite is not None, "cases() comes first"
        return self._suite

    def prompt(self, case: AgentCase, arm: str = "default") -> tuple[Message, ...]:
        """System prompt and the first turn."""
        system = self._system_prompt.of(case)
        before = (Message(role="system", content=system),) if system else ()
        return (*before, Message(role="user", content=case.turns[0]))

    def scorer(self, sandbox: Any) -> Scorer:
        return Expectations(sandbox=sandbox, workshop=self._workshop)

    def judges(self) -> tuple[Model, ...]:
        """Models that decide rubrics; none where no case has one."""
        idle = self._suite is not None and not any(case.rubric for case in self._suite.cases)
        return () if idle else tuple(self._judges.values())

    async def ready(self, ask: AskModel) -> None:
        """Nothing has to hold: the scorer tests itself."""

    # -------------------------------------------------------------------------------------- work

    async def work(self, task: Task, strategy: Strategy, respond: Respond, check: CheckText) -> Submission:
        """The loop of tool calls, or one command a turn; the transcript is written however it ends."""
        if strategy.name != "flat":
            raise InputError(
                f"strategy={strategy.name}: track=agent has a loop of its own, so strategy=flat it must be"
            )
        case: AgentCase = task.case
        try:
            fixture, secret = self._known.fixture(case), self._known.secret
            async with self._workshop.open(fixture, case.setup, covered=secret, waiting=True) as workspace:
                place = Workplace(workspace, run_folder=task.folder, most_bytes=self._workshop.most_bytes)
                loop = Loop(
                    respond=respond,
                    tools=Tools(workspace, self._tools, self._result_characters),
                    schemas=schemas(self._tools),
                    workplace=place,
                    max_turns=case.max_turns,
                    timeout_s=self._timeout_s if case.timeout_s is None else case.timeout_s,
                )
                ending: Ending = "done"
                left, unusable = None, None
                try:
                    ending = await loop.run(self.prompt(case, task.arm), case.turns[1:])
                    left = await self._packed(workspace)
                except Unusable as error:
                    unusable = str(error)
                finally:
                    agent_written.transcript(task, loop.transcript())
        except CaseFault as fault:
            return Done(_NOTHING, fault=str(fault))
        return Done(loop.last or _NOTHING, left, loop.transcript(), ending=ending, unusable=unusable)

    async def _packed(self, workspace: Workspace) -> bytes:
        try:
            return await asyncio.to_thread(workspace.pack, self._workshop.most_bytes)
        except ValueError as error:
            raise Unusable(str(error)) from error

    # -------------------------------------------------------------------------------------- judgement

    async def judge(self, task: Task, submission: Submission, scorer: Any, ask: AskJudge) -> Judgement:
        """Checks in a fresh workspace, then the rubric; all must hold."""
        assert isinstance(submission, Done)
        case: AgentCase = task.case
        broken = agent_verdict.unfinished(case, submission.ending, submission.fault, self._limit_s(case))
        if broken is None and submission.unusable is not None:
            broken = agent_verdict.at_fault(Unusable(submission.unusable))
        if broken is not None:
            agent_written.checks(task, broken, None)
            return broken
        assert submission.workspace is not None
        reply = _visible(submission.completion.text) if submission.ending == "done" else ""
        exam = Exam(self._known.fixture(case), self._known.hidden_files(case), self._known.secret)
        try:
            graded: Graded = await scorer.grade(case, exam, submission.workspace, reply)
        except (CaseFault, Unusable) as fault:
            broken = agent_verdict.at_fault(fault)
            agent_written.checks(task, broken, None)
            return broken
        grades, unruled = graded.grades, None
        if case.rubric:
            more, unruled = await self._by_judges(case, reply, graded.diff, ask)
            grades += more
        judgement = agent_verdict.of(case, grades, submission, unruled)
        agent_written.checks(task, judgement, graded)
        return judgement

    def _limit_s(self, case: AgentCase) -> float:
        return self._timeout_s if case.timeout_s is None else case.timeout_s

    async def _by_judges(self, case: AgentCase, reply: str, diff: str, ask: AskJudge) -> tuple[Any, str | None]:
        """The grades of a rubric, and why there are none."""
        judge = Judge(count=len(self._judges), attempts=self._judge_attempts, subject=_SUBJECT)
        text = agent_verdict.shown(reply, diff)
        ruling = await judge.rule([one.criterion for one in case.rubric], text, ask)
        weights = {one.criterion.id: one.weight for one in case.rubric}
        return tuple(g.model_copy(update={"weight": weights[g.id]}) for g in ruling.grades), ruling.fault

    def missing_layers(self) -> tuple[str, ...]:
        """The layers that workspaces have been without."""
        return self._workshop.missing_layers

    def trials(self, say: Any) -> bool:
        """stage=selftest, before any model is looked at: nothing to try without workspaces."""
        return True

    def selftest(self, folder: Any, *, engine: Any, sandbox: Any, say: Any) -> int:
        """stage=selftest: scripted agents, right and wrong, through every case; returns the exit status."""
        from proceval.track.agent_selftest import run

        return run(self, folder, engine=engine, sandbox=sandbox, say=say)


def _visible(text: str) -> str:
    """A reply without the model's reasoning, nothing where that never ends; letter by letter where there is none."""
    said = without_reasoning(text)
    return text if said == text else (said or "").strip()
