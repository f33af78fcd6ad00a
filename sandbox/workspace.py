"""`Workspace`: a throw-away copy of a folder in which shell commands run that nobody trusts."""

import contextlib
import errno
import math
import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Self

from sandbox import archive, beneath, fixture, namespaces, scratch, shell
from sandbox.command import CommandOutcome, Programme, Running
from sandbox.contract import Limits
from sandbox.conversation import SandboxFault
from sandbox.fixture import Change, Entry
from sandbox.interpreter import interpreter, report_missing
from sandbox.waiting import Steps, Wait, adrive, drive

_USER = 60999
_MOST_SHOWN_BYTES = 1 << 24
_SHAPES = (
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY),
    *(errno.ENXIO, errno.EMLINK, errno.EFBIG, errno.EILSEQ),
)
"""Errors of the system that a tree brings about by its shape; all others are the host's own."""


class Workspace:
    """A private copy of the folder `source` (None: empty), deleted at the end of the `with` block, pass or fail.

    `limits` bound each command: CPU seconds, address space and largest file of each of its processes, wall seconds and
    output of all together; `processes` how many there may be at a time. `disk_bytes` is what the copy may hold in all: it
    lies in memory, in a file system of that size (where there are no namespaces, on disk, and is measured). Every command
    finds an empty home and /tmp of `temporary_bytes` each. `environment` names the variables of this process that
    commands may see, `programmes` further folders that they may read at their own place. `degraded` is "warn" or "refuse"
    as in the sandboxes; the folders `covered` appear empty where they lie in any that are shown (not without namespaces).
    Making one blocks for about a tenth of a second; it raises ValueError when `source` holds links that lead out of it or
    does not fit, SandboxFault when commands could not be run or only without a layer under "refuse". Commands see the
    copy as /workspace.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | None,
        *,
        limits: Limits,
        processes: int,
        disk_bytes: int,
        temporary_bytes: int,
        environment: Sequence[str],
        degraded: str,
        programmes: Sequence[str] = (),
        covered: Sequence[str] = (),
    ) -> None:
        if sys.platform != "linux":
            raise SandboxFault("workspaces need Linux")
        self.limits, self._processes, self._disk_bytes = limits, processes, disk_bytes
        self._environment = {name: os.environ[name] for name in environment if name in os.environ}
        self._degraded = degraded
        self._owner = namespaces.own_user(_USER)
        self._folder: str | None = None
        self._kept: str | None = None
        self._shown = [os.path.realpath(folder) for folder in programmes]
        self._covered = [os.path.realpath(folder) for folder in covered]
        self._told: tuple[str, ...] = ()
        self._source = None if source is None else os.path.realpath(source)
        self._programme: Programme | None = self._start(temporary_bytes)
        with contextlib.ExitStack() as undo:
            undo.callback(self.close)
            self._tell([])
            with self._at_work():
                if self._source is not None:
                    fixture.copy(self._source, self._tree)
                self.before = fixture.survey(self._tree)
                fixture.give_all(self._tree, self._owner)
            undo.pop_all()

    def _start(self, temporary_bytes: int) -> Programme:
        prefixes = _prefixes()
        self._places = [os.path.join(prefix, "bin") for prefix in prefixes] + ["/usr/local/bin", "/usr/bin", "/bin"]
        # Last, so that nothing in them stands for a tool of the system.
        self._places += [place for path in self._shown for place in (path, os.path.join(path, "bin"))]
        options = shell.Options(
            control=-1,
            user=_USER,
            namespaces=True,
            programmes=[path for path in (*prefixes, *self._shown) if not path.startswith("/usr")],
            covered=self._covered,
            disk_bytes=self._disk_bytes,
            temporary_bytes=temporary_bytes,
        )
        programme = Programme(options)
        if programme.tree is not None:
            self._tree = f"/proc/self/fd/{programme.tree}"
            return programme
        try:
            self._folder = scratch.make("workspace-")
            self._tree = os.path.join(self._folder, "tree")
            os.mkdir(self._tree)
            os.chmod(self._folder, 0o711)
        except OSError as error:
            programme.stop()
            raise SandboxFault(f"no folder for the workspace: {error}") from error
        return programme

    def run(
        self, command: str, *, environment: Mapping[str, str] | None = None, limits: Limits | None = None
    ) -> CommandOutcome:
        """Run a command line in bash, /workspace being the working directory; blocks this thread.

        `environment` is added to what every command sees, `limits` stand for the workspace's own.
        """
        return drive(self._run(command, environment or {}, limits or self.limits))

    async def arun(
        self, command: str, *, environment: Mapping[str, str] | None = None, limits: Limits | None = None
    ) -> CommandOutcome:
        """The same on the event loop; cancelling kills the command and all its processes."""
        return await adrive(self._run(command, environment or {}, limits or self.limits))

    def missing_layers(self) -> tuple[str, ...]:
        """The layers that its commands run without, as far as commands have been run."""
        return self._told

    def listener(self) -> socket.socket:
        """A socket, the caller's to close, on which the host serves the commands; its port is on their loopback.

        Where there are no namespaces it is on the host's loopback, which others can reach, too.
        """
        if self._programme is not None and self._programme.listener is not None:
            return self._programme.listener.dup()
        return socket.create_server(("127.0.0.1", 0))

    def read(self, path: str, most_bytes: int = _MOST_SHOWN_BYTES) -> bytes:
        """The bytes of a file.

        ValueError for a path that leaves the workspace, goes through a link or names no file, and for too long a file;
        FileNotFoundError where nothing is.
        """
        with self._at_work(reading=True):
            return beneath.read(self._tree, path, most_bytes)

    def write(self, path: str, content: bytes) -> None:
        """Make or replace a file, with the folders above it; ValueError for a path as above, or when there is no room."""
        with self._at_work():
            beneath.write(self._tree, path, content, self._owner)

    def list(self) -> dict[str, Entry]:
        """Everything in the workspace by path, sorted; ValueError for more than the host looks at."""
        with self._at_work():
            return fixture.survey(self._tree)

    def changes(self) -> Sequence[Change]:
        """What differs from the folder it was copied from."""
        return fixture.difference(self.before, self.list())

    def diff(self, skip: Sequence[str] = ()) -> str:
        """The changes as one unified diff; links, modes and folders as one line each; nothing that `skip` covers."""
        parts = []
        for change in self.changes():
            if fixture.covered(change.path, skip):
                continue
            name = fixture.label(change.path)
            kinds = {entry.kind for entry in (change.before, change.after) if entry}
            if max(entry.size_bytes for entry in (change.before, change.after) if entry) > _MOST_SHOWN_BYTES:
                parts.append(f"Large file {name} differs\n")
            elif kinds == {"file"}:
                before = None if change.before is None else self._original(change.path)
                after = None if change.after is None else self.read(change.path)
                parts.append(fixture.unified(change.path, before, after))
            if kinds != {"file"} or (change.before and change.after and change.before.digest == change.after.digest):
                parts.append(f"{name}: {_describe(change.before)} -> {_describe(change.after)}\n")
        return fixture.shown("".join(parts))

    def restore(self, patterns: Sequence[str]) -> Sequence[Change]:
        """Put what the patterns cover back as it was in the folder copied from, and remove what was added there.

        A pattern is a path or a glob with `*`, `?`, `[...]` within a name and `**` for any number of folders, and covers
        all that lies below what it names: `["tests", "**/conftest.py"]`. Gives what had been different. ValueError for a
        bad pattern, or when the folder copied from has changed.
        """
        with self._at_work():
            return fixture.restore(self._tree, self._source, self.before, patterns, self._owner)

    def lay(self, files: Mapping[str, bytes]) -> None:
        """Put executable files where they belong, whatever is in the way; ValueError for a path that is not plain."""
        with self._at_work():
            for path, content in files.items():
                fixture.lay(self._tree, path, content, self._owner)

    def pack(self, most_bytes: int) -> bytes:
        """The workspace as it is now, as an uncompressed tar: equal workspaces give equal bytes, see `archive`.

        Raises `archive.TooMuch`, a ValueError, when that is longer than `most_bytes`.
        """
        with self._at_work():
            return archive.pack(self._tree, most_bytes)

    def unpack(self, packed: bytes) -> None:
        """Make the workspace what was packed, whatever it was; ValueError for bytes that `pack` does not write."""
        with self._at_work():
            archive.unpack(packed, self._tree, self._owner)

    def settle(self) -> None:
        """Take what is there now for the folder it was copied from: changes, diff and restore refer to it from here on.

        Raises ValueError, as `pack` does, for what cannot be packed.
        """
        packed = self.pack(sys.maxsize)
        self._forget_kept()
        try:
            self._kept = scratch.make("settled-")
            archive.unpack(packed, self._kept, os.geteuid())
        except OSError as error:
            raise SandboxFault(f"no folder for what the workspace was: {error}") from error
        self._source, self.before = self._kept, self.list()

    def _forget_kept(self) -> None:
        if self._kept is not None:
            scratch.remove(self._kept)
            self._kept = None

    def _original(self, path: str) -> bytes:
        assert self._source is not None
        return beneath.read(self._source, path, 1 << 24)

    def close(self) -> None:
        """End whatever still runs and delete the copy."""
        if self._programme is not None:
            self._programme.stop()
            self._programme = None
        self._forget_kept()
        if self._folder is not None:
            scratch.remove(self._folder)
            self._folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, command: str, environment: Mapping[str, str], limits: Limits) -> Steps[CommandOutcome]:
        if self._programme is None:
            raise ValueError("this workspace is closed")
        too_large = self._too_large if self._folder is not None else None
        order = self._order(command, environment, limits)
        running = Running(self._programme, order, limits, tell=self._tell, too_large=too_large)
        try:
            outcome = yield from running.watch()
            yield Wait((), (), 0.0)  # a loop forgets its descriptors while they are open, or it may hear of them later
        finally:
            running.end()
        return replace(outcome, disk_full=outcome.disk_full or self._full())

    def _tell(self, reported: Sequence[str]) -> tuple[str, ...]:
        """Say, once for each, which layers are missing, or refuse; all of them."""
        assert self._programme is not None
        missing = (*self._programme.missing, *reported)
        if self._programme.refusal is not None:
            lost = f"namespaces, read-only root, no network ({self._programme.refusal})"
            missing = (lost, "disk quota held by the system (the size is measured while commands run)", *missing)
        new = tuple(layer for layer in missing if layer not in self._told)
        self._told += new
        report_missing("workspace", new, self._degraded)
        return missing

    def _full(self) -> bool:
        """Whether nothing more fits, where the system sees to that."""
        state = os.statvfs(self._tree)
        return self._folder is None and (state.f_bfree == 0 or state.f_ffree == 0)

    def _too_large(self) -> bool:
        try:
            held_bytes = 0
            for found in beneath.walk(self._tree):
                held_bytes += found.state.st_blocks * 512
                if held_bytes > self._disk_bytes:
                    return True
        except OSError:
            return False  # a command changes it while we look; there is a next time, and one after its end
        except ValueError:
            return True
        return False

    @contextlib.contextmanager
    def _at_work(self, *, reading: bool = False) -> Iterator[None]:
        """For what the host does with the tree, so that each failure has its owner.

        ValueError where the shape of the tree does not allow it, or there is no room in it; SandboxFault for whatever the
        host lacks; when `reading`, FileNotFoundError as it is.
        """
        try:
            yield
        except OSError as error:
            if reading and isinstance(error, FileNotFoundError):
                raise
            # On disk (where there are no namespaces) it is the host that is full: the quota is measured, not held.
            if error.errno in (errno.ENOSPC, errno.EDQUOT) and self._folder is None:
                raise ValueError(f"the workspace has no room for it (disk_bytes={self._disk_bytes})") from None
            if error.errno in _SHAPES:
                raise ValueError(f"the workspace does not allow it: {error}") from None
            raise SandboxFault(f"the host cannot work on the workspace: {error}") from error

    def _order(self, command: str, more: Mapping[str, str], limits: Limits) -> shell.Order:
        inside = self._folder is None
        environment = {
            "PATH": ":".join(self._places),
            "HOME": shell.HOME if inside else self._tree,
            "TMPDIR": "/tmp",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return shell.Order(
            command=command,
            folder=shell.FOLDER if inside else self._tree,
            environment=environment | self._environment | dict(more),
            cpu_s=math.ceil(limits.cpu_s),
            memory_bytes=limits.memory_bytes,
            file_bytes=limits.file_bytes,
            processes=self._processes,
        )


def needed_in(folder: str, programmes: Sequence[str]) -> str | None:
    """What commands would miss were this folder covered, `programmes` among it; None where they would miss nothing."""
    own = os.path.realpath(folder)
    tops = [os.path.realpath(path) for path in (*shell.SYSTEM, *_prefixes(), *programmes) if os.path.isdir(path)]
    if not any(shell.within(own, top) for top in tops):
        return None
    parts = [os.path.realpath(os.path.join(path, name)) for path in _prefixes() for name in ("bin", "lib")]
    parts += [os.path.realpath(f"/usr/{name}") for name in ("bin", "lib", "lib64", "local/bin", "local/lib")]
    return next((path for path in (*tops, *parts) if shell.within(path, own)), None)


def _prefixes() -> list[str]:
    return list(dict.fromkeys([sys.prefix, os.path.dirname(os.path.dirname(interpreter()))]))


def _describe(entry: Entry | None) -> str:
    if entry is None:
        return "nothing"
    if entry.kind == "file":
        return "executable file" if entry.executable else "file"
    names = {"folder": "folder", "link": f"link to {fixture.label(entry.target)}", "other": "pipe, socket or device"}
    return names[entry.kind]
