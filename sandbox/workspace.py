"""`Workspace`: a throw-away copy of a folder in which shell commands run that nobody trusts."""

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from sandbox import fixture, namespaces, scratch, shell
from sandbox.contract import Limits
from sandbox.conversation import SandboxFault
from sandbox.fixture import Change, Entry
from sandbox.interpreter import GUEST_FLAGS, interpreter, report_missing
from sandbox.waiting import Steps, Wait, adrive, drive

_USER = 60999
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


class Workspace:
    """A private copy of the folder `source` (None: empty), deleted at the end of the `with` block, pass or fail.

    `limits` bound each command: CPU seconds, address space and largest file of each of its processes, wall seconds and
    output of all together; `processes` how many there may be at a time, `temporary_bytes` what /tmp and the home folder
    hold. `environment` names the variables of this process that commands may see. `degraded` is "warn" or "refuse" as in
    the sandboxes. Raises ValueError when `source` holds links that lead out of it. Commands see the copy as /workspace.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | None,
        *,
        limits: Limits,
        processes: int,
        temporary_bytes: int,
        environment: Sequence[str],
        degraded: str,
    ) -> None:
        self.limits, self._processes, self._temporary_bytes = limits, processes, temporary_bytes
        self._environment = {name: os.environ[name] for name in environment if name in os.environ}
        self._degraded = degraded
        self._owner = namespaces.own_user(_USER) if sys.platform == "linux" else os.geteuid()
        self._refusal: str | None = None
        self._told = False
        self.folder: str | None = scratch.make("workspace-")
        self._tree = os.path.join(self.folder, "tree")
        self._source = None if source is None else os.path.realpath(source)
        os.mkdir(self._tree)
        try:
            if self._source is not None:
                fixture.copy(self._source, self._tree)
            self.before = fixture.survey(self._tree)
            fixture.give_all(self._tree, self._owner)
            os.chmod(self.folder, 0o711)
        except BaseException:
            self.close()
            raise

    def run(self, command: str) -> CommandOutcome:
        """Run a command line in bash, /workspace being the working directory; blocks this thread."""
        return drive(self._run(command))

    async def arun(self, command: str) -> CommandOutcome:
        """The same on the event loop; cancelling kills the command and all its processes."""
        return await adrive(self._run(command))

    def read(self, path: str, most_bytes: int = 1 << 24) -> bytes:
        """The bytes of a file; ValueError for a path that leaves the workspace, goes through a link, or is too long."""
        return fixture.read(self._tree, path, most_bytes)

    def write(self, path: str, content: bytes) -> None:
        """Make or replace a file, with the folders above it; ValueError for a path as above."""
        fixture.write(self._tree, path, content, self._owner)

    def list(self) -> dict[str, Entry]:
        """Everything in the workspace by path, sorted."""
        return fixture.survey(self._tree)

    def changes(self) -> Sequence[Change]:
        """What differs from the folder it was copied from."""
        return fixture.difference(self.before, self.list())

    def diff(self) -> str:
        """The changes as one unified diff; links, modes and folders as one line each."""
        parts = []
        for change in self.changes():
            kinds = {entry.kind for entry in (change.before, change.after) if entry}
            if kinds == {"file"}:
                before = None if change.before is None else self._original(change.path)
                after = None if change.after is None else self.read(change.path)
                parts.append(fixture.unified(change.path, before, after))
            if kinds != {"file"} or (change.before and change.after and change.before.digest == change.after.digest):
                parts.append(f"{change.path}: {_describe(change.before)} -> {_describe(change.after)}\n")
        return "".join(parts)

    def _original(self, path: str) -> bytes:
        assert self._source is not None
        return fixture.read(self._source, path, 1 << 24)

    def close(self) -> None:
        """Delete the copy."""
        if self.folder is not None:
            scratch.remove(self.folder)
            self.folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, command: str) -> Steps[CommandOutcome]:
        if self.folder is None:
            raise ValueError("this workspace is closed")
        if sys.platform != "linux":
            raise SandboxFault("workspaces run commands on Linux only")
        for _ in range(2):
            running = _Running(self._order(command), self.limits)
            try:
                outcome = yield from running.watch(self._missing)
            finally:
                running.end()
            if running.refusal is None:
                return outcome
            self._refusal = running.refusal
        raise SandboxFault(f"no command can be run: {self._refusal}")

    def _missing(self, reported: Sequence[str]) -> tuple[str, ...]:
        missing = tuple(reported)
        if self._refusal is not None:
            missing = (f"namespaces, read-only root, no network ({self._refusal})", *missing)
        if not self._told:
            report_missing("workspace", missing, self._degraded)
            self._told = True
        return missing

    def _order(self, command: str) -> shell.Order:
        prefixes = [*dict.fromkeys([sys.prefix, os.path.dirname(os.path.dirname(interpreter()))])]
        places = [os.path.join(prefix, "bin") for prefix in prefixes] + ["/usr/local/bin", "/usr/bin", "/bin"]
        inside = self._refusal is None
        environment = {
            "PATH": ":".join(places),
            "HOME": shell.HOME if inside else self._tree,
            "TMPDIR": "/tmp",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return shell.Order(
            command=command,
            folder=self._tree,
            programmes=[prefix for prefix in prefixes if not prefix.startswith("/usr")],
            environment=environment | self._environment,
            report=-1,
            user=_USER,
            namespaces=inside,
            cpu_s=math.ceil(self.limits.cpu_s),
            memory_bytes=self.limits.memory_bytes,
            file_bytes=self.limits.file_bytes,
            processes=self._processes,
            temporary_bytes=self._temporary_bytes,
        )


def _describe(entry: Entry | None) -> str:
    if entry is None:
        return "nothing"
    if entry.kind == "file":
        return "executable file" if entry.executable else "file"
    return f"link to {entry.target}" if entry.kind == "link" else "folder"


class _Running:
    """One started `shell` programme."""

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
