"""What keeps a run inside a provider's limits: requests in flight, requests and tokens a minute, and money.

All three work ahead of the provider's first refusal and are adjusted by what it answers. They belong to one event loop.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass


class Gate:
    """At most `most` requests in flight; halved when the provider says "too many" (429), grown again by success.

    Additive increase, multiplicative decrease (Chiu and Jain, 1989). A server error says nothing about load and cuts
    nothing. Waiting is first come, first served, except that a retry goes before a first attempt.
    """

    def __init__(self, most: int):
        self.most = most
        self.limit = float(most)
        self.active = 0
        self.history: list[tuple[float, int]] = []
        """(seconds since the start, new limit) of the first 1,000 cuts."""
        self._start = self._cut = time.monotonic()
        self._first: deque[asyncio.Future[None]] = deque()
        self._retries: deque[asyncio.Future[None]] = deque()

    async def enter(self, *, retry: bool) -> None:
        queue = self._retries if retry else self._first
        if self.active < int(self.limit) and not self._retries and (retry or not self._first):
            self.active += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # the place was given and nobody is there to take it
                self.leave()
            raise

    def leave(self) -> None:
        self.active -= 1
        self._admit()

    def succeeded(self) -> None:
        self.limit = min(float(self.most), self.limit + 1 / self.limit)
        self._admit()

    def throttled(self, sent: float) -> None:
        """A 429 for a request sent at `sent` (time.monotonic); one burst of refusals cuts once."""
        if sent < self._cut:
            return
        self._cut = time.monotonic()
        self.limit = max(1.0, self.limit / 2)
        if len(self.history) < 1000:
            self.history.append((round(self._cut - self._start, 3), int(self.limit)))

    def _admit(self) -> None:
        while self.active < int(self.limit) and (self._retries or self._first):
            place = (self._retries or self._first).popleft()
            if not place.done():
                self.active += 1
                place.set_result(None)


_LATEST_ARRIVAL_S = 2.0


@dataclass
class Entry:
    """One request in the window: when it was sent, and how many tokens it holds or took."""

    sent: float
    tokens: int
    delay_s: float
    """At most so long after `sent` it arrived at the provider."""


class Window:
    """A log of the last minute's requests and tokens, so that no window of the provider's clock ever sees more.

    A refilling bucket would let two bursts through within one window; a log does not. The provider stamps
    a request when it arrives, which is after it was sent and before it is answered: an entry counts from its answer, or
    from two seconds after it was sent. Tokens are reserved by estimate and settled by what was used. `None` means no
    limit. A window begins with what an earlier process may have sent within it, see `sent_before`.
    """

    def __init__(self, *, requests: int | None, tokens: int | None, window_s: float):
        self._requests, self._tokens = requests, tokens
        self._span = window_s + 0.05
        self._log: deque[Entry] = deque()
        self._used = 0
        self._not_before = 0.0
        self._closed = False
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    def sent_before(self, tokens: Iterable[int], ago_s: float) -> None:
        """Count requests that another process had answered by `ago_s` seconds ago, all as if they were sent then.

        To be called before anything is admitted. Requests that were in flight when it ended are not among them.
        """
        if self._requests is None and self._tokens is None:
            return
        for taken in tokens:
            self._log.append(Entry(time.monotonic() - ago_s, taken, 0.0))
            self._used += taken

    async def admit(self, tokens: int) -> Entry:
        """Wait for room, in order of asking; one request beyond the token limit goes when the window is empty."""
        entry = Entry(time.monotonic(), tokens, _LATEST_ARRIVAL_S)
        if self._requests is None and self._tokens is None and entry.sent >= self._not_before:
            return entry
        async with self._turn:
            while (wait := self._wait(tokens)) > 0 and not self._closed:
                self._freed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._freed.wait(), wait)
            entry.sent = time.monotonic()
            if self._requests is not None or self._tokens is not None:
                self._log.append(entry)
                self._used += tokens
        return entry

    def settle(self, entry: Entry, tokens: int | None) -> None:
        """Replace a reservation by what the provider counted; unknown leaves the reservation.

        To be called for every admitted request once it has ended, however it ended.
        """
        entry.delay_s = min(_LATEST_ARRIVAL_S, time.monotonic() - entry.sent)
        if tokens is not None and self._log and entry.sent >= self._log[0].sent:
            self._used += tokens - entry.tokens
            entry.tokens = tokens
        self._freed.set()

    def pause(self, seconds: float) -> None:
        """Send nothing for so long: the provider's own advice."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    def close(self) -> None:
        """The run has stopped: let everybody who waits go and see for themselves."""
        self._closed = True
        self._freed.set()

    def _wait(self, tokens: int) -> float:
        now = time.monotonic()
        while self._log and self._until(self._log[0]) <= now:
            self._used -= self._log.popleft().tokens
        wait = self._not_before - now
        if self._requests is not None and len(self._log) >= self._requests:
            wait = max(wait, self._until(self._log[len(self._log) - self._requests]) - now)
        if self._tokens is not None and self._log and self._used + tokens > self._tokens:
            surplus = self._used + tokens - self._tokens
            for entry in self._log:
                surplus -= entry.tokens
                wait = max(wait, self._until(entry) - now)
                if surplus <= 0:
                    break
        return wait

    def _until(self, entry: Entry) -> float:
        """When an entry has certainly left the provider's window."""
        return entry.sent + entry.delay_s + self._span


