"""The host's half of a conversation: one request at a time, limits on each, and a name for every way it can end."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sandbox import wire
from sandbox.contract import Execution, Job, Kind, Result
from sandbox.guest import MESSAGE_CHARACTERS, NO_NONCE
from sandbox.waiting import Steps, Wait

START_S = 30.0
"""A guest that has not set up its limits by then is a fault of the sandbox: no code has been read yet."""
_CHUNK_BYTES = 1 << 14


class SandboxFault(Exception):
    """The sandbox itself failed; never the guest's doing."""


@dataclass(frozen=True)
class Death:
    """How a guest ended: `os.wait` status, None when it could not be learnt, and its CPU seconds in all."""

    status: int | None
    cpu_s: float


class Guest(Protocol):
    """A started child with the host's ends of its three pipes, non-blocking."""

    requests: int
    replies: int
    output: int
    death: int | None
    """A descriptor that becomes readable when the guest dies, or None where there is no such thing."""

    def dead(self) -> bool: ...

    def cpu_s(self) -> float | None:
        """CPU seconds so far, or None where the system does not tell."""

    def finish(self) -> Steps[Death]:
        """Kill all its processes, wait, release everything."""

    def abandon(self) -> None:
        """The same when there is no time to wait: on cancellation."""


@dataclass(frozen=True)
class _Ending:
    """Why a session ended early; kind None: it died, and how is known once it has been waited for."""

    kind: Kind | None
    message: str | None = None


