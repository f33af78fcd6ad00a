"""The loop of an agent: ask, carry out what the model calls for, tell it, ask again, for every turn of the case."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from proceval.errors import ProviderError
from proceval.protocols import Respond
from proceval.schema import Completion, Message, ToolCall
from proceval.track.tools import Tools
from proceval.track.workplace import Workplace
from proceval.workshop import Unusable

MOST_CALLS = 32
"""Calls of one answer that are carried out; the model is told that the rest was not."""

Ending = Literal["done", "turn_limit", "timeout", "context"]
"""`context`: the conversation outgrew what the model takes; what it did until then stands."""


class OutOfTime(Exception):
    """The case's time is used up."""


@dataclass
class Loop:
    """One conversation; `max_turns` bounds the model's requests, `timeout_s` its answers and the commands together."""

    respond: Respond
    tools: Tools
    schemas: tuple[Mapping[str, Any], ...]
    workplace: Workplace
    max_turns: int
    timeout_s: float
    messages: tuple[Message, ...] = ()
    """What follows the prompt."""
    last: Completion | None = None
    requests: int = 0
    spent_s: float = 0.0
    events: list[dict[str, Any]] = field(default_factory=list)
    """The transcript: one object a message."""

    async def run(self, prompt: Sequence[Message], further_turns: Sequence[str]) -> Ending:
        """Raises ProviderError when the model cannot be asked, Unscored when the sandbox fails, Unusable for a bad tree."""
        for message in prompt:
            self._note(message)
        try:
            ending = await self._turn()
            for turn in further_turns:
                if ending != "done":
                    break
                self._say(Message(role="user", content=turn))
                ending = await self._turn()
        except OutOfTime:
            return "timeout"
        return ending

    async def _turn(self) -> Ending:
        """Ask until the model answers without a call."""
        while True:
            if self.requests >= self.max_turns:
                return "turn_limit"
            try:
                answer = await self.respond(self.messages, tools=self.schemas, workspace=self.workplace)
            except ProviderError as error:
                if error.kind == "context_length" and self.last is not None:
                    return "context"
                raise
            await self._took(answer)
            if self.requests > self.max_turns:
                return "turn_limit"
            if not answer.tool_calls:
                return "done"
            for number, call in enumerate(answer.tool_calls):
                result = await self._carry_out(call) if number < MOST_CALLS else "ERROR: too many calls in one answer"
                self._say(Message(role="tool", content=result, tool_call_id=call.id))

    async def _took(self, answer: Completion) -> None:
        self.last = answer
        self.requests += 1 if answer.requests is None else answer.requests
        text = answer.text if answer.text.strip() or answer.tool_calls else "(empty reply)"
        spent = answer.model_dump(
            include={"finish_reason", "prompt_tokens", "completion_tokens", "cost_usd", "latency_s"}
        )
        self._say(Message(role="assistant", content=text, tool_calls=answer.tool_calls), spent)
        if answer.workspace_sha256 is not None:
            # Also right after the command itself has worked here: what is judged is what is kept.
            self._put_back(self.workplace.kept(answer.workspace_sha256))
        self._spend(answer.latency_s)

    def _put_back(self, packed: bytes) -> None:
        try:
            self.workplace.workspace.unpack(packed)
        except ValueError as error:
            raise Unusable(str(error)) from error

    async def _carry_out(self, call: ToolCall) -> str:
        started = time.monotonic()
        try:
            async with asyncio.timeout(self.timeout_s - self.spent_s):
                result = await self.tools.call(call)
        except TimeoutError:
            raise OutOfTime from None
        self._spend(time.monotonic() - started)
        return result

    def _spend(self, seconds: float) -> None:
        self.spent_s += seconds
        if self.spent_s >= self.timeout_s:
            raise OutOfTime

    def _say(self, message: Message, more: Mapping[str, Any] | None = None) -> None:
        self.messages += (message,)
        self._note(message, more)

    def _note(self, message: Message, more: Mapping[str, Any] | None = None) -> None:
        self.events.append({**message.model_dump(), **(more or {})})

    def transcript(self) -> str:
        """One JSON object a line."""
        return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in self.events)
