"""Review files: flag what is wrong, leave alone what is right, rewrite nothing; with and without a skill."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

from pydantic import Field

from proceval.errors import Finding, InputError
from proceval.model.command import Command
from proceval.protocols import (
    AskJudge,
    AskModel,
    CheckText,
    Judgement,
    Model,
    Respond,
    Strategy,
    Submission,
    Task,
)
from proceval.schema import CaseFile, Completion, Message, Outcome, ReviewCase
from proceval.scorer.judge import Ruling
from proceval.scorer.reasoning import without_reasoning
from proceval.scorer.review import Review as Scorer
from proceval.track import review_leaks, review_stamp, review_suite, review_written
from proceval.track.review_reading import converse
from proceval.track.review_suite import Skill, Suite
from proceval.track.review_untouched import Listing, differences, listing
from proceval.track.workplace import Workplace
from proceval.workshop import CaseFault, Workshop
from sandbox.workspace import Workspace

_HERE = Path(__file__).parent
_TEXTS = {
    name: Template((_HERE / f"review_{name}.md").read_text(encoding="utf-8"))
    for name in ("prompt", "tools", "skill", "canary")
}
Arm = Literal["baseline", "treatment"]


class Review:
    """Cases of a suite, each asked bare (`baseline`) and with the suite's skill (`treatment`).

    `files` says how the reviewer gets at them: in the `prompt`, by read-only `tools`, or in a throw-away `workspace`
    where a model that is a command may do as it likes. Without judges only cases with a key can be graded.
    """

    mode: Literal["review"] = "review"
    proved = False
    failures: frozenset[Outcome] = frozenset({"rewrote"})

    def __init__(
        self,
        *,
        suite: str | None,
        cases: str | list[str],
        skill: str | None,
        arms: Annotated[list[Arm], Field(min_length=1)],
        files: Literal["prompt", "tools", "workspace"],
        turns: Annotated[int, Field(ge=1)],
        canary: bool,
        homes: list[str],
        skill_folder: str,
        traces: list[str],
        judges: dict[str, Any],
        judge_attempts: Annotated[int, Field(ge=1)],
        families: dict[str, Any],
        workspace: Workshop,
    ):
        if len(set(arms)) != len(arms):
            raise InputError(f"track.arms={arms}: an arm is there twice")
        self.arms = tuple(arms)
        self.files, self._turns, self._canary, self._homes = files, turns, canary, homes
        self._folder = review_suite.OWN if suite is None else Path(suite)
        self._glob, self._skill = cases, skill
        self._skill_folder, self._traces = skill_folder, traces
        self._judges, self.judge_attempts = dict(judges), judge_attempts
        self._families, self._workshop = families, workspace
        self._suite: Suite | None = None
        self._before: dict[tuple[str, str], Listing] = {}
        self._run_folder = self._stamps = Path()

    # -------------------------------------------------------------------------------------- cases and arms

    def read(self, folder: Any) -> Sequence[ReviewCase]:
        """The chosen cases, whatever the arms; raises InputError for a suite that is not as it must be."""
        suite = review_suite.load(self._folder, self._glob)
        if self._skill is not None:
            suite = review_suite.with_skill(suite, Path(self._skill))
        self._workshop.hide(folder.outputs, folder.path)
        self._suite, self._run_folder, self._stamps = suite, folder.path, review_stamp.home(folder.outputs)
        return suite.cases

    def cases(self, folder: Any) -> Sequence[ReviewCase]:
        """The same for a run with its arms; raises Finding, too, for a skill that leaks into the baseline."""
        cases, skill = self.read(folder), self.suite.skill
        if skill is None and "treatment" in self.arms:
            raise InputError(
                f"{self._folder}: has no skill, so there is no arm treatment; give track.arms=[baseline] or track.skill=PATH"
            )
        if not self._judges and any(case.key is None for case in cases):
            raise InputError(f"track.judges: none, but case {_keyless(self.suite)} has no key.json to be graded by")
        if skill is not None and "baseline" in self.arms:
            leaks = review_leaks.in_cases(skill.name, cases)
            leaks += review_leaks.in_homes(skill.name, self._homes, skill.files)
            if leaks:
                more = f" (and {len(leaks) - 1} more)" if len(leaks) > 1 else ""
                raise Finding(
                    f"the skill leaks into the baseline: {leaks[0]}{more}; remove it, or give track.homes=[...]"
                )
        return cases

    def prompt(self, case: ReviewCase, arm: str) -> tuple[Message, ...]:
        """What a user would ask, with the files where they go into the prompt, after the skill where it is a text."""
        if not isinstance(case, ReviewCase):
            raise InputError("track=review asks for reviews; the case given is none")
        texts = {"prompt": case.prompt.strip(), "files": "\n\n".join(map(_shown, case.files))}
        text = texts["prompt"] if self.files == "workspace" else _TEXTS[self.files].substitute(texts)
        return (*self._with_skill(arm), Message(role="user", content=text.strip() + "\n"))

    def scorer(self, sandbox: Any) -> Scorer:
        """Grader of reviews; where cases have keys it forks a worker that knows their contracts."""
        cases = self._suite.cases if self._suite is not None else ()
        families = {name: family for group in self._families.values() for name, family in group.items()}
        return Scorer(
            sandbox=sandbox, families=families, cases=cases, judges=len(self._judges), attempts=self.judge_attempts
        )

    def judges(self) -> tuple[Model, ...]:
        return tuple(self._judges.values())

    @property
    def requests(self) -> tuple[int, int]:
        """Fewest and most requests to the reviewer for one review."""
        return (1, self._turns if self.files == "tools" else 1)

    async def ready(self, ask: AskModel) -> None:
        """Ask the treatment arm which skills it sees. Raises Finding when it does not name the one it was given.

        InputError where the answers in the run folder were given with another skill.
        """
        skill = self.suite.skill
        if "treatment" in self.arms and self.files == "workspace" and skill is not None:
            review_stamp.keep_skill(self._run_folder, skill.name, skill.files)
        if "treatment" not in self.arms or not self._canary or skill is None:
            return
        question = Message(role="user", content=_TEXTS["canary"].template)
        if self.files != "workspace":
            answer = await ask("treatment", (*self._with_skill("treatment"), question), None)
        else:
            async with self._opened(None) as workspace:
                self._place(workspace, skill)
                answer = await ask("treatment", (question,), self._workplace(workspace, self._run_folder))
        if not review_leaks.named(skill.name, answer.text):
            raise Finding(
                f"the canary is missing: asked for its skills, the treatment arm did not name {skill.name} but said "
                f"{answer.text.strip()[:80]!r}; fresh=true asks again, track.canary=false goes without"
            )

    # -------------------------------------------------------------------------------------- one sample

    async def work(self, task: Task, strategy: Strategy, respond: Respond, check: CheckText) -> Submission:
        """Ask for the review; raises InputError for a strategy that would need public tests."""
        if strategy.requests != (1, 1):
            raise InputError(f"strategy={strategy.name}: a review has no public tests to go by; give strategy=flat")
        if self.files == "workspace":
            return await self._in_workspace(task, respond)
        if self.files == "tools":
            completion, said, ended = await converse(respond, task.case.files, self._turns)
            return Submission(completion, transcript=_visible(said) if ended else "")
        completion = await strategy.run(respond, check)
        return Submission(completion, transcript=_visible(completion.text))

    async def judge(self, task: Task, submission: Submission, scorer: Scorer, ask: AskJudge) -> Judgement:
        """Rewrites and leaks first, then the judges' grades and, where there is a key, the finding."""
        self._note_judges(task.folder)
        changes = self._changes(task, submission)
        found = await self._judged(task, submission, scorer, self._asked(task, ask), changes)
        review_written.write(task, submission, found, changes, list(self._judges.values()))
        return found[0]

    async def _judged(
        self, task: Task, submission: Submission, scorer: Scorer, ask: AskJudge, changes: list[str] | None
    ) -> tuple[Judgement, Ruling | None]:
        skill = self.suite.skill
        if task.arm == "baseline" and skill is not None and review_leaks.named(skill.name, submission.transcript):
            leak = f"leak: the baseline's transcript names the skill {skill.name}"
            return Judgement("case_fault", "case", "leak", detail=leak), None
        if submission.completion.tool_calls and not submission.transcript:
            detail = f"no review after {self._turns} requests"
            return Judgement("turn_limit", "model", "not_read", detail=detail), None
        judgement, ruling = await scorer.grade(task.case, submission.completion, submission.transcript, ask)
        if changes:
            detail = f"the review changed the files: {'; '.join(changes[:3])}{' ...' if len(changes) > 3 else ''}"
            judgement = Judgement(
                "rewrote", "model", judgement.extraction, (), detail, judgement.grades, judgement.score
            )
        return judgement, ruling

    # -------------------------------------------------------------------------------------- parts of it

    @property
    def suite(self) -> Suite:
        """The suite as `cases` read it."""
        assert self._suite is not None, "cases() comes first"
        return self._suite

    def _with_skill(self, arm: str) -> tuple[Message, ...]:
        """The skill as a text, for reviewers that look into no folder."""
        skill = self.suite.skill
        if arm != "treatment" or skill is None or self.files == "workspace":
            return ()
        return (Message(role="system", content=_TEXTS["skill"].substitute(name=skill.name, text=skill.text)),)

    async def _in_workspace(self, task: Task, respond: Respond) -> Submission:
        """A throw-away copy of the files, in which everything is allowed and nothing is forgotten."""
        source = self.suite.folders[task.case.id] / "input"
        async with self._opened(source, waiting=True) as workspace:
            if task.arm == "treatment" and self.suite.skill is not None:
                self._place(workspace, self.suite.skill)
            try:
                before = await asyncio.to_thread(workspace.pack, self._workshop.most_bytes)
            except ValueError as error:
                raise InputError(f"{source}: {error}") from error
            self._before[task.case.id, task.arm] = listing(before)
            place = self._workplace(workspace, task.folder)
            completion = await respond(workspace=place)
            if completion.workspace_sha256 is None:
                raise InputError(
                    "track.files=workspace is for a model that works in a folder, such as model=command; this one only answers: "
                    "give track.files=prompt or track.files=tools"
                )
            return Submission(completion, place.kept(completion.workspace_sha256), _visible(completion.text))

    @contextlib.asynccontextmanager
    async def _opened(self, source: Path | None, *, waiting: bool = False) -> AsyncIterator[Workspace]:
        """A workspace that sees nothing of the suite; a folder that cannot be copied is bad input."""
        try:
            async with self._workshop.open(source, covered=[self._folder], waiting=waiting) as workspace:
                yield workspace
        except CaseFault as fault:
            raise InputError(f"{source}: {fault}") from fault

    def _place(self, workspace: Any, skill: Skill) -> None:
        for path, text in skill.files.items():
            workspace.write(f"{self._skill_folder}/{skill.name}/{path}", text.encode("utf-8"))

    def _workplace(self, workspace: Any, run_folder: Path) -> Workplace:
        return Workplace(workspace, run_folder=run_folder, most_bytes=self._workshop.most_bytes)

    def _asked(self, task: Task, ask: AskJudge) -> AskJudge:
        """The same, but a judge that is a command gets an empty folder to work in."""
        judges = self.judges()

        async def asked(number: int, messages: tuple[Message, ...], attempt: int, workspace: Any = None) -> Completion:
            if not isinstance(judges[number], Command):
                return await ask(number, messages, attempt)
            async with self._opened(None) as empty:
                return await ask(number, messages, attempt, self._workplace(empty, task.folder))

        return asked

    def _changes(self, task: Task, submission: Submission) -> list[str] | None:
        """What differs after the review; None where the reviewer had no hand on the files."""
        if submission.workspace is None:
            return None
        try:
            after = listing(submission.workspace)
        except ValueError as error:
            return [f"they cannot be looked at any more: {error}"]
        return differences(self._before[task.case.id, task.arm], after, self._traces)

    def _note_judges(self, run_folder: Path) -> None:
        """Say in the run folder which judges graded which rubrics, so that a report can look for their stamps."""
        review_stamp.note(run_folder, self._stamps, self._judges, self.suite.cases)

    def missing_layers(self) -> tuple[str, ...]:
        """The layers that workspaces have been without."""
        return self._workshop.missing_layers

    def trials(self, say: Any) -> bool:
        """stage=selftest, before any model is looked at: whether all is rejected that must be."""
        from proceval.track.review_selftest import hold

        return hold(say)

    def selftest(self, folder: Any, *, engine: Any, sandbox: Any, say: Any) -> int:
        """stage=selftest: the two sides of every rubric; returns the exit status."""
        from proceval.track.review_selftest import run

        return run(self, folder, engine=engine, say=say)


def _keyless(suite: Suite) -> str:
    return next(case.family for case in suite.cases if case.key is None)


def _visible(text: str) -> str:
    """What a reviewer said, without its reasoning; nothing where that never ends."""
    return (without_reasoning(text) or "").strip()


def _shown(file: CaseFile) -> str:
    """A file under its path, in a fence that nothing in it closes."""
    if file.encoding != "utf-8":
        return f"`{file.path}` (not text)"
    longest = max(map(len, re.findall(r"`+", file.content)), default=0)
    fence = "`" * max(3, longest + 1)
    language = file.path.rpartition(".")[2] if "." in file.path else ""
    return f"`{file.path}`:\n\n{fence}{language}\n{file.content.rstrip()}\n{fence}"
