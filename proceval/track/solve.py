"""Solve a proved problem: as a program (code mode), or for one instance in words (answer mode)."""

import json
from pathlib import Path
from string import Template
from typing import Any, Literal

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
from proceval.schema import Message, Outcome, Problem

_HERE = Path(__file__).parent
_PROMPTS = {mode: Template((_HERE / f"solve_{mode}.md").read_text(encoding="utf-8")) for mode in ("code", "answer")}


class Solve:
    """One prompt a problem: in code mode the same for a whole family, in answer mode with the instance in it."""

    arms = ("default",)
    proved = True
    failures: frozenset[Outcome] = frozenset()

    def __init__(
        self,
        *,
        mode: Literal["code", "answer"],
        system_prompt: str | None,
        messages: list[dict[Literal["role", "content"], str]],
        template: str | None,
    ):
        self.mode: Literal["code", "answer"] = mode
        system = [Message(role="system", content=system_prompt)] if system_prompt else []
        self._before = (*system, *_chat(messages))
        self._template = _PROMPTS[mode] if template is None else _own(template)

    def prompt(self, problem: Problem, arm: str = "default") -> tuple[Message, ...]:
        """System message and given messages where there are any, and the task; nothing hidden is in them."""
        text = self._template.substitute(
            statement=problem.statement.strip(),
            entry_point=problem.entry_point,
            parameters=", ".join(problem.parameters),
            examples=_calls(problem) if self.mode == "code" else _instances(problem),
            arguments=_arguments(problem.parameters, problem.arguments) if self.mode == "answer" else "",
        )
        return (*self._before, Message(role="user", content=text.strip() + "\n"))

    def scorer(self, sandbox: Any) -> Scorer:
        """The judge of this mode; answer mode needs no sandbox."""
        if self.mode == "answer":
            from proceval.scorer.answer import Answer

            return Answer()
        from proceval.scorer.code import Code

        return Code(sandbox=sandbox)

    def cases(self, folder: Any) -> tuple[Problem, ...]:
        raise TypeError("the cases of this track are the problems of a dataset")

    def judges(self) -> tuple[Model, ...]:
        return ()

    async def ready(self, ask: AskModel) -> None:
        """Nothing has to hold: the scorer tests itself."""

    async def work(self, task: Task, strategy: Strategy, respond: Respond, check: CheckText) -> Submission:
        """Whatever the strategy submits."""
        return Submission(await strategy.run(respond, check))

    async def judge(self, task: Task, submission: Submission, scorer: Scorer, ask: AskJudge) -> Judgement:
        """By hidden tests or the typed exact answer; no model is asked."""
        return await scorer.score(task.case, submission.completion)


_FIELDS = ("statement", "entry_point", "parameters", "examples", "arguments")


def _chat(messages: list[dict[Literal["role", "content"], str]]) -> tuple[Message, ...]:
    """Given messages in pairs of user and assistant. Raises InputError naming the one that is out of place."""
    for place, message in enumerate(messages):
        role = ("user", "assistant")[place % 2]
        if set(message) != {"role", "content"} or message["role"] != role:
            raise InputError(f"track.messages.{place}: must have role: {role} and content: TEXT; they go in pairs")
    if len(messages) % 2:
        raise InputError("track.messages: must end with the assistant, because the task follows as the user")
    return tuple(Message.model_validate(message) for message in messages)


def _own(path: str) -> Template:
    """A user's prompt. Raises InputError for a file that is not there, a strange field, or a task that is not in it."""
    try:
        template = Template(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"track.template={path}: {error}") from error
    if not template.is_valid():
        raise InputError(f"track.template={path}: a $ that is no field; write $$ for a dollar sign")
    fields = set(template.get_identifiers())
    if not fields <= set(_FIELDS) or "statement" not in fields:
        raise InputError(
            f"track.template={path}: fields are {', '.join('$' + f for f in _FIELDS)}; $statement must be there"
        )
    return template


def _calls(problem: Problem) -> str:
    lines = []
    for test in problem.examples:
        arguments = ", ".join(f"{name}={test.arguments[name]!r}" for name in problem.parameters)
        lines.append(f"{problem.entry_point}({arguments})\n# returns {test.expected!r}")
    return "\n\n".join(lines)


def _instances(problem: Problem) -> str:
    shown = [(_arguments(problem.parameters, test.arguments), json.dumps(test.expected)) for test in problem.examples]
    return "\n\n".join(f"{arguments}\nANSWER: {answer}" for arguments, answer in shown)


def _arguments(parameters: tuple[str, ...], arguments: dict[str, Any]) -> str:
    return "\n".join(f"{name} = {json.dumps(arguments[name])}" for name in parameters)
