"""`Isolated`: guests forked within milliseconds, each behind namespaces, seccomp, Landlock and rlimits (Linux)."""

import contextlib
import json
import math
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

from sandbox import forkserver, namespaces, reaper, scratch, syscalls
from sandbox.contract import Execution, Job, Limits
from sandbox.conversation import START_S, Death, Refused, SandboxFault, converse
from sandbox.interpreter import GUEST_FLAGS, guest_environment, interpreter, report_missing
from sandbox.waiting import Lender, Steps, Wait, adrive, drive

_FIRST_USER = 61000
"""As root, the server with number n becomes user 61000 + n, so that no two of them and nothing else share one."""
_ALLOCATOR = {
    # One arena: each further one would set 64 MB of a guest's address space aside per thread.
    "MALLOC_ARENA_MAX": "1",
    # A heap that grows in large steps and keeps what it has costs a fresh guest fewer calls and fewer new pages.
    "MALLOC_TOP_PAD_": str(256 << 10),
    "MALLOC_TRIM_THRESHOLD_": str(4 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(4 << 20),
}
_END_S = 60.0
"""A guest's files are removed before its end is reported; without a quota they can be many."""


class Isolated:
    """Runs each guest in a fresh child of one of `workers` fork-servers, the rest waits its turn.

    `degraded` decides what happens where this machine lacks a layer: "warn" names it on stderr and in every execution,
    "refuse" raises SandboxFault at the start. `limits` is kept for callers that build jobs. Making one is cheap; the
    servers start with `start` or the first run.
    """

    name = "isolated"

    def __init__(self, *, workers: int, degraded: str, limits: Limits) -> None:
        if workers < 1 or degraded not in ("warn", "refuse"):
            raise ValueError(f"{workers=}, {degraded=}: workers is at least 1, and degraded is warn or refuse")
        self.limits = limits
        self._degraded = degraded
        self._servers = [_Server(_FIRST_USER + number) for number in range(workers)]
        self._lender = Lender(self._servers)
        self._starting = threading.Lock()
        self._missing: tuple[str, ...] | None = None

    def start(self) -> None:
        """Start the fork-servers; call it before threads and event loops exist. Does nothing the second time.

        Raises SandboxFault when they cannot be started, or lack a layer and `degraded` is "refuse".
        """
        with self._starting:
            if self._missing is not None:
                return
            if sys.platform != "linux":
                raise Refused("sandbox isolated needs Linux; choose sandbox=process here")
            try:
                for server in self._servers:
                    server.spawn()
                for server in self._servers:
                    drive(server.ready())
                missing = tuple(dict.fromkeys(layer for server in self._servers for layer in server.missing))
                report_missing(self.name, missing, self._degraded)
            except SandboxFault:
                self.close()
                raise
            self._missing = missing

    def missing_layers(self) -> tuple[str, ...]:
        self.start()
        return self._missing or ()

    def run(self, job: Job) -> Execution:
        """Run the job, blocking this thread; never raises for what the guest does."""
        missing = self.missing_layers()
        server = self._lender.borrow()
        try:
            return drive(converse(job, lambda: server.launch(job, here=True), missing))
        finally:
            self._lender.give_back(server)

    async def arun(self, job: Job) -> Execution:
        """The same on the event loop, waiting on descriptors; cancelling kills the guest."""
        missing = self.missing_layers()
        server = await self._lender.aborrow()
        try:
            return await adrive(converse(job, lambda: server.launch(job, here=len(self._servers) == 1), missing))
        finally:
            self._lender.give_back(server)

    def close(self) -> None:
        """End the fork-servers and whatever they run; the next run would start them again."""
        for server in self._servers:
            server.stop()
        self._missing = None


class _Server:
    """One fork-server as the host sees it; started anew whenever it is needed and not there."""

    def __init__(self, user: int) -> None:
        self.user = user
        self._pid = 0
        self._allowed: list[int] = []
        self.processors: list[int] = []
        """Those that a guest may run on."""
        self.missing: list[str] = []
        self.control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._refusal: str | None = None
        self._folder: str | None = None

    def spawn(self) -> None:
        """Start the programme without waiting for it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        work = namespaces.WORK if self._refusal is None else self._own_folder()
        options = forkserver.Options(theirs.fileno(), self.user, self._refusal is None, work)
        environment = guest_environment(work) | _ALLOCATOR
        try:
            self._process = subprocess.Popen(
                [interpreter(), *GUEST_FLAGS, os.path.abspath(forkserver.__file__), json.dumps(vars(options))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # a terminal's Ctrl-C is for the host; the end of the socket ends the server
                cwd="/",
                env=environment,
            )
        except OSError as error:
            ours.close()
            raise SandboxFault(f"the fork-server could not be started: {error}") from error
        finally:
            theirs.close()
        ours.setblocking(False)
        self.control = ours

    def ready(self) -> Steps[None]:
        """Wait until the server is set up; without namespaces try again with what is left."""
        message, handles = yield from self.hear(1 << 16, START_S, descriptors=1)
        if message[:1] == b"N" and self._refusal is None:
            self._refusal = message[1:].decode("utf-8", "replace")
            self.stop()
            self.spawn()
            message, handles = yield from self.hear(1 << 16, START_S, descriptors=1)
        if message[:1] != b"R" or not handles:
            self.stop()
            raise SandboxFault(f"the fork-server did not start: {message[1:].decode('utf-8', 'replace')}")
        self._pid = reaper.pid_behind(handles[0])
        os.close(handles[0])
        self._allowed = self.processors = sorted(os.sched_getaffinity(0))
        self.missing = json.loads(message[1:])
        if self._refusal is not None:
            self.missing[:0] = [
                f"user, pid, mount, net and ipc namespaces ({self._refusal})",
                "read-only root and quota of the work folder",
            ]

    def _settle(self, here: bool) -> bool:
        """Tie the server, and so its next guest, to our own processor, or let it run on any; whether it is tied.

        Host and guest take turns. On two processors each turn wakes an idle one, and that costs more than what most
        calls do; so does a fork whose child runs elsewhere.
        """
        if len(self.processors) < 2:
            return False
        wanted = [syscalls.current_cpu()] if here else self.processors
        if wanted != self._allowed:
            try:
                os.sched_setaffinity(self._pid, wanted)
            except OSError:  # not allowed, or it is dead, which the next word to it will show
                self.processors = []
                return False
            self._allowed = wanted
        return here

    def launch(self, job: Job, here: bool) -> Steps["_Guest"]:
        """Ask for a guest; a server that has died is replaced first."""
        if self.control is None:
            self.spawn()
            yield from self.ready()
        control = self.control
        assert control is not None
        tied = self._settle(here)
        pipes: list[int] = []
        try:
            for _ in range(3):
                pipes += os.pipe()
            limits = job.limits
            # The hard CPU limit is for a host that has died: all calls at their limits, and some room for the start.
            cpu_s = math.ceil(limits.cpu_s * (len(job.inputs) + 1)) + 5
            head = forkserver.JOB.pack(cpu_s, limits.memory_bytes, limits.file_bytes)
            socket.send_fds(control, [head], [pipes[0], pipes[3], pipes[5]])
        except OSError as error:
            for number in pipes:
                os.close(number)
            self.stop()
            raise SandboxFault(f"the fork-server did not take the job: {error}") from error
        for number in (pipes[0], pipes[3], pipes[5]):
            os.close(number)
        return _Guest(self, pipes[1], pipes[2], pipes[4], tied)

    def hear(self, size: int, patience_s: float, descriptors: int = 0) -> Steps[tuple[bytes, list[int]]]:
        """The next message and its descriptors; raises SandboxFault when none comes in time or the server is gone."""
        deadline = time.monotonic() + patience_s
        while self.control is not None and time.monotonic() < deadline:
            yield Wait((self.control.fileno(),), (), deadline - time.monotonic())
            found = self.hear_now(size, descriptors)
            if found is not None:
                return found
        self.stop()
        raise SandboxFault("the fork-server is unresponsive")

    def hear_now(self, size: int, descriptors: int = 0) -> tuple[bytes, list[int]] | None:
        """A message that is already there; raises SandboxFault when the server is gone."""
        assert self.control is not None
        try:
            message, received, _, _ = socket.recv_fds(self.control, size, descriptors)
        except BlockingIOError:
            return None
        except OSError:
            message, received = b"", []
        if not message:
            self.stop()
            raise SandboxFault("the fork-server died")
        return message, received

    def stop(self) -> None:
        """End the server and all it runs, within seconds."""
        if self.control is not None:
            self.control.close()
            self.control = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(2.0)
            if self._process.returncode is None:
                self._process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(5.0)
            self._process = None
        if self._folder is not None:
            scratch.remove(self._folder)
            self._folder = None

    def _own_folder(self) -> str:
        if self._folder is None:
            self._folder = scratch.make("sandbox-")
            owner = namespaces.own_user(self.user)
            os.chown(self._folder, owner, owner if owner != os.geteuid() else -1)
        return self._folder


class _Guest:
    """One child that a server was asked to fork; see `conversation.Guest`."""

    greets = False

    def __init__(self, server: _Server, requests: int, replies: int, output: int, tied: bool) -> None:
        self.tied = tied
        self.server, self.requests, self.replies, self.output = server, requests, replies, output
        self.death: int | None = None
        for number in (requests, replies, output):
            os.set_blocking(number, False)
        self._pid = 0
        self._watch = select.poll()
        self._released = False

    def arrive(self) -> Steps[None]:
        """Take the handle that the server has sent: it does so before its child can have answered, or nearly."""
        message, descriptors = yield from self.server.hear(1, START_S, descriptors=1)
        if message != b"P" or len(descriptors) != 1:
            self.server.stop()
            raise SandboxFault("the fork-server gave no guest")
        self.death = descriptors[0]
        self._pid = reaper.pid_behind(self.death)
        self._watch.register(self.death, select.POLLIN)

    def loosen(self) -> None:
        self.tied = False
        with contextlib.suppress(OSError):
            os.sched_setaffinity(self._pid, self.server.processors)

    def dead(self) -> bool:
        return bool(self._watch.poll(0))

    def cpu_s(self) -> float | None:
        return reaper.cpu_time_s(self._pid) if self._pid else None

    def finish(self) -> Steps[Death]:
        if self.death is None:
            yield from self.arrive()
        self._kill()
        message, _ = yield from self.server.hear(forkserver.END.size, _END_S)
        self._release()
        if len(message) != forkserver.END.size:
            self.server.stop()
            raise SandboxFault("the fork-server spoke out of turn")
        return Death(*forkserver.END.unpack(message))

    def abandon(self) -> None:
        if self._released:
            return
        expected = [forkserver.END.size] if self.death is not None else [1, forkserver.END.size]
        try:
            for size in expected:
                self._kill()
                message, descriptors = self._hear_soon(size)
                if descriptors:
                    (self.death,) = descriptors
        except SandboxFault:
            pass  # it is stopped; the next job starts another
        finally:
            self._release()

    def _hear_soon(self, size: int) -> tuple[bytes, list[int]]:
        control = self.server.control
        if control is None:
            raise SandboxFault("the fork-server is gone")
        waiting = select.poll()
        waiting.register(control, select.POLLIN)
        waiting.poll(2000)
        found = self.server.hear_now(size, 1)
        if found is None:
            self.server.stop()
            raise SandboxFault("the fork-server is unresponsive")
        return found

    def _kill(self) -> None:
        if self.death is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.death, signal.SIGKILL)

    def _release(self) -> None:
        if not self._released:
            self._released = True
            for number in (self.requests, self.replies, self.output, self.death):
                if number is not None:
                    os.close(number)
