"""An external agent as a model: a command that works in the workspace it is handed, one run a turn."""

import asyncio
import os
import re
import shlex
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any

from pydantic import Field

from proceval.errors import InputError, ProviderError, Unscored
from proceval.model.faults import provider_error
from proceval.model.parameters import checked_url, key_from
from proceval.model.reading import MOST_TOKENS
from proceval.protocols import Request
from proceval.schema import Completion, Json, Message
from sandbox.command import CommandOutcome
from sandbox.contract import Limits
from sandbox.conversation import SandboxFault
from sandbox.proxy import CountingProxy

_FIELDS = ("{prompt}", "{base_url}", "{id}")


class Command:
    """Runs `argv` in the workspace with an empty home; what it prints on standard output is its reply.

    `{prompt}`, `{base_url}` and `{id}` are replaced in `argv` and in the values of `variables`; without `{prompt}` in
    `argv` the prompt comes on standard input. `environment` names variables of this process that it sees; `programmes`
    are read by the track, which shows those folders. There is no network but the endpoint of `base_url`, through a proxy
    on the workspace's own loopback that counts requests and puts in the key; with `tunnel` it only lets TLS through.
    """

    needs_key = False
    modes = ("review", "agent", "judge")

    def __init__(
        self,
        *,
        id: str,
        argv: Annotated[list[str], Field(min_length=1)],
        programmes: list[str],
        environment: list[str],
        variables: list[str],
        base_url: str | None,
        tunnel: bool,
        key_variable: str | None,
        usd_per_million_prompt_tokens: Annotated[float, Field(ge=0)] | None,
        usd_per_million_completion_tokens: Annotated[float, Field(ge=0)] | None,
        limits: Limits,
        max_in_flight: Annotated[int, Field(ge=1)] | None,
    ):
        for folder in programmes:
            if not os.path.isdir(folder):
                raise InputError(f"model.programmes: {folder}: no such folder")
        if base_url is None and (tunnel or key_variable is not None):
            raise InputError("model.base_url: missing, though model.tunnel or model.key_variable is set")
        for word in variables:
            if not re.match(r"[A-Za-z_]\w*=", word):
                raise InputError(f"model.variables: {word!r} is not NAME=VALUE")
        self.id, self.max_in_flight = id, max_in_flight
        self.base_url = None if base_url is None else checked_url(base_url)
        self.timeout_s = limits.wall_s + 60.0
        """Longest that one answer takes: read by the engine in place of its own limit."""
        self.parameters: Mapping[str, Json] = {"argv": list(argv), "variables": list(variables), "tunnel": tunnel}
        self._argv, self._environment, self._variables = argv, environment, variables
        self._tunnel, self._key_variable, self._limits = tunnel, key_variable, limits
        self._prices = (usd_per_million_prompt_tokens, usd_per_million_completion_tokens)

    def warm(self) -> None:
        """Nothing to load."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        prompt, completion = self._prices
        if prompt is None or completion is None:
            return None
        return (prompt_tokens * prompt + completion_tokens * completion) / 1e6

    async def complete(self, request: Request) -> Completion:
        """One run of the command; the tree that it leaves is kept before it counts as an answer.

        A tree that is too large for that is the command's own doing: it is lost, the reply is a line that says so, and
        whoever looks at what was left is told.

        Raises ProviderError when the endpoint answered none of its requests (then the workspace is as it was before),
        Unscored when the sandbox fails, InputError without a workspace or when there is no such command.
        """
        place = request.workspace
        if place is None:
            raise InputError(
                "model=command works in a folder: give track=agent, or track=review with track.files=workspace"
            )
        try:
            before = await asyncio.to_thread(place.workspace.pack, 1 << 32)
        except (ValueError, SandboxFault) as error:
            raise Unscored(f"the workspace cannot be packed: {error}") from error
        kept = ""
        try:
            async with self._proxy(place.workspace) as proxy:
                outcome = await self._run(request, place.workspace, proxy)
            self._check(outcome, proxy)
            kept, lost = await asyncio.to_thread(place.keep)
            return self._completion(outcome, proxy, kept, lost)
        except (ValueError, SandboxFault) as error:
            raise Unscored(f"the workspace cannot be kept: {error}") from error
        finally:
            if not kept:  # whatever went wrong: another attempt begins where this one did
                place.workspace.unpack(before)

    async def close(self) -> None:
        """Nothing is open."""

    @asynccontextmanager
    async def _proxy(self, workspace: Any) -> AsyncIterator[CountingProxy | None]:
        if self.base_url is None:
            yield None
            return
        key = None if self._key_variable is None else key_from(self._key_variable)
        async with CountingProxy(workspace.listener(), base_url=self.base_url, key=key, tunnel=self._tunnel) as proxy:
            yield proxy

    async def _run(self, request: Request, workspace: Any, proxy: CountingProxy | None) -> CommandOutcome:
        prompt = prompt_of(request.messages)
        known = dict(zip(_FIELDS, (prompt, "" if proxy is None else proxy.base_url, self.id), strict=True))
        line = "exec " + shlex.join(_filled(word, known) for word in self._argv)
        environment = {name: os.environ[name] for name in self._environment if name in os.environ}
        environment |= {name: _filled(value, known) for name, _, value in (w.partition("=") for w in self._variables)}
        if not any("{prompt}" in word for word in self._argv):
            line += f" <<< {shlex.quote(prompt)}"
        found: CommandOutcome = await workspace.arun(line, environment=environment, limits=self._limits)
        return found

    def _check(self, outcome: CommandOutcome, proxy: CountingProxy | None) -> None:
        if outcome.fault is not None:
            raise Unscored(f"workspace: {outcome.fault}")
        if outcome.exit_code in (126, 127) and "exec:" in outcome.stderr:
            said = outcome.stderr.strip().splitlines()[-1]
            raise InputError(
                f"model.argv={self._argv[0]}: cannot be started in a workspace ({said}); see model.programmes"
            )
        if proxy is not None and proxy.refused and not proxy.answered and not self._tunnel:
            status = proxy.refused[-1]
            if status == 0:
                raise ProviderError("connection", "the endpoint could not be reached by the command")
            raise provider_error(status, f"the endpoint answered the command's requests with {status}", {})

    def _completion(
        self, outcome: CommandOutcome, proxy: CountingProxy | None, kept: str, lost: str | None
    ) -> Completion:
        counted = proxy is not None and not self._tunnel
        usage = proxy.usage if proxy is not None and counted else []
        prompt, completion = (_sum([pair[side] for pair in usage]) for side in (0, 1))
        finished = outcome.kind == "exited"
        well = outcome.exit_code == 0 and lost is None
        return Completion(
            text=_reply(outcome) if lost is None else f"[the command's files are lost, they cannot be kept: {lost}]",
            finish_reason=("stop" if well else "other") if finished else "length",
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost_usd=None if prompt is None or completion is None else self.cost_usd(prompt, completion),
            latency_s=outcome.wall_s,
            workspace_sha256=kept,
            requests=proxy.answered if proxy is not None and counted else None,
        )


def prompt_of(messages: tuple[Message, ...]) -> str:
    """A conversation as one text: instructions, what was said before, then the last message."""
    *before, last = messages
    instructions = "\n\n".join(message.content for message in before if message.role == "system")
    said = [f"{message.role}: {message.content}" for message in before if message.role in ("user", "assistant")]
    parts = [instructions] if instructions else []
    if said:
        parts.append("Earlier in this conversation:\n\n" + "\n\n".join(said) + "\n\nNow:")
    return "\n\n".join([*parts, last.content])


def _reply(outcome: CommandOutcome) -> str:
    """What the command printed; how it ended and its last complaints where that was not well."""
    if outcome.kind == "exited" and outcome.exit_code == 0:
        return outcome.stdout.strip()
    ended = f"exit {outcome.exit_code}" if outcome.kind == "exited" else outcome.signal or outcome.kind
    return f"{outcome.stdout.strip()}\n[the command ended with {ended}]\n{outcome.stderr.strip()[-2000:]}".strip()


def _filled(text: str, known: Mapping[str, str]) -> str:
    for field in _FIELDS:
        if text == field:
            return known[field]
    for field in _FIELDS[1:]:
        text = text.replace(field, known[field])
    return text.replace("{prompt}", known["{prompt}"])


def _sum(counts: list[int | None]) -> int | None:
    """The sum; None when there is nothing or anything is unknown or impossible."""
    known = [count for count in counts if count is not None and count <= MOST_TOKENS]
    return sum(known) if known and len(known) == len(counts) else None
