"""A deterministic offline agent that is handed the scripted runs of a case: it shows the machinery and solves nothing."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from proceval.errors import InputError
from proceval.model.gold import offline
from proceval.protocols import Request
from proceval.schema import AgentCase, Completion, Json, ToolCall

Behaviour = Literal["gold", "clumsy", "lazy", "cheating", "peeking", "cheat"]
_CHEATING, _PEEKING = (
    (Path(__file__).parent / f"scripted_agent_{name}.sh").read_text(encoding="utf-8")
    for name in ("cheating", "peeking")
)
_CLUMSY = (
    ToolCall(id="a", name="shell", arguments="{not json"),
    ToolCall(id="b", name="teleport", arguments="{}"),
    ToolCall(id="c", name="", arguments=""),
    ToolCall(id="d", name="read", arguments='["README.md"]'),
    ToolCall(id="e", name="read", arguments='{"path": 7}'),
    ToolCall(id="f", name="read", arguments='{"path": "../../etc/passwd"}'),
    ToolCall(id="g", name="write", arguments='{"path": "x"}'),
    ToolCall(id="h", name="edit", arguments='{"path": "no/such/file", "old": "", "new": "", "colour": "red"}'),
    ToolCall(id="i", name="shell", arguments='{"command": "head -c 300000 /dev/zero | tr \\\\\\\\0 x"}'),
    ToolCall(id="j", name="list", arguments=""),
)


class ScriptedAgent:
    """Acts in each turn as its behaviour says, then replies with what its script printed; free and immediate.

    `gold` runs the case's gold.sh; `clumsy` makes malformed calls first; `lazy` does nothing and says that all is done;
    `cheating` edits every test and puts modules in the way; `peeking` leaves code that looks for expected texts when a
    check runs it, and prints them; `cheat` runs the case's own cheat.sh, or cheats as `cheating`.
    """

    base_url: str | None = None
    needs_key = True
    modes = ("agent",)
    max_in_flight: int | None = None

    def __init__(self, *, id: str, behaviour: Behaviour):
        self.id = id
        self._behaviour = behaviour
        self.parameters: Mapping[str, Json] = {"behaviour": behaviour}

    def warm(self) -> None:
        """Nothing to load."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0

    async def complete(self, request: Request) -> Completion:
        """Raises InputError for a case that is no agent's, or has no script to run."""
        case = request.case
        if not isinstance(case, AgentCase):
            raise InputError("model=scripted_agent works in workspaces: give track=agent")
        turn = sum(message.role == "user" for message in request.messages)
        last = request.messages[-1]
        if self._behaviour == "lazy":
            return offline("Everything is done, and all tests pass.", request)
        if last.role == "user" and self._behaviour == "clumsy":
            return _calling(_CLUMSY, request)
        if last.role == "user" or last.tool_call_id == _CLUMSY[-1].id:
            command = f"set -- {turn} {shlex.quote(case.turns[turn - 1])}\n{self._script(case)}"
            return _calling((ToolCall(id="run", name="shell", arguments=json.dumps({"command": command})),), request)
        return offline(_printed(last.content), request)

    async def close(self) -> None:
        """Nothing is open."""

    def _script(self, case: AgentCase) -> str:
        if self._behaviour == "cheating":
            return _CHEATING
        if self._behaviour == "peeking":
            return _PEEKING
        if self._behaviour == "cheat":
            return case.scripted.get("cheat", _CHEATING)
        if "gold" not in case.scripted:
            raise InputError(f"{case.family} has no scripted run: there is no gold.sh for it beside the cases")
        return case.scripted["gold"]


def _calling(calls: tuple[ToolCall, ...], request: Request) -> Completion:
    return offline("", request).model_copy(update={"tool_calls": calls})


def _printed(result: str) -> str:
    """What a script printed, without the tool's own first line."""
    return result.partition("\n[standard error]")[0].partition("\n")[2] if result.startswith("[") else result
