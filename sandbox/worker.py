"""A forked worker for *trusted* code that may run too long, eat memory or crash: solvers, generation, audit."""

import contextlib
import gc
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Self

from sandbox import reaper

Status = Literal["done", "raised", "cpu", "wall", "memory", "crashed"]
Handler = Callable[[Any, Callable[[str], None]], Any]
"""`handler(payload, section)` returns something picklable; it calls `section(label)` as each risky step begins."""

_FRAME = struct.Struct("!cQd")
"""Kind (S section, D done, R raised, M memory), bytes of body, CPU seconds of the child so far."""
_REQUEST = struct.Struct("!Q")
_CHUNK_BYTES = 1 << 18
_POLL_S = 0.5
_CLOSE_S = 1.0


@dataclass(frozen=True)
class Reply:
    """What one call gave."""

    status: Status
    """`cpu` and `wall`: one section went over its limit; `memory`: a MemoryError; `crashed`: the child died."""
    value: Any
    """The handler's return value when done, else None."""
    error: str | None
    """Traceback for `raised`; for `crashed` such as "signal 11" or "exit 3"."""
    section: str
    """Last label given to `section`, "" before the first."""
    cpu_s: float
    """CPU seconds of the whole call."""
    wall_s: float


class _Child:
    """One forked child and the state of its present call; never blocks: `advance` moves it when the socket is ready."""

    def __init__(self, handler: Handler, cpu_s: float, wall_s: float, memory_bytes: int) -> None:
        self.handler, self.cpu_limit_s, self.wall_limit_s, self.memory_bytes = handler, cpu_s, wall_s, memory_bytes
        self.busy = False
        self._fork()

    def _fork(self) -> None:
        self.socket, theirs = socket.socketpair()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, ValueError, OSError):
                stream.flush()
        pid = os.fork()
        if pid == 0:
            _live(theirs, self.handler, self.cpu_limit_s, self.memory_bytes)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        theirs.close()
        self.socket.setblocking(False)
        self.pid = pid
        self.seen_cpu_s = 0.0

    def submit(self, payload: Any) -> None:
        """Hand over one payload; a dead child is replaced first."""
        body = pickle.dumps(payload, protocol=pickle.HIGHEST_PROTOCOL)
        if self.pid == 0 or _gone(self.socket):
            self.end(0.0)
            self._fork()
        self.outbox = memoryview(_REQUEST.pack(len(body)) + body)
        self.inbox = bytearray()
        self.section = ""
        self.busy = True
        self.call_start_s = self.section_start_s = time.monotonic()
        self.call_cpu_s = self.section_cpu_s = self.seen_cpu_s = self._cpu_s()

    def _cpu_s(self) -> float:
        clock_s = reaper.cpu_time_s(self.pid)
        return self.seen_cpu_s if clock_s is None else clock_s

    def patience_s(self) -> float:
        """Seconds that may pass before a limit has to be looked at again."""
        wall_left = self.section_start_s + self.wall_limit_s - time.monotonic()
        cpu_left = self.section_cpu_s + self.cpu_limit_s - self._cpu_s()
        return max(0.001, min(wall_left, cpu_left, _POLL_S))

    def advance(self) -> Reply | None:
        """Move bytes both ways without waiting, then look at the limits; a Reply ends the call."""
        try:
            while self.outbox:
                self.outbox = self.outbox[self.socket.send(self.outbox[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            pass
        except OSError:
            return self._ended()
        while True:
            try:
                received = self.socket.recv(_CHUNK_BYTES)
            except BlockingIOError:
                break
            except OSError:
                return self._ended()
            if not received:
                return self._ended()
            self.inbox += received
        while (frame := self._frame()) is not None:
            reply = self._take(*frame)
            if reply:
                return reply
        return self._over_limit(self._cpu_s())

    def _frame(self) -> tuple[bytes, bytes, float] | None:
        if len(self.inbox) < _FRAME.size:
            return None
        kind, size, cpu_s = _FRAME.unpack_from(self.inbox)
        if len(self.inbox) < _FRAME.size + size:
            return None
        body = bytes(self.inbox[_FRAME.size : _FRAME.size + size])
        del self.inbox[: _FRAME.size + size]
        return kind, body, cpu_s

    def _take(self, kind: bytes, body: bytes, cpu_s: float) -> Reply | None:
        # A section that ended above its limit before we could kill it counts as killed: the outcome must not depend on
        # how quickly this process was scheduled.
        over = self._over_limit(cpu_s, wall=False)
        if over or kind != b"S":
            if over:
                return over
            self.busy = False
            if kind == b"D":
                return self._reply("done", value=pickle.loads(body))
            return self._reply("memory" if kind == b"M" else "raised", error=body.decode("utf-8", "replace"))
        self.section = body.decode("utf-8", "replace")
        self.section_start_s, self.section_cpu_s = time.monotonic(), cpu_s
        return None

    def _over_limit(self, cpu_s: float, wall: bool = True) -> Reply | None:
        self.seen_cpu_s = max(self.seen_cpu_s, cpu_s)
        if cpu_s - self.section_cpu_s > self.cpu_limit_s:
            self.end(0.0)
            return self._reply("cpu")
        if wall and time.monotonic() - self.section_start_s > self.wall_limit_s:
            self.end(0.0)
            return self._reply("wall")
        return None

    def _ended(self) -> Reply:
        status = self.end(_CLOSE_S)
        if status is not None and os.WIFSIGNALED(status):
            if os.WTERMSIG(status) == signal.SIGXCPU:
                return self._reply("cpu")
            return self._reply("crashed", error=f"signal {os.WTERMSIG(status)}")
        return self._reply("crashed", error=f"exit {os.waitstatus_to_exitcode(status) if status is not None else '?'}")

    def _reply(self, status: Status, value: Any = None, error: str | None = None) -> Reply:
        wall_s = time.monotonic() - self.call_start_s
        return Reply(status, value, error, self.section, max(0.0, self.seen_cpu_s - self.call_cpu_s), wall_s)

    def end(self, grace_s: float) -> int | None:
        """Close the channel, wait `grace_s` for the child to leave by itself, then kill its group; the wait status."""
        self.busy = False
        if self.pid == 0:
            return None
        self.socket.close()
        found = reaper.reap(self.pid, grace_s) if grace_s else None
        reaper.kill_group(self.pid)
        found = found or reaper.reap(self.pid, 5.0)
        self.pid = 0
        if found is None:
            return None
        self.seen_cpu_s = max(self.seen_cpu_s, found[1].ru_utime + found[1].ru_stime)
        return found[0]


def _gone(channel: socket.socket) -> bool:
    """Whether an idle child has closed its end, that is, has died since its last call."""
    try:
        return channel.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _live(channel: socket.socket, handler: Handler, cpu_limit_s: float, memory_bytes: int) -> NoReturn:
    """The child: answer requests until the channel ends."""
    code = 70
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        reaper.die_with_parent()
        reaper.shut_descriptors({channel.fileno()})
        reaper.cap(resource.RLIMIT_CORE, 0)
        reaper.cap_growth(memory_bytes)
        gc.freeze()
        while (request := _receive(channel)) is not None:
            reaper.cap_cpu(cpu_limit_s)
            kind, body = _answer(channel, handler, cpu_limit_s, request)
            _send(channel, kind, body)
        code = 0
    except OSError:
        code = 71
    finally:
        os._exit(code)


def _answer(channel: socket.socket, handler: Handler, cpu_limit_s: float, request: bytes) -> tuple[bytes, bytes]:
    def section(label: str) -> None:
        _send(channel, b"S", label.encode("utf-8", "replace"))
        reaper.cap_cpu(cpu_limit_s)

    try:
        return b"D", pickle.dumps(handler(pickle.loads(request), section), protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return b"M", b"MemoryError"
    except BaseException:  # noqa: BLE001 - the border of the process: whatever is raised here is the parent's to judge
        return b"R", traceback.format_exc().encode("utf-8", "replace")


def _send(channel: socket.socket, kind: bytes, body: bytes) -> None:
    channel.sendall(_FRAME.pack(kind, len(body), time.process_time()) + body)


def _receive(channel: socket.socket) -> bytes | None:
    head = _exactly(channel, _REQUEST.size)
    return None if head is None else _exactly(channel, _REQUEST.unpack(head)[0])


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        received = channel.recv(min(size - len(parts), _CHUNK_BYTES))
        if not received:
            return None
        parts += received
    return bytes(parts)


def _wait(children: Iterable[_Child]) -> list[tuple[_Child, Reply]]:
    """Wait until at least one busy child may have something to say; the calls that ended meanwhile."""
    poller = select.poll()
    by_number = {child.socket.fileno(): child for child in children if child.busy}
    for number, child in by_number.items():
        poller.register(number, select.POLLIN | (select.POLLOUT if child.outbox else 0))
    patience_s = min(child.patience_s() for child in by_number.values())
    poller.poll(max(1, int(patience_s * 1000)))
    return [(child, reply) for child in by_number.values() if (reply := child.advance()) is not None]


class Worker:
    """One forked child that runs `handler` on one payload after the other, and is forked anew after a kill.

    `cpu_s` and `wall_s` bound each section of a call, `memory_bytes` what its address space grows by. Payloads and values are
    pickled, so this is for trusted code only. Make it on the main thread, before threads and event loops exist: the
    child is forked at once and dies with the thread that made it. The child sees the null device in place of every
    descriptor above 2 that was open at the fork.
    """

    def __init__(self, handler: Handler, *, cpu_s: float, wall_s: float, memory_bytes: int) -> None:
        self._child = _Child(handler, cpu_s, wall_s, memory_bytes)

    def call(self, payload: Any) -> Reply:
        """Run the handler on one payload; raises only when the payload itself cannot be pickled."""
        self._child.submit(payload)
        try:
            while not (ended := _wait([self._child])):
                pass
        finally:
            if self._child.busy:
                self._child.end(0.0)
        return ended[0][1]

    def close(self) -> None:
        """End the child, within seconds whatever it does; a later call would fork it again."""
        self._child.end(_CLOSE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Pool:
    """Several such children; see `Worker` for the limits and for when to make it."""

    def __init__(self, handler: Handler, *, workers: int, cpu_s: float, wall_s: float, memory_bytes: int) -> None:
        self._children = [_Child(handler, cpu_s, wall_s, memory_bytes) for _ in range(workers)]

    def map(self, payloads: Iterable[Any]) -> Iterator[Reply]:
        """Replies in the order of the payloads, lazily: at most four payloads per worker are taken ahead."""
        source = enumerate(payloads)
        window = 4 * len(self._children)
        ready: dict[int, Reply] = {}
        place: dict[_Child, int] = {}
        taken, given, exhausted = 0, 0, False
        try:
            while True:
                for child in self._children:
                    if child.busy or exhausted or taken - given >= window:
                        continue
                    item = next(source, None)
                    if item is None:
                        exhausted = True
                        break
                    place[child], payload = item
                    taken += 1
                    child.submit(payload)
                if given in ready:
                    yield ready.pop(given)
                    given += 1
                elif taken > given:
                    for child, reply in _wait(self._children):
                        ready[place[child]] = reply
                elif exhausted:
                    return
        finally:
            for child in self._children:
                if child.busy:
                    child.end(0.0)

    def close(self) -> None:
        """End all children, within seconds whatever they do."""
        for child in self._children:
            child.end(0.0 if child.busy else _CLOSE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
