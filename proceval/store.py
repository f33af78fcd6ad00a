"""Durable append-only JSONL: what was paid for survives a kill, a full disk and a second process.

One record is one line is one `write` on an O_APPEND descriptor: after it the record survives the death of this process.
Power loss is covered up to the last fsync, which is batched (`fsync_s`) because it costs milliseconds. A kill can leave
half a last line; opening the file again sets those bytes aside. A broken line that is not the last is a different
matter and is reported with its number, never skipped.
"""

import fcntl
import json
import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from proceval.credentials import redact
from proceval.errors import InputError, StorageError

_held: dict[Path, int] = {}
"""Folders locked by this process -> how often, so that a stage and the engine below it can both ask."""


class InUse(InputError):
    """Another process that lives holds a folder; `holder` is its process id as text."""

    def __init__(self, folder: Path, holder: str):
        super().__init__(f"{folder} is in use by pid {holder}; wait for it or choose other settings")
        self.holder = holder


class Log:
    """One append-only JSONL file, open for one writer.

    Opening it cuts a torn last line: `torn_bytes` says how many bytes were moved to `<name>.torn`.
    """

    def __init__(self, path: Path, *, fsync_s: float):
        self.path = path
        self.torn_bytes = mend(path)
        self._descriptor = _storage(path, lambda: os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644))
        self._size = os.fstat(self._descriptor).st_size
        self._fsync_s = fsync_s
        self._synced = time.monotonic()
        _open_logs.add(self)

    def append(self, line: str) -> int:
        """Write one line, without its line end in `line` and without credentials; returns the byte offset of its start.

        Raises StorageError when the disk refuses; a partial line is cut off again.
        """
        data = redact(line).encode() + b"\n"
        offset = self._size
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):  # a disk about to be full takes a part; the next write says why
                written += os.write(self._descriptor, data[written:])
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, offset)
            raise _refused(self.path, error) from error
        self._size += written
        if time.monotonic() - self._synced >= self._fsync_s:
            self.sync()
        return offset

    def read(self, offset: int) -> bytes:
        """The line that starts at `offset`, without its line end."""
        parts: list[bytes] = []
        while True:
            block = os.pread(self._descriptor, 65536, offset)
            end = block.find(b"\n")
            if end >= 0 or not block:
                return b"".join(parts) + block[: end if end >= 0 else None]
            parts.append(block)
            offset += len(block)

    def sync(self) -> None:
        """Hand everything to the disk."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise _refused(self.path, error) from error
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close; closing twice is harmless."""
        if self._descriptor < 0:
            return
        try:
            self.sync()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(byte offset, line without its end) of every whole line of a file; none where there is no file.

    Bytes after the last line end are a torn write and are left out. Raises InputError for a line that is no record.
    """
    if not path.is_file():
        return
    offset = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            if not (line.startswith(b"{") and line.endswith(b"}\n")):
                raise InputError(f"{path}, line {number}: broken record; mend or remove that line, nothing was changed")
            yield offset, line[:-1]
            offset += len(line)


def parsed(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(byte offset, JSON object) of every whole line. Raises InputError naming the line that is not one."""
    for number, (offset, line) in enumerate(lines(path), 1):
        try:
            yield offset, json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: broken record ({error}); nothing was changed") from error


def mend(path: Path) -> int:
    """Move the bytes after the last line end to `<name>.torn`; returns how many. A whole record gets its line end."""
    if not path.is_file():
        return 0
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        end = _last_line_end(file.fileno(), size)
        if end == size:
            return 0
        tail = os.pread(file.fileno(), size - end, end)
        if _whole(tail):
            file.write(b"\n")
            return 0
        with path.with_name(path.name + ".torn").open("ab") as aside:
            aside.write(tail + b"\n")
        file.truncate(end)
        return len(tail)


def _last_line_end(descriptor: int, size: int) -> int:
    """Offset just behind the last line end, 0 when there is none."""
    stop = size
    while stop > 0:
        start = max(0, stop - 65536)
        found = os.pread(descriptor, stop - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        stop = start
    return 0


def _whole(tail: bytes) -> bool:
    try:
        return isinstance(json.loads(tail), dict)
    except ValueError:
        return False


# ------------------------------------------------------------------------------------------------ locks


@contextmanager
def lock(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold a folder against other processes; the kernel lets go when this process dies, however it dies.

    Re-entrant within one process. Raises InUse naming the holder when it lives, unless `wait`.
    """
    folder = folder.resolve()
    if _held.get(folder):
        _held[folder] += 1
        try:
            yield
        finally:
            _held[folder] -= 1
        return
    path = folder / "lock"
    descriptor = _storage(path, lambda: os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))
    try:
        _take(descriptor, folder, wait=wait)
        os.ftruncate(descriptor, 0)
        _storage(path, lambda: os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0))
        _held[folder] = 1
        _descriptors[folder] = descriptor
        try:
            yield
        finally:
            del _held[folder], _descriptors[folder]
    finally:
        os.close(descriptor)


def _take(descriptor: int, folder: Path, *, wait: bool) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError as error:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
        raise InUse(folder, holder) from error
    except OSError as error:
        raise InputError(
            f"{folder}: no locks on this file system ({error.strerror}); choose another outputs="
        ) from error


_descriptors: dict[Path, int] = {}
_open_logs: "weakref.WeakSet[Log]" = weakref.WeakSet()


def _let_go_in_child() -> None:
    """A forked child must neither keep its parent's lock alive nor write to its parent's files."""
    for descriptor in _descriptors.values():
        os.close(descriptor)
    _descriptors.clear()
    _held.clear()
    for log in _open_logs:
        if log._descriptor >= 0:
            os.close(log._descriptor)
            log._descriptor = -1


os.register_at_fork(after_in_child=_let_go_in_child)


def _storage(path: Path, action: Any) -> Any:
    try:
        return action()
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path}: the disk refused a record ({error.strerror}); what was written before is kept: "
        "make room and run the same command again"
    )
