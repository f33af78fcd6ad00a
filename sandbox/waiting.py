"""One piece of waiting code for both worlds: a generator says what it waits for, a plain or an asyncio driver waits.

No thread is used. `Lender` lends things (fork-servers, places) first come, first served, to both worlds at once.
"""

import asyncio
import collections
import contextlib
import select
import selectors
import threading
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, NamedTuple, TypeVar

_ROUNDS = 8
"""So often a hub looks again before it lets the event loop do something else."""


class Wait(NamedTuple):
    """Descriptors to wait for, and for how many seconds at most."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    seconds: float


T = TypeVar("T")
Steps = Generator[Wait, Sequence[int], T]
"""Yields what it waits for and is sent the descriptors that are ready, none after the time is up; returns a T.

They are looked at in the order of `reads`: if the first is ready, whatever happened to the second before shows, too.
Ready is a hint: the kernel may tell of a closed descriptor of that number, as long as a copy is open in a child.
"""


def drive(steps: Steps[T]) -> T:
    """Run `steps` to its end, blocking this thread."""
    poller, watched = select.poll(), None
    try:
        wait = next(steps)
        while True:
            if watched != wait[:2]:
                poller, watched = _poller(wait), wait[:2]
            events = poller.poll(int(wait.seconds * 1000) + 1 if wait.seconds > 0 else 0)
            wait = steps.send([number for number, _ in events])
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()


async def adrive(steps: Steps[T]) -> T:
    """Run `steps` to its end on the running event loop; cancelling closes it at once."""
    hub = _hub_of(asyncio.get_running_loop())
    ride = _Ride(hub, steps)
    try:
        ride.go_on([])
        return await ride.result
    finally:
        ride.get_off()
        steps.close()


def _poller(wait: Wait) -> "select.poll":
    poller = select.poll()
    for number in wait.reads:
        poller.register(number, select.POLLIN)
    for number in wait.writes:
        poller.register(number, select.POLLOUT)
    return poller


class _Ride(Generic[T]):
    """Steps on an event loop: taken right in its callbacks, by a hub that knows what they wait for.

    A task that is woken for every step costs more than the step itself.
    """

    def __init__(self, hub: "_Hub", steps: Steps[T]) -> None:
        self.result: asyncio.Future[T] = hub.loop.create_future()
        self._hub, self._steps = hub, steps
        self._wait = Wait((), (), 0.0)
        self._deadline_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._begun = False

    def go_on(self, ready: list[int]) -> None:
        """Take the next step; `ready` may be empty when the time is up."""
        if self.result.done():
            return
        try:
            wait = self._steps.send(ready if self._begun else None)  # type: ignore[arg-type]
            self._begun = True
            # The same tuples, not equal ones: a descriptor may have been closed, and another have got its number.
            if wait.reads is not self._wait.reads or wait.writes is not self._wait.writes:
                self._hub.watch(self, self._wait, wait)
                self._wait = wait
        except StopIteration as end:
            self.get_off()  # at once: the steps may have closed what they waited for, and others get its numbers
            self.result.set_result(end.value)
        except Exception as error:  # noqa: BLE001 - it is raised again where the result is awaited
            self.get_off()
            self.result.set_exception(error)
        else:
            self._deadline_s = self._hub.loop.time() + max(0.0, wait.seconds)
            if self._timer is None or self._timer.when() > self._deadline_s:
                self._set_timer()

    def get_off(self) -> None:
        """Leave nothing with the loop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._hub.watch(self, self._wait, Wait((), (), 0.0))
        self._wait = Wait((), (), 0.0)

    def _ring(self) -> None:
        self._timer = None
        if self.result.done():
            return
        if self._hub.loop.time() < self._deadline_s:
            self._set_timer()  # meanwhile the deadline has moved on
        else:
            self._hub.look()
            if self._timer is None:
                self.go_on([])

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._hub.loop.call_at(self._deadline_s, self._ring)


