"""Solve a proved problem: as a program (code mode), or for one instance in words (answer mode)."""

import json
from pathlib import Path
from string import Template
from typing import Any, Literal

from proceval.protocols import Scorer
from proceval.schema import Message, Problem

_HERE = Path(__file__).parent
_PROMPTS = {mode: Template((_HERE / f"solve_{mode}.md").read_text(encoding="utf-8")) for mode in ("code", "answer")}


class Solve:
    """One prompt a problem: in code mode the same for a whole family, in answer mode with the instance in it."""

    arms = ("default",)

    def __init__(self, *, mode: Literal["code", "answer"], system_prompt: str | None):
        self.mode: Literal["code", "answer"] = mode
        self._system_prompt = system_prompt

    def prompt(self, problem: Problem, arm: str = "default") -> tuple[Message, ...]:
        """System message where there is one, and the task; nothing hidden is in either."""
        text = _PROMPTS[self.mode].substitute(
            statement=problem.statement.strip(),
            entry_point=problem.entry_point,
            parameters=", ".join(problem.parameters),
            examples=_calls(problem) if self.mode == "code" else _instances(problem),
            arguments=_arguments(problem.parameters, problem.arguments) if self.mode == "answer" else "",
        )
        task = Message(role="user", content=text.strip() + "\n")
        return (Message(role="system", content=self._system_prompt), task) if self._system_prompt else (task,)

    def scorer(self, sandbox: Any) -> Scorer:
        """The judge of this mode; answer mode needs no sandbox."""
        if self.mode == "answer":
            from proceval.scorer.answer import Answer

            return Answer()
        from proceval.scorer.code import Code

        return Code(sandbox=sandbox)


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
