"""One piece of waiting code for both worlds: a generator says what it waits for, a plain or an asyncio driver waits.

No thread is used. `Lender` lends things (fork-servers, places) first come, first served, to both worlds at once.
"""

import asyncio
import collections
import select
import threading
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future
from typing import Generic, NamedTuple, TypeVar


class Wait(NamedTuple):
    """Descriptors to wait for, and for how many seconds at most."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    seconds: float


T = TypeVar("T")
Steps = Generator[Wait, Sequence[int], T]
"""Yields what it waits for and is sent the descriptors that are ready, none after the time is up; returns a T.

They are looked at in the order of `reads`: if the first is ready, whatever happened to the second before shows, too.
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
    loop = asyncio.get_running_loop()
    ride = _Ride(loop, steps)
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
    """Steps on an event loop: taken right in its callbacks, with descriptors and timer told to it only when they change.

    A task that is woken for every step, and descriptors registered anew for each, cost more than the steps themselves.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, steps: Steps[T]) -> None:
        self.result: asyncio.Future[T] = loop.create_future()
        self._loop, self._steps = loop, steps
        self._wait = Wait((), (), 0.0)
        self._poller = select.poll()
        self._deadline_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._begun = False

    def go_on(self, ready: list[int]) -> None:
        try:
            wait = self._steps.send(ready if self._begun else None)  # type: ignore[arg-type]
            self._begun = True
            # The same tuples, not equal ones: a descriptor may have been closed, and another have got its number.
            if wait.reads is not self._wait.reads or wait.writes is not self._wait.writes:
                self._watch(wait)
        except StopIteration as end:
            self.result.set_result(end.value)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the result is awaited
            self.get_off()
            self.result.set_exception(error)
        else:
            self._deadline_s = self._loop.time() + max(0.0, wait.seconds)
            if self._timer is None or self._timer.when() > self._deadline_s:
                self._set_timer()

    def get_off(self) -> None:
        """Leave nothing with the loop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._watch(Wait((), (), 0.0))

    def _look(self) -> None:
        """Something may be ready: of two callbacks for one event the second finds nothing."""
        if not self.result.done() and (ready := [number for number, _ in self._poller.poll(0)]):
            self.go_on(ready)

    def _ring(self) -> None:
        self._timer = None
        if self.result.done():
            return
        if self._loop.time() < self._deadline_s:
            self._set_timer()  # meanwhile the deadline has moved on
        else:
            self.go_on([number for number, _ in self._poller.poll(0)])

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._deadline_s, self._ring)

    def _watch(self, wait: Wait) -> None:
        for number in self._wait.reads:
            self._loop.remove_reader(number)
        for number in self._wait.writes:
            self._loop.remove_writer(number)
        self._wait, self._poller = wait, _poller(wait)
        for number in wait.reads:
            self._loop.add_reader(number, self._look)
        for number in wait.writes:
            self._loop.add_writer(number, self._look)


class Lender(Generic[T]):
    """Lends each thing to one borrower at a time, first come, first served, threads and tasks in one queue."""

    def __init__(self, things: Iterable[T]) -> None:
        self._lock = threading.Lock()
        self._idle = collections.deque(things)
        self._waiting: collections.deque[Future[T]] = collections.deque()

    def borrow(self) -> T:
        """Wait for a thing, blocking this thread; never call it on the thread of an event loop that holds them all."""
        return self._ask().result()

    async def aborrow(self) -> T:
        """Wait for a thing on the event loop."""
        asked = self._ask()
        try:
            return await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            if not asked.cancel():
                self.give_back(asked.result())
            raise

    def give_back(self, thing: T) -> None:
        """Hand the thing to whoever has waited longest."""
        with self._lock:
            while self._waiting:
                asked = self._waiting.popleft()
                if asked.set_running_or_notify_cancel():
                    asked.set_result(thing)
                    return
            self._idle.append(thing)

    def _ask(self) -> "Future[T]":
        asked: Future[T] = Future()
        with self._lock:
            if self._idle and not self._waiting:
                asked.set_running_or_notify_cancel()
                asked.set_result(self._idle.popleft())
            else:
                self._waiting.append(asked)
        return asked
