"""`Workspace`: a throw-away copy of a folder in which shell commands run that nobody trusts."""

import math
import os
import sys
from collections.abc import Sequence
from typing import Self

from sandbox import archive, beneath, fixture, namespaces, scratch, shell
from sandbox.command import CommandOutcome, Running
from sandbox.contract import Limits
from sandbox.conversation import SandboxFault
from sandbox.fixture import Change, Entry
from sandbox.interpreter import interpreter, report_missing
from sandbox.waiting import Steps, adrive, drive

_USER = 60999


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
        return beneath.read(self._tree, path, most_bytes)

    def write(self, path: str, content: bytes) -> None:
        """Make or replace a file, with the folders above it; ValueError for a path as above."""
        beneath.write(self._tree, path, content, self._owner)

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

    def restore(self, patterns: Sequence[str]) -> Sequence[Change]:
        """Put what the patterns cover back as it was in the folder copied from, and remove what was added there.

        A pattern is a path or a glob with `*`, `?`, `[...]` within a name and `**` for any number of folders, and covers
        all that lies below what it names: `["tests", "**/conftest.py"]`. Gives what had been different. ValueError for a
        bad pattern, or when the folder copied from has changed.
        """
        return fixture.restore(self._tree, self._source, self.before, patterns, self._owner)

    def pack(self, most_bytes: int) -> bytes:
        """The workspace as it is now, as an uncompressed tar: equal workspaces give equal bytes, see `archive`.

        Raises `archive.TooMuch`, a ValueError, when that is longer than `most_bytes`.
        """
        return archive.pack(self._tree, most_bytes)

    def unpack(self, packed: bytes) -> None:
        """Make the workspace what was packed, whatever it was; ValueError for bytes that `pack` does not write."""
        archive.unpack(packed, self._tree, self._owner)

    def _original(self, path: str) -> bytes:
        assert self._source is not None
        return beneath.read(self._source, path, 1 << 24)

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
            running = Running(self._order(command), self.limits)
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
    names = {"folder": "folder", "link": f"link to {entry.target}", "other": "pipe, socket or device"}
    return names[entry.kind]
