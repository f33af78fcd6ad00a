"""One shell command of a workspace from the host's side: started, watched, ended, and with a name for how it ended."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sandbox import shell
from sandbox.contract import Limits
from sandbox.conversation import SandboxFault
from sandbox.interpreter import GUEST_FLAGS, interpreter
from sandbox.waiting import Steps, Wait

_START_S = 30.0
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class CommandOutcome:
    """How a command ended; `fault` is set when the sandbox itself failed."""

    kind: Literal["exited", "timeout", "output_limit", "killed", "fault"]
    """`timeout`: wall time, or CPU time of a process that then was killed by SIGXCPU; `killed`: by another signal."""
    exit_code: int | None = None
    """For `exited`."""
    signal: str | None = None
    """Name of the signal for `killed`."""
    stdout: str = ""
    stderr: str = ""
    """Each cut at `output_bytes`."""
    cpu_s: float = 0.0
    """CPU seconds of the command and all its descendants that were waited for."""
    wall_s: float = 0.0
    fault: str | None = None
    missing_layers: tuple[str, ...] = ()


class Running:
    """One started `shell` programme as the host sees it."""

    def __init__(self, order: shell.Order, limits: Limits) -> None:
        self.limits = limits
        self.refusal: str | None = None
        self._texts = {"report": bytearray(), "stdout": bytearray(), "stderr": bytearray()}
        report, theirs = os.pipe()
        self._spawn(shell.Order(**(vars(order) | {"report": theirs})), report, theirs)

    def _spawn(self, order: shell.Order, report: int, theirs: int) -> None:
        program = os.path.abspath(shell.__file__)
        try:
            self._process = subprocess.Popen(
                [interpreter(), *GUEST_FLAGS, program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(theirs,),
                env={"LANG": "C.UTF-8"},
                cwd="/",
                process_group=0,
            )
        except OSError as error:
            os.close(report)
            raise SandboxFault(f"the shell programme could not be started: {error}") from error
        finally:
            os.close(theirs)
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(vars(order)).encode())
            stdin.close()
        self._open = {report: "report", stdout.fileno(): "stdout", stderr.fileno(): "stderr"}
        self._report = report
        for number in self._open:
            os.set_blocking(number, False)
        self._death = os.pidfd_open(self._process.pid)

    def watch(self, missing_of: Callable[[Sequence[str]], tuple[str, ...]]) -> Steps[CommandOutcome]:
        """Read until the command has ended, gone over a limit, or been refused its namespaces (then see `refusal`)."""
        start_s = time.monotonic()
        missing: tuple[str, ...] | None = None
        while True:
            left_s = start_s + (_START_S if missing is None else self.limits.wall_s) - time.monotonic()
            ready = yield Wait((*self._open, self._death), (), left_s)
            dead = self._death in ready
            for number in list(self._open):
                if number in ready or dead:
                    self._read(number, to_the_end=dead)
            report = self._reports()
            if "refused" in report:
                self.refusal = str(report["refused"])
                return CommandOutcome("fault", fault=self.refusal)
            if missing is None and "missing" in report:
                missing = missing_of(report["missing"])
                start_s = time.monotonic()
            ended = self._ended(report, left_s, dead)
            if ended is not None:
                cpu_s = float(report.get("cpu_s", 0.0))
                out, err = (bytes(self._texts[name]).decode("utf-8", "replace") for name in ("stdout", "stderr"))
                wall_s = time.monotonic() - start_s
                return replace(ended, stdout=out, stderr=err, cpu_s=cpu_s, wall_s=wall_s, missing_layers=missing or ())

    def _ended(self, report: dict[str, Any], left_s: float, dead: bool) -> CommandOutcome | None:
        if sum(len(self._texts[name]) for name in ("stdout", "stderr")) > self.limits.output_bytes:
            for name in ("stdout", "stderr"):
                del self._texts[name][self.limits.output_bytes :]
            return CommandOutcome("output_limit")
        if "status" in report:
            for number in list(self._open):
                self._read(number, to_the_end=True)
            code = os.waitstatus_to_exitcode(report["status"])
            if code >= 0:
                return CommandOutcome("exited", code)
            name = signal.Signals(-code).name
            return CommandOutcome("timeout" if name == "SIGXCPU" else "killed", signal=name)
        if left_s <= 0:
            late = "missing" in report
            return CommandOutcome("timeout") if late else CommandOutcome("fault", fault="the command did not start")
        return CommandOutcome("fault", fault="the shell programme died") if dead else None

    def _read(self, number: int, to_the_end: bool) -> None:
        into = self._texts[self._open[number]] if number in self._open else bytearray()
        while number in self._open and len(into) <= self.limits.output_bytes:
            try:
                received = os.read(number, _CHUNK_BYTES)
            except BlockingIOError:
                return
            if not received:
                del self._open[number]
                return
            into += received
            if not to_the_end:
                return

    def _reports(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for line in bytes(self._texts["report"]).splitlines(keepends=True):
            if line.endswith(b"\n"):
                found |= json.loads(line)
        return found

    def end(self) -> None:
        """Kill whatever is left, wait for it, and release everything."""
        process = self._process
        # It passes SIGTERM on and leaves only when all are dead; should it hang, the kernel sees to the rest.
        process.terminate()
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5.0)
        os.close(self._report)
        os.close(self._death)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
