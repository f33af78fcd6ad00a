"""One piece of waiting code for both worlds: a generator says what it waits for, a plain or an asyncio driver waits.

No thread is used. `Lender` lends things (fork-servers, places) first come, first served, to both worlds at once.
"""

import asyncio
import collections
import select
import threading
from collections.abc import Generator, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar


@dataclass(frozen=True, slots=True)
class Wait:
    """Descriptors to wait for, and for how many seconds at most."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    seconds: float


T = TypeVar("T")
Steps = Generator[Wait, frozenset[int], T]
"""Yields what it waits for and is sent the descriptors that are ready, none after the time is up; returns a T."""

_NOTHING: frozenset[int] = frozenset()


def drive(steps: Steps[T]) -> T:
    """Run `steps` to its end, blocking this thread."""
    try:
        wait = next(steps)
        while True:
            poller = select.poll()
            for number in wait.reads:
                poller.register(number, select.POLLIN)
            for number in wait.writes:
                poller.register(number, select.POLLOUT)
            events = poller.poll(max(0, int(wait.seconds * 1000) + 1) if wait.seconds > 0 else 0)
            wait = steps.send(frozenset([number for number, _ in events]))
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
            wait = steps.send(await _ready(loop, wait))
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()


async def _ready(loop: asyncio.AbstractEventLoop, wait: Wait) -> frozenset[int]:
    found: asyncio.Future[frozenset[int]] = loop.create_future()

    def tell(ready: frozenset[int]) -> None:
        if not found.done():
            found.set_result(ready)

    timer = loop.call_later(max(0.0, wait.seconds), tell, _NOTHING)
    try:
        for number in wait.reads:
            loop.add_reader(number, tell, frozenset((number,)))
        for number in wait.writes:
            loop.add_writer(number, tell, frozenset((number,)))
        return await found
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
