"""Shell commands of a workspace from the host's side: started, watched, ended, and with a name for how each ended."""

import contextlib
import json
import os
import select
import signal
import socket
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
_LOOK_S = 0.3
"""How often the size of a workspace is measured where nothing else bounds it."""


@dataclass(frozen=True)
class CommandOutcome:
    """How a command ended; `fault` is set when the sandbox itself failed."""

    kind: Literal["exited", "timeout", "output_limit", "disk_limit", "killed", "fault"]
    """`timeout`: wall time, or CPU time of a process that then was killed by SIGXCPU; `killed`: by another signal;
    `disk_limit`: the workspace outgrew its quota and the command was killed, only where the system does not hold the quota
    by itself (where it does, writing fails with "No space left on device", and see `disk_full`)."""
    exit_code: int | None = None
    """For `exited`."""
    signal: str | None = None
    """Name of the signal for `killed`."""
    stdout: str = ""
    stderr: str = ""
    """Each cut at `output_bytes`, and with a replacement character where bytes are not UTF-8."""
    raw_stdout: bytes = b""
    """Standard output as it was written."""
    cpu_s: float = 0.0
    """CPU seconds of the command and all its descendants that were waited for."""
    wall_s: float = 0.0
    fault: str | None = None
    missing_layers: tuple[str, ...] = ()
    disk_full: bool = False
    """Nothing more fitted into the workspace when the command had ended."""


class Programme:
    """A started `shell` programme, from which all commands of one workspace are forked.

    Its start blocks for about a tenth of a second; `refusal` then says why it has no namespaces, None if it has, and
    `tree` is a descriptor of the workspace in its world, None without one. Raises SandboxFault when it does not start.
    """

    def __init__(self, options: shell.Options) -> None:
        self.refusal: str | None = None
        self.tree: int | None = None
        self.listener: socket.socket | None = None
        """Listens where the commands can connect and nobody else, None without namespaces."""
        answer, descriptors = self._start(options)
        if answer[:1] == b"N":
            self.refusal = answer[1:].decode("utf-8", "replace")
            self.stop()
            answer, descriptors = self._start(replace(options, namespaces=False))
        if answer[:1] != b"R" or (self.refusal is None) != bool(descriptors):
            self.stop()
            raise SandboxFault(f"the shell programme did not start: {answer[1:].decode('utf-8', 'replace')}")
        self.tree = descriptors[0] if descriptors else None
        self.listener = socket.socket(fileno=descriptors[1]) if len(descriptors) > 1 else None
        self.missing: list[str] = json.loads(answer[1:])

    def _start(self, options: shell.Options) -> tuple[bytes, list[int]]:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        wanted = _file(json.dumps(vars(options) | {"control": theirs.fileno()}))
        try:
            self._process = subprocess.Popen(
                [interpreter(), *GUEST_FLAGS, os.path.abspath(shell.__file__)],
                stdin=wanted,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # a terminal's Ctrl-C is for the host; the end of the socket ends the programme
                env={"LANG": "C.UTF-8"},
                cwd="/",
            )
        except OSError as error:
            self.control.close()
            raise SandboxFault(f"the shell programme could not be started: {error}") from error
        finally:
            theirs.close()
            os.close(wanted)
        patience = select.poll()
        patience.register(self.control, select.POLLIN)
        patience.poll(int(1000 * _START_S))
        try:
            message, descriptors, _, _ = socket.recv_fds(self.control, 1 << 16, 2, socket.MSG_DONTWAIT)
        except OSError as error:
            return f"F{error}".encode(), []
        return message, descriptors

    def fork(self, order: shell.Order, stdout: int, stderr: int, report: int) -> None:
        """Have a command started; raises SandboxFault when the programme is gone."""
        text = _file(json.dumps(vars(order)))
        try:
            socket.send_fds(self.control, [b"C"], [text, stdout, stderr, report])
        except OSError as error:
            raise SandboxFault(f"the shell programme did not take the command: {error}") from error
        finally:
            os.close(text)

    def stop(self) -> None:
        """End the programme and all it runs, within seconds, and let go of the tree."""
        self.control.close()
        if self.listener is not None:
            self.listener.close()
        if self.tree is not None:
            os.close(self.tree)
            self.tree = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        if self._process.returncode is None:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5.0)


def _file(text: str) -> int:
    """A descriptor from which the text can be read, the caller's to close."""
    number = os.memfd_create("text")
    with open(number, "w", encoding="utf-8", closefd=False) as file:
        file.write(text)
    os.lseek(number, 0, os.SEEK_SET)
    return number