_MORE = "; the same command with a larger budget goes on from here"


class Exhausted(Exception):
    """The budget admits no further request; the message says which limit and what was spent."""


@dataclass(frozen=True)
class Hold:
    """What is kept back for one request until it has ended."""

    tokens: int
    usd: float


class Budget:
    """What a whole run may spend, earlier parts of a resumed run included: dollars, tokens, or neither.

    A request is admitted when what is spent, what is held for those in flight and what it may take itself together stay
    within the budget. It may take its prompt and the longest answer that the parameters allow (1,024 tokens where they set
    no bound), or as much as the dearest answer so far.
    Until the first answer shows how good that estimate is, a run with a budget sends one request at a time. What a
    provider bills for requests that failed is not known here.
    """

    def __init__(self, *, usd: float | None, tokens: int | None):
        self._usd, self._tokens = usd, tokens
        self.spent_usd = 0.0
        self.spent_tokens = 0
        self.unknown_usd = 0
        """Answers without a known price: with any, `spent_usd` is a lower bound."""
        self._dearest_usd = 0.0
        self._longest = 0
        self._in_flight = 0
        self._held_tokens = 0
        self._held_usd = 0.0
        self._changed = asyncio.Event()

    async def reserve(self, tokens: int, usd: float | None) -> Hold:
        """Wait for room and hold it, to be handed to `release`; `usd` is None where no price is known. Raises Exhausted."""
        if self._usd is None and self._tokens is None:
            return Hold(tokens, 0.0)
        while True:
            hold = Hold(max(tokens, self._longest), max(usd or 0.0, self._dearest_usd))
            reason = self._refusal(hold)
            if self._in_flight == 0 and reason is not None:
                raise Exhausted(reason)
            if reason is None and (self._in_flight == 0 or self._longest > 0):
                self._in_flight += 1
                self._held_tokens += hold.tokens
                self._held_usd += hold.usd
                return hold
            self._changed.clear()
            await self._changed.wait()

    def release(self, hold: Hold) -> None:
        """Give a reservation back, whether or not it was answered."""
        if self._usd is not None or self._tokens is not None:
            self._in_flight -= 1
            self._held_tokens -= hold.tokens
            self._held_usd -= hold.usd
            self._changed.set()

    def spend(self, tokens: int, usd: float | None) -> None:
        """Book one answer; where its usage is unknown, `tokens` is what was reserved for it."""
        self.spent_tokens += tokens
        self._longest = max(self._longest, tokens, 1)
        if usd is None:
            self.unknown_usd += 1
        else:
            self.spent_usd += usd
            self._dearest_usd = max(self._dearest_usd, usd)

    def _refusal(self, hold: Hold) -> str | None:
        if self._usd is not None:
            if self.unknown_usd:
                return (
                    f"budget_usd={self._usd} cannot be kept: the price of this model is unknown, or an answer came without "
                    "its usage; use budget_tokens"
                )
            if self.spent_usd >= self._usd or self.spent_usd + self._held_usd + hold.usd > self._usd:
                asked = f"{self.spent_usd:.6f} spent, and it may cost {hold.usd:.6f}{_MORE}"
                return f"budget_usd={self._usd} has no room for another request: {asked}"
        if self._tokens is not None and self.spent_tokens + self._held_tokens + hold.tokens > self._tokens:
            asked = f"{self.spent_tokens} spent, and it may take {hold.tokens}{_MORE}"
            return f"budget_tokens={self._tokens} has no room for another request: {asked}"
        return None
