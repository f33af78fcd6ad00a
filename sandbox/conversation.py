"""The host's half of a conversation: one request at a time, limits on each, and a name for every way it can end."""

import fcntl
import os
import signal
import sys
import termios
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
_BY_SOMEBODY = "SIGKILL"
_SOON_S = 0.005
"""Who has not answered by then may use another processor."""


class SandboxFault(Exception):
    """The sandbox itself failed; never the guest's doing."""


class Refused(SandboxFault):
    """This machine has not what was asked for: a layer that may not be missing, or the whole sandbox."""


@dataclass(frozen=True)
class Death:
    """How a guest ended: `os.wait` status, None when it could not be learnt, and its CPU seconds in all."""

    status: int | None
    cpu_s: float


class Guest(Protocol):
    """A child that has been asked for, with the host's ends of its three pipes, non-blocking."""

    requests: int
    replies: int
    output: int
    greets: bool
    """Whether it says when it has been set up; if not, that is seen from its reading."""
    death: int | None
    """A descriptor that becomes readable when the guest dies, or None where there is no such thing, or not yet."""

    tied: bool
    """Whether it has to run on one processor; good for short calls only."""

    def loosen(self) -> None:
        """Let it run on any, from now on."""

    def arrive(self) -> Steps[None]:
        """Make sure that it was started; before that only its pipes may be used. Raises SandboxFault."""

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
        self.arrived = self.begun = self.loaded = False
        self.sent = 0
        self.used_s, self.clock_s = 0.0, 0.0
        # Drawn at once, because a system call for each is dear; the guest sees a nonce when it is used and not before.
        self.nonces, self.asked = os.urandom(8 * (1 + len(job.inputs))).hex().encode(), 0
        self.largest_frame = 64 + max(job.limits.output_bytes, 16 * MESSAGE_CHARACTERS)
        self.watched: tuple[int, ...] = (guest.replies, guest.output)

    def talk(self, results: list[Result]) -> Steps[_Ending | None]:
        """Append a result per call as it comes; None when all calls are done, else why this guest cannot go on."""
        limits = self.job.limits
        # The code is sent before there is anybody to read it: to wait for the guest first would cost two awakenings.
        loading = yield from self._ask([self.job.code, self.job.entry_point, limits.output_bytes, float(limits.cpu_s)])
        if isinstance(loading, _Ending):
            if not self._has_begun():
                raise SandboxFault(f"the guest did not start: {loading.message or loading.kind or 'died'}")
            return loading
        self.begun = True
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
        most_cpu_s, most_wall_s = (cpu_limit_s, wall_limit_s) if self.begun or not guest.greets else (START_S, START_S)
        self.used_s = 0.0
        self._write()
        while True:
            left_s = start_s + most_wall_s - time.monotonic()
            exact = guest.death is not None or not self.arrived
            patience_s = min(left_s, most_cpu_s - self.used_s) if exact else min(left_s, 0.02)
            if guest.tied and patience_s > _SOON_S:
                patience_s = _SOON_S
            ready = yield Wait(self.watched, requests if self.outbox else (), patience_s)
            if not self.arrived:
                yield from self._arrive()
            if guest.tied and not ready:
                guest.loosen()
            # Asked of the guest itself: a loop may tell of another descriptor that had this number before, as long as a
            # child that is being started elsewhere holds a copy of it.
            dead = (guest.death is None or guest.death in ready) and guest.dead()
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
            frame = self._frame()
            if not self.begun and isinstance(frame, tuple) and frame[0] == NO_NONCE and self._greeted(*frame[1:]):
                start_s, before_s = time.monotonic(), self.clock_s
                most_cpu_s, most_wall_s = cpu_limit_s, wall_limit_s
                continue
            # CPU first: a call that came back above its limit before we could kill it has still run out of time.
            if self.used_s > most_cpu_s:
                return _Ending("timeout", "CPU time")
            if isinstance(frame, _Ending):
                return frame
            if frame is not None:
                return frame[1:] if frame[0] == nonce else _Ending("protocol", "not the answer to what was asked")
            if time.monotonic() - start_s > most_wall_s:
                if most_wall_s >= START_S or self._has_begun():
                    return _Ending("timeout", "wall time")
                most_wall_s = START_S  # it has not been set up yet, and that is not its doing
            if dead:
                return _Ending(None)

    def _arrive(self) -> Steps[None]:
        yield from self.guest.arrive()
        self.arrived = True
        if self.guest.death is not None:
            self.watched += (self.guest.death,)

    def _greeted(self, letter: bytes, body: bytes) -> bool:
        """What is said before any code was read; afterwards nobody is believed who says so."""
        if self._has_begun() and not self.guest.greets:
            return False
        if letter == b"F":
            raise SandboxFault(f"the guest did not start: {body!r}")
        self.begun = letter == b"G"
        return self.begun

    def _has_begun(self) -> bool:
        """Whether the guest has been set up, so that whatever happens is its own doing."""
        if not self.begun and not self.guest.greets:
            unread = fcntl.ioctl(self.guest.requests, termios.FIONREAD, bytes(4))
            self.begun = int.from_bytes(unread, sys.byteorder) < self.sent
        return self.begun

    def _write(self) -> None:
        try:
            while self.outbox:
                written = os.write(self.guest.requests, self.outbox[:_CHUNK_BYTES])
                self.outbox = self.outbox[written:]
                self.sent += written
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

    def _frame(self) -> tuple[bytes, bytes, bytes] | _Ending | None:
        """Nonce, letter and body."""
        if len(self.inbox) < 4:
            return None
        size = int.from_bytes(self.inbox[:4], "big")
        if not 17 <= size <= self.largest_frame:
            return _Ending("protocol", "no frame")
        if len(self.inbox) < 4 + size:
            return None
        frame = bytes(self.inbox[4 : 4 + size])
        del self.inbox[: 4 + size]
        return frame[:16], frame[16:17], frame[17:]


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
            wire.check(text)
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

    A fault of the sandbox is answered by doing the work again, once; so is a SIGKILL that no limit explains, because a
    machine that is out of memory sends it to whom it likes. Who is killed again has done it himself.
    """
    start_s = time.monotonic()
    results: list[Result] = []
    output = bytearray()
    cpu_s, faults, killed = 0.0, 0, -1
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
                if result.message == _BY_SOMEBODY and killed != len(results):
                    killed = len(results)
                    continue
            else:
                result = Result(ending.kind, message=ending.message, cpu_s=session.used_s)
            # What kills the guest while it loads would do so before each call.
            results.extend([result] * (1 if session.loaded else len(job.inputs) - len(results)))
        if job.stop_on_failure and results and results[-1].kind != "returned":
            results.extend([Result("not_run")] * (len(job.inputs) - len(results)))
    return Execution(tuple(results), _text(output), cpu_s, time.monotonic() - start_s, None, missing_layers)


def _text(output: bytearray) -> str:
    return output.decode("utf-8", "replace")
