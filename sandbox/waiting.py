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
    try:
        wait = next(steps)
        while True:
            await _something(loop, wait)
            wait = steps.send([number for number, _ in _poller(wait).poll(0)])
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()


def _poller(wait: Wait) -> "select.poll":
    poller = select.poll()
    for number in wait.reads:
        poller.register(number, select.POLLIN)
    for number in wait.writes:
        poller.register(number, select.POLLOUT)
    return poller


async def _something(loop: asyncio.AbstractEventLoop, wait: Wait) -> None:
    """Return when a descriptor is ready or the time is up."""
    happened: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        if not happened.done():
            happened.set_result(None)

    timer = loop.call_later(max(0.0, wait.seconds), tell)
    try:
        for number in wait.reads:
            loop.add_reader(number, tell)
        for number in wait.writes:
            loop.add_writer(number, tell)
        await happened
    finally:
        timer.cancel()
        for number in wait.reads:
            loop.remove_reader(number)
        for number in wait.writes:
            loop.remove_writer(number)


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
