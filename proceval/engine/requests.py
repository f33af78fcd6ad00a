"""The one retry layer: attempts, deadline, back-off, and the provider's own advice, capped."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable
from random import Random

from proceval.engine.estimate import GUESSED_COMPLETION_TOKENS, completion_bound, prompt_tokens
from proceval.engine.limiter import Budget, Exhausted, Gate, Hold, Window
from proceval.engine.responses import tokens_of
from proceval.errors import ProcevalError, ProviderError
from proceval.protocols import Model, Request
from proceval.schema import Completion

Paid = Callable[[Completion, int], None]
"""Called with (completion, attempts) the moment an answer arrives."""
Say = Callable[[str], None]
"""Called with one line for the terminal."""

KNOCK_S = 2.0
"""Longest wait between attempts while nobody has answered the door: a server that is starting is met soon."""


def backoff_s(failures: int, advice_s: float | None, *, cap_s: float, random: Random) -> float:
    """Seconds before the next attempt after `failures` failed ones: 1, 2, 4, ... with full jitter, or the advice.

    Advice is never undercut and never followed beyond `cap_s`.
    """
    own: float = min(cap_s, 2.0 ** min(failures - 1, 30)) * random.uniform(0.5, 1.0)
    if advice_s is None:
        return own
    return min(cap_s, max(advice_s, 0.0)) + random.uniform(0.0, 0.25) + 0.01


class Requests:
    """Asks one model, one request at a time for each caller, and keeps the run's totals.

    Raises ProviderError when a request is given up; `stopped` then says whether the whole run is.
    """

    def __init__(
        self,
        model: Model,
        *,
        gate: Gate,
        window: Window,
        budget: Budget,
        attempts: int,
        deadline_s: float,
        request_timeout_s: float,
        retry_cap_s: float,
        unreachable_after_s: float,
        give_up_after: int,
        say: Say,
    ):
        self._model = model
        self.gate, self.window, self.budget = gate, window, budget
        own = getattr(model, "timeout_s", None)  # a command works longer than a request takes
        self._timeout_s = request_timeout_s if own is None else own
        self._attempts, self._deadline_s = attempts, deadline_s if own is None else max(deadline_s, own)
        self._retry_cap_s = retry_cap_s
        self._unreachable_after_s, self._say = unreachable_after_s, say
        self._give_up_after = give_up_after
        self._longest = completion_bound(model.parameters) or GUESSED_COMPLETION_TOKENS
        self._random = Random()
        self._failed_in_a_row = 0
        self._told = False
        """Whether a failed attempt was shown."""
        self._reached = own is not None
        """Whether the endpoint was ever connected to; not asked of commands, which are no endpoint."""
        self._knocked: float | None = None
        """When the first connection was refused (time.monotonic)."""
        self.paid = 0
        self.sent = 0
        self.faults: Counter[str] = Counter()
        """Failed attempts by kind, those that a retry made good included."""
        self.stopped: str | None = None
        """Why nothing more is sent in this run, or None."""
        self._unasked = "not_asked"
        """The kind of error for whoever comes after that."""
        self._stop = asyncio.Event()

    async def ask(self, request: Request, paid: Paid) -> Completion:
        """One answer; `paid(completion, attempts)` is called the moment it arrives, before anything else happens."""
        prompt = prompt_tokens(message.content for message in request.messages)
        self._refuse_if_stopped()
        try:
            hold = await self.budget.reserve(prompt + self._longest, self._model.cost_usd(prompt, self._longest))
        except Exhausted as reason:
            self.stop(str(reason), unasked="budget")
            raise self._not_asked() from reason
        try:
            return await self._persist(request, prompt + self._longest, hold, paid)
        finally:
            self.budget.release(hold)

    async def _persist(self, request: Request, tokens: int, hold: Hold, paid: Paid) -> Completion:
        started: float | None = None
        failures = refused = 0
        while True:
            try:
                completion, started = await self._attempt(request, tokens, hold, started, failures, paid)
            except _Failed as failed:
                error, started = failed.error, failed.started
            else:
                self._failed_in_a_row, self._reached = 0, True
                return completion
            failures += 1
            self.faults[error.kind] += 1
            self._tell(error)
            wait = backoff_s(failures, error.retry_after_s, cap_s=self._retry_cap_s, random=self._random)
            if self._nobody_there(error):
                refused, wait = refused + 1, min(wait, KNOCK_S)
            late = time.monotonic() + wait - started > self._deadline_s
            if not error.transient or failures - refused >= self._attempts or late or self.stopped is not None:
                error.attempts = failures
                self._give_up(error)
                raise error
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), wait)

    def _tell(self, error: ProviderError) -> None:
        """The first failed attempt at once: whoever waits for retries knows what for."""
        if not self._told and error.transient and error.kind != "rate_limit":
            self._told = True
            where = f" at {self._model.base_url}" if self._model.base_url else ""
            self._say(f"a request to {self._model.id}{where} failed, and is tried again: {error.kind}: {error}")

    def _nobody_there(self, error: ProviderError) -> bool:
        """Whether the endpoint was never connected to; for too long, and the run is stopped."""
        if self._reached or error.kind != "connection":
            self._reached = True
            return False
        now = time.monotonic()
        self._knocked = now if self._knocked is None else self._knocked
        if now - self._knocked >= self._unreachable_after_s:
            where = self._model.base_url or self._model.id
            self.stop(
                f"no connection to {where} within engine.unreachable_after_s={self._unreachable_after_s:g}: is it "
                f"running, and is the address right? Last: {error}"
            )
        return True

    async def _attempt(
        self, request: Request, tokens: int, hold: Hold, started: float | None, failures: int, paid: Paid
    ) -> tuple[Completion, float]:
        await self.gate.enter(retry=failures > 0)
        try:
            self._refuse_if_stopped()
            entry = await self.window.admit(tokens)
            used: int | None = None
            try:
                self._refuse_if_stopped()
                started = entry.sent if started is None else started
                completion = await self._send(request, entry.sent, started)
                self.paid += 1
                paid(completion, failures + 1)
                used = tokens_of(completion)
            finally:
                self.window.settle(entry, used)
            self.gate.succeeded()
            self.budget.spend(hold.tokens if used is None else used, completion.cost_usd)
            return completion, started
        finally:
            self.gate.leave()

    async def _send(self, request: Request, sent: float, started: float) -> Completion:
        """One request under its own time limit and the deadline of its answer. Raises _Failed."""
        left = self._deadline_s - (sent - started)
        self.sent += 1
        try:
            async with asyncio.timeout(max(0.001, min(self._timeout_s, left))):
                return await self._model.complete(request)
        except TimeoutError:
            raise _Failed(ProviderError("timeout", f"no answer within {self._timeout_s:g} s"), started) from None
        except ProviderError as error:
            if error.kind == "rate_limit":
                self.gate.throttled(sent)
                if error.retry_after_s is not None:
                    self.window.pause(min(self._retry_cap_s, max(0.0, error.retry_after_s)))
            raise _Failed(error, started) from None
        except ProcevalError:
            raise
        except Exception as error:  # noqa: BLE001 - a client that breaks has no answer, right or wrong
            broken = ProviderError("client", f"{type(error).__name__}: {error}"[:500])
            raise _Failed(broken, started) from error

    def _give_up(self, error: ProviderError) -> None:
        """A key that is refused will be refused again; so will an endpoint that has answered nobody for long."""
        if error.kind in ("authentication", "quota"):
            self.stop(f"{error.kind}: {error}")
        elif error.kind not in ("context_length", "content_filter"):  # those two are about one prompt
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= self._give_up_after:
                row = self._failed_in_a_row
                self.stop(f"{row} requests in a row were given up, the last with {error.kind}: {error}")

    def stop(self, reason: str, *, unasked: str = "not_asked") -> None:
        """Send nothing more in this run; the first reason given is the one reported."""
        if self.stopped is None:
            self.stopped, self._unasked = reason, unasked
        self._stop.set()
        self.window.close()

    def _refuse_if_stopped(self) -> None:
        if self.stopped is not None:
            raise self._not_asked()

    def _not_asked(self) -> ProviderError:
        return ProviderError(self._unasked, f"not asked: {self.stopped}")


class _Failed(Exception):
    def __init__(self, error: ProviderError, started: float):
        super().__init__(error)
        self.error, self.started = error, started