class Running:
    """One started command.

    `tell` is given the layers it lacks before it starts, and gives all that the workspace lacks; `too_large` says whether
    the workspace has outgrown its quota, None where the system sees to that.
    """

    def __init__(
        self,
        programme: Programme,
        order: shell.Order,
        limits: Limits,
        *,
        tell: Callable[[Sequence[str]], tuple[str, ...]],
        too_large: Callable[[], bool] | None,
    ) -> None:
        self.limits, self._tell, self._too_large = limits, tell, too_large
        self._missing: tuple[str, ...] = ()
        self._said: dict[str, Any] = {}
        self._handle: int | None = None
        self._report, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        out, their_out = os.pipe()
        err, their_err = os.pipe()
        self._texts = {out: bytearray(), err: bytearray()}
        for number in (out, err, self._report.fileno()):
            os.set_blocking(number, False)
        self._watched: tuple[int, ...] = (out, err, self._report.fileno())
        self._start_s = self._looked_s = time.monotonic()
        try:
            programme.fork(order, their_out, their_err, theirs.fileno())
        except SandboxFault:
            self.end()
            raise
        finally:
            theirs.close()
            os.close(their_out)
            os.close(their_err)

    def watch(self) -> Steps[CommandOutcome]:
        """Read until the command has ended or gone over a limit."""
        while True:
            now_s = time.monotonic()
            left_s = self._start_s + (_START_S if self._handle is None else self.limits.wall_s) - now_s
            look_s = left_s if self._too_large is None else max(0.0, self._looked_s + _LOOK_S - now_s)
            ready = yield Wait(self._watched, (), min(left_s, look_s))
            if self._report.fileno() in ready:
                self._hear()
            for number in self._texts:
                if number in ready or self._said:
                    self._read(number, to_the_end=bool(self._said))
            ended = self._ended(left_s)
            if ended is not None:
                out, err = (text.decode("utf-8", "replace") for text in self._texts.values())
                wall_s = time.monotonic() - self._start_s
                return replace(
                    ended,
                    stdout=out,
                    stderr=err,
                    raw_stdout=bytes(next(iter(self._texts.values()))),
                    cpu_s=float(self._said.get("cpu_s", 0.0)),
                    wall_s=wall_s,
                    missing_layers=self._missing,
                )

    def _hear(self) -> None:
        """Take one message of the command's first process: what it lacks, then how the command ended."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self._report, 1 << 16, 1)
        except BlockingIOError:
            return
        except OSError as error:
            message, descriptors = json.dumps({"fault": str(error)}).encode(), []
        said = json.loads(message) if message else {"fault": "the command's first process died"}
        if "missing" in said:
            (self._handle,) = descriptors
            self._missing = self._tell(said["missing"])
            self._start_s = time.monotonic()
        else:
            self._said = said

    def _read(self, number: int, to_the_end: bool) -> None:
        into = self._texts[number]
        while number in self._watched and len(into) <= self.limits.output_bytes:
            try:
                received = os.read(number, _CHUNK_BYTES)
            except BlockingIOError:
                return
            into += received
            if not received:
                self._watched = tuple(other for other in self._watched if other != number)
            if not to_the_end:
                return

    def _ended(self, left_s: float) -> CommandOutcome | None:
        if sum(len(text) for text in self._texts.values()) > self.limits.output_bytes:
            for text in self._texts.values():
                del text[self.limits.output_bytes :]
            return CommandOutcome("output_limit")
        if self._outgrown():
            return CommandOutcome("disk_limit", disk_full=True)
        if "fault" in self._said:
            return CommandOutcome("fault", fault=self._said["fault"])
        if self._said:
            code = os.waitstatus_to_exitcode(self._said["status"])
            if code >= 0:
                return CommandOutcome("exited", code)
            name = signal.Signals(-code).name
            return CommandOutcome("timeout" if name == "SIGXCPU" else "killed", signal=name)
        if left_s <= 0:
            begun = self._handle is not None
            return CommandOutcome("timeout") if begun else CommandOutcome("fault", fault="the command did not start")
        return None

    def _outgrown(self) -> bool:
        if self._too_large is None or not (self._said or time.monotonic() - self._looked_s >= _LOOK_S):
            return False
        found = self._too_large()
        self._looked_s = time.monotonic()  # after looking: a large workspace must not keep us at it
        return found

    def end(self) -> None:
        """Kill whatever is left, wait until it is gone, and release everything."""
        self._report.close()
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            waiting = select.poll()
            waiting.register(self._handle, select.POLLIN)
            waiting.poll(5000)
            os.close(self._handle)
            self._handle = None
        for number in self._texts:
            os.close(number)