class _Session:
    """One guest from its start to its death: some of the job's calls."""

    def __init__(self, guest: Guest, job: Job) -> None:
        self.guest, self.job, self.room = guest, job, job.limits.output_bytes
        self.outbox = memoryview(b"")
        self.inbox = bytearray()
        self.output = bytearray()
        self.loaded = False
        self.used_s, self.clock_s = 0.0, 0.0
        # Drawn at once, because a system call for each is dear; the guest sees a nonce when it is used and not before.
        self.nonces, self.asked = os.urandom(8 * (1 + len(job.inputs))).hex().encode(), 0
        self.largest_frame = 64 + max(job.limits.output_bytes, 16 * MESSAGE_CHARACTERS)
        self.watched: tuple[int, ...] = (guest.replies, guest.output)
        if guest.death is not None:
            self.watched += (guest.death,)

    def talk(self, results: list[Result]) -> Steps[_Ending | None]:
        """Append a result per call as it comes; None when all calls are done, else why this guest cannot go on."""
        limits = self.job.limits
        greeting = yield from self._answer(NO_NONCE, START_S, START_S)
        if isinstance(greeting, _Ending) or greeting[0] != b"G":
            reason = greeting.message or greeting.kind or "died" if isinstance(greeting, _Ending) else greeting[1]
            raise SandboxFault(f"the guest did not start: {reason!r}")
        begin = [self.job.code, self.job.entry_point, limits.output_bytes, float(limits.cpu_s)]
        loading = yield from self._ask(begin)
        if isinstance(loading, _Ending):
            return loading
        if loading.kind != "not_run":
            results.extend([loading] * (len(self.job.inputs) - len(results)))
            return None
        self.loaded = True
        while len(results) < len(self.job.inputs):
            answer = yield from self._ask(dict(self.job.inputs[len(results)]))
            if isinstance(answer, _Ending):
                return answer
            if answer.kind == "protocol":
                return _Ending("protocol", answer.message)
            results.append(answer)
            if self.job.stop_on_failure and answer.kind != "returned":
                return None
        return None

    def _ask(self, request: object) -> Steps[Result | _Ending]:
        if self.inbox:
            return _Ending("protocol", "wrote without being asked")
        nonce = self.nonces[16 * self.asked : 16 * self.asked + 16]
        self.asked += 1
        body = wire.encode(request).encode()
        self.outbox = memoryview((len(body) + 16).to_bytes(4, "big") + nonce + body)
        answer = yield from self._answer(nonce, self.job.limits.cpu_s, self.job.limits.wall_s)
        return answer if isinstance(answer, _Ending) else _result(*answer, cpu_s=self.used_s, loaded=self.loaded)

    def _answer(self, nonce: bytes, cpu_limit_s: float, wall_limit_s: float) -> Steps[tuple[bytes, bytes] | _Ending]:
        guest, requests = self.guest, (self.guest.requests,)
        # The clock stands while a guest waits for us; what it does without being asked counts for the next answer.
        start_s, before_s = time.monotonic(), self.clock_s
        self.used_s = 0.0
        self._write()
        while True:
            left_s = start_s + wall_limit_s - time.monotonic()
            patience_s = min(left_s, cpu_limit_s - self.used_s) if guest.death is not None else min(left_s, 0.02)
            ready = yield Wait(self.watched, requests if self.outbox else (), patience_s)
            dead = guest.death in ready or (guest.death is None and guest.dead())
            if self.outbox:
                self._write()
            if dead or guest.replies in ready:
                self._read_replies(dead)
            # The guest flushes before it answers and `replies` is looked at first, so with an answer all is here that
            # its call has printed.
            if (dead or guest.output in ready) and not self._read_output():
                return _Ending("output_limit", "stdout and stderr")
            self.clock_s = guest.cpu_s() or self.clock_s
            self.used_s = self.clock_s - before_s
            # CPU first: a call that came back above its limit before we could kill it has still run out of time.
            if self.used_s > cpu_limit_s:
                return _Ending("timeout", "CPU time")
            frame = self._frame(nonce)
            if frame is not None:
                return frame
            if time.monotonic() - start_s > wall_limit_s:
                return _Ending("timeout", "wall time")
            if dead:
                return _Ending(None)

    def _write(self) -> None:
        try:
            while self.outbox:
                self.outbox = self.outbox[os.write(self.guest.requests, self.outbox[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            pass
        except OSError:
            self.outbox = memoryview(b"")

    def _read_replies(self, to_the_end: bool) -> None:
        while len(self.inbox) <= self.largest_frame and self._read(self.guest.replies, self.inbox) and to_the_end:
            pass

    def _read_output(self) -> bool:
        """Take what has been printed; False when it is more than allowed."""
        while self._read(self.guest.output, self.output):
            if len(self.output) > self.room:
                del self.output[self.room :]
                return False
        return True

    def _read(self, number: int, into: bytearray) -> bool:
        if number not in self.watched:
            return False
        try:
            received = os.read(number, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not received:
            self.watched = tuple(other for other in self.watched if other != number)
        into += received
        return bool(received)

    def _frame(self, nonce: bytes) -> tuple[bytes, bytes] | _Ending | None:
        if len(self.inbox) < 4:
            return None
        size = int.from_bytes(self.inbox[:4], "big")
        if not 17 <= size <= self.largest_frame:
            return _Ending("protocol", "no frame")
        if len(self.inbox) < 4 + size:
            return None
        frame = bytes(self.inbox[4 : 4 + size])
        del self.inbox[: 4 + size]
        if frame[:16] != nonce:
            return _Ending("protocol", "not the answer to what was asked")
        return frame[16:17], frame[17:]


def _result(letter: bytes, body: bytes, *, cpu_s: float, loaded: bool) -> Result:
    """What an answer means; `not_run` stands for "the code is loaded"."""
    if letter == b"M":
        return Result("memory", message="MemoryError", cpu_s=cpu_s)
    try:
        if letter in (b"E", b"X"):
            name, message, line = _details(body)
            return Result(
                "raised" if letter == b"E" else "exited", None, _printable(name), _printable(message), line, cpu_s
            )
        if not loaded:
            if letter == b"R" and not body:
                return Result("not_run")
        elif letter == b"L" and not body:
            return Result("output_limit", message="the returned value", cpu_s=cpu_s)
        elif letter == b"U":
            return Result("unserialisable", message=_printable(str(wire.decode(body.decode("ascii")))), cpu_s=cpu_s)
        elif letter == b"V":
            text = body.decode("ascii")
            wire.decode(text)
            return Result("returned", text, cpu_s=cpu_s)
    except ValueError:
        pass
    return Result("protocol", message="not an answer", cpu_s=cpu_s)


def _details(body: bytes) -> tuple[str, str, int | None]:
    details = wire.decode(body.decode("ascii"))
    if type(details) is not list or [type(item) for item in details[:2]] != [str, str] or len(details) != 3:
        raise ValueError("not the description of an exception")
    line = details[2]
    return details[0], details[1], line if type(line) is int and 0 < line < 1 << 31 else None


def _printable(text: str) -> str:
    return "".join([c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:MESSAGE_CHARACTERS]])[
        :MESSAGE_CHARACTERS
    ]


def _of_death(death: Death, cpu_limit_s: float, used_s: float) -> Result:
    status = death.status
    if status is not None and os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU or (number == signal.SIGKILL and used_s >= cpu_limit_s):
            return Result("timeout", message="CPU time", cpu_s=used_s)
        return Result("killed", message=signal.Signals(number).name, cpu_s=used_s)
    code = "?" if status is None else os.waitstatus_to_exitcode(status)
    return Result("exited", message=f"exit status {code} before a result", cpu_s=used_s)


def converse(job: Job, launch: Callable[[], Steps[Guest]], missing_layers: tuple[str, ...]) -> Steps[Execution]:
    """All calls of a job; after a call that cost the guest its life the next one meets a fresh guest.

    A fault of the sandbox is answered by doing the work again, once.
    """
    start_s = time.monotonic()
    results: list[Result] = []
    output = bytearray()
    cpu_s, faults = 0.0, 0
    while len(results) < len(job.inputs):
        try:
            guest = yield from launch()
            finished = False
            try:
                session = _Session(guest, job)
                ending = yield from session.talk(results)
                death = yield from guest.finish()
                finished = True
            finally:
                if not finished:
                    guest.abandon()
        except SandboxFault as fault:
            faults += 1
            if faults < 2:
                continue
            return Execution((), _text(output), cpu_s, time.monotonic() - start_s, str(fault), missing_layers)
        output += session.output[: job.limits.output_bytes - len(output)]
        cpu_s += death.cpu_s
        if ending is not None:
            if ending.kind is None:
                result = _of_death(death, job.limits.cpu_s, session.used_s)
            else:
                result = Result(ending.kind, message=ending.message, cpu_s=session.used_s)
            # What kills the guest while it loads would do so before each call.
            results.extend([result] * (1 if session.loaded else len(job.inputs) - len(results)))
        if job.stop_on_failure and results and results[-1].kind != "returned":
            results.extend([Result("not_run")] * (len(job.inputs) - len(results)))
    return Execution(tuple(results), _text(output), cpu_s, time.monotonic() - start_s, None, missing_layers)


def _text(output: bytearray) -> str:
    return output.decode("utf-8", "replace")
