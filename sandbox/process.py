"""`Process`: a fresh interpreter per guest under rlimits, on any POSIX system; a seat belt, not a wall."""

import contextlib
import math
import os
import signal
import subprocess
import sys
import time

from sandbox import reaper, scratch
from sandbox.contract import Execution, Job, Limits
from sandbox.conversation import Death, SandboxFault, converse
from sandbox.interpreter import GUEST_FLAGS, guest_environment, interpreter, report_missing
from sandbox.waiting import Lender, Steps, Wait, adrive, drive


class Process:
    """Runs each guest in its own process group with rlimits, a clean environment and a private folder.

    `workers` guests run at the same time, the rest waits its turn. `degraded` is "warn" or "refuse": this sandbox never
    has the layers that `missing_layers` names, so "refuse" makes `start` raise SandboxFault. `limits` is kept for
    callers that build jobs.
    """

    name = "process"

    def __init__(self, *, workers: int, degraded: str, limits: Limits) -> None:
        if workers < 1 or degraded not in ("warn", "refuse"):
            raise ValueError(f"{workers=}, {degraded=}: workers is at least 1, and degraded is warn or refuse")
        self.limits = limits
        self._degraded = degraded
        self._places = Lender(range(workers))
        self._started = False

    def start(self) -> None:
        """Say once on stderr which layers are missing, or raise SandboxFault under `degraded: refuse`."""
        if not self._started:
            report_missing(self.name, self.missing_layers(), self._degraded)
            self._started = True

    def missing_layers(self) -> tuple[str, ...]:
        missing = ["namespaces", "read-only root", "no network", "seccomp", "own user"]
        if sys.platform != "linux":
            missing += ["no_new_privs", "death with the parent", "CPU clock of the guest"]
        if sys.platform == "darwin":
            missing.append("memory limit")
        return tuple(missing)

    def run(self, job: Job) -> Execution:
        """Run the job, blocking this thread; never raises for what the guest does."""
        self.start()
        place = self._places.borrow()
        try:
            return drive(converse(job, lambda: _launch(job), self.missing_layers()))
        finally:
            self._places.give_back(place)

    async def arun(self, job: Job) -> Execution:
        """The same on the event loop, waiting on descriptors; cancelling kills the guest."""
        self.start()
        place = await self._places.aborrow()
        try:
            return await adrive(converse(job, lambda: _launch(job), self.missing_layers()))
        finally:
            self._places.give_back(place)

    def close(self) -> None:
        """Nothing outlives a run, so there is nothing to close."""


class _Guest:
    """One fresh interpreter; see `conversation.Guest`."""

    greets, tied = True, False

    def __init__(self, job: Job) -> None:
        self.folder = scratch.make("sandbox-")
        pipes: list[int] = []
        try:
            for _ in range(3):
                pipes += os.pipe()
            self.child = self._spawn(job.limits, len(job.inputs), pipes)
        except OSError as error:
            for number in pipes:
                os.close(number)
            scratch.remove(self.folder)
            raise SandboxFault(f"the guest could not be started: {error}") from error
        for number in (pipes[0], pipes[3], pipes[5]):
            os.close(number)
        self.requests, self.replies, self.output = pipes[1], pipes[2], pipes[4]
        for number in (self.requests, self.replies, self.output):
            os.set_blocking(number, False)
        self.death: int | None = os.pidfd_open(self.child.pid) if hasattr(os, "pidfd_open") else None
        self.ended: tuple[int | None, float] | None = None

    def _spawn(self, limits: Limits, calls: int, pipes: list[int]) -> "subprocess.Popen[bytes]":
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest.py")
        # The hard CPU limit is for a host that has died: all calls at their limits, and some room for the start.
        cpu_s = math.ceil(limits.cpu_s * (calls + 1)) + 5
        numbers = [pipes[0], pipes[3], cpu_s, limits.memory_bytes, limits.file_bytes]
        return subprocess.Popen(
            [interpreter(), *GUEST_FLAGS, program, *map(str, numbers)],
            stdin=subprocess.DEVNULL,
            stdout=pipes[5],
            stderr=pipes[5],
            pass_fds=(pipes[0], pipes[3]),
            cwd=self.folder,
            env=guest_environment(self.folder),
            process_group=0,
        )

    def arrive(self) -> Steps[None]:
        return
        yield  # a generator like every other step, though there is nothing to wait for

    def loosen(self) -> None:
        """Never tied."""

    def dead(self) -> bool:
        # WNOWAIT: the process stays a zombie, so that its number is not given away before the group is killed.
        return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def cpu_s(self) -> float | None:
        return reaper.cpu_time_s(self.child.pid)

    def finish(self) -> Steps[Death]:
        reaper.kill_group(self.child.pid)
        deadline = time.monotonic() + 10.0
        while not self.dead() and time.monotonic() < deadline:
            yield Wait(() if self.death is None else (self.death,), (), 0.02)
        return self._release()

    def abandon(self) -> None:
        if self.ended is None:
            reaper.kill_group(self.child.pid)
            self._release()

    def _release(self) -> Death:
        found = reaper.reap(self.child.pid, 5.0)
        self.child.returncode = -signal.SIGKILL  # we have reaped it; Popen must not try to
        for number in (self.requests, self.replies, self.output, self.death):
            if number is not None:
                os.close(number)
        for _ in range(5):
            with contextlib.suppress(OSError):
                scratch.remove(self.folder)
                break
        else:
            print(f"WARNING: sandbox could not remove {self.folder}", file=sys.stderr, flush=True)
        status, usage = found if found else (None, None)
        cpu_s = usage.ru_utime + usage.ru_stime if usage else 0.0
        self.ended = status, cpu_s
        return Death(status, cpu_s)


def _launch(job: Job) -> Steps[_Guest]:
    return _Guest(job)
    yield  # a generator like every other step, though there is nothing to wait for