class _Hub:
    """All descriptors that rides on one event loop wait for, in one selector that the loop watches as one descriptor.

    So a ride that comes, goes or waits for something else never troubles the loop, and a look finds all that is ready.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._selector: selectors.BaseSelector | None = None

    def watch(self, ride: "_Ride[Any]", old: Wait, new: Wait) -> None:
        """Forget what `ride` waited for, and note what it waits for now."""
        if self._selector is None:
            if not new.reads and not new.writes:
                return
            self._selector = selectors.DefaultSelector()
            _hubs[self.loop] = self
            self.loop.add_reader(self._selector, self.look)
        for number in old.reads + old.writes:
            self._selector.unregister(number)
        for numbers, event in ((new.reads, selectors.EVENT_READ), (new.writes, selectors.EVENT_WRITE)):
            for number in numbers:
                self._selector.register(number, event, ride)
        if not self._selector.get_map():
            self.loop.remove_reader(self._selector)  # type: ignore[arg-type]
            self._selector.close()
            self._selector = None
            if _hubs.get(self.loop) is self:
                del _hubs[self.loop]

    def look(self) -> None:
        """Let every ride go on for which something is ready, a few times over: while one steps, others become ready."""
        for _ in range(_ROUNDS):
            found = self._selector.select(0) if self._selector is not None else []
            if not found:
                return
            ready: dict[_Ride[Any], list[int]] = {}
            for key, _events in found:
                ready.setdefault(key.data, []).append(key.fd)
            for ride, numbers in ready.items():
                ride.go_on(numbers)


_hubs: dict[asyncio.AbstractEventLoop, _Hub] = {}
"""Those with something to wait for."""


def _hub_of(loop: asyncio.AbstractEventLoop) -> _Hub:
    return _hubs.get(loop) or _Hub(loop)


class Lender(Generic[T]):
    """Lends each thing to one borrower at a time, first come, first served, threads and tasks in one queue."""

    def __init__(self, things: Iterable[T]) -> None:
        self._lock = threading.Lock()
        self._idle = collections.deque(things)
        self._waiting: collections.deque[Future[T] | _Asked[T]] = collections.deque()

    def borrow(self) -> T:
        """Wait for a thing, blocking this thread; never call it on the thread of an event loop that holds them all."""
        asked: Future[T] = Future()
        at_once = self._take_or_queue(asked)
        return asked.result() if at_once is None else at_once[0]

    async def aborrow(self) -> T:
        """Wait for a thing on the event loop."""
        loop = asyncio.get_running_loop()
        asked = _Asked(loop, loop.create_future())
        at_once = self._take_or_queue(asked)
        if at_once is not None:
            return at_once[0]
        try:
            thing: T = await asked.future
            return thing
        except asyncio.CancelledError:
            # Given and cancelled at the same moment; otherwise `give_back` passes over who is no longer there.
            if asked.future.done() and not asked.future.cancelled():
                self.give_back(asked.future.result())
            raise

    def give_back(self, thing: T) -> None:
        """Hand the thing to whoever has waited longest."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._idle.append(thing)
                    return
                asked = self._waiting.popleft()
            if self._hand_over(asked, thing):
                return

    def _hand_over(self, asked: "Future[T] | _Asked[T]", thing: T) -> bool:
        """Whether there was still somebody to take it."""
        if isinstance(asked, Future):
            asked.set_result(thing)
            return True
        if asyncio._get_running_loop() is asked.loop:
            if not asked.future.done():
                asked.future.set_result(thing)
                return True
            return False
        with contextlib.suppress(RuntimeError):  # that loop is closed
            asked.loop.call_soon_threadsafe(self._hand_over_or_keep, asked, thing)
            return True
        return False

    def _hand_over_or_keep(self, asked: "_Asked[T]", thing: T) -> None:
        if not self._hand_over(asked, thing):
            self.give_back(thing)

    def _take_or_queue(self, asked: "Future[T] | _Asked[T]") -> tuple[T] | None:
        with self._lock:
            if self._idle and not self._waiting:
                return (self._idle.popleft(),)
            self._waiting.append(asked)
        return None


class _Asked(NamedTuple, Generic[T]):
    """A task that waits for a thing."""

    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[T]"
