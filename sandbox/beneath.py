"""Reading and writing below a folder that code nobody trusts may have turned into a trap.

No link is followed, whatever is in the way, and modes that its owner took from a folder or file do not stop us: they are
lent for the moment and put back. Paths are relative, with "/" between names; names that are not UTF-8 appear as
`os.fsdecode` writes them. Nothing here is safe against a process that changes the tree at the same time in order to
fail us, except that no link is followed even then.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox import scratch

MOST_ENTRIES, MOST_LEVELS = 50_000, 64
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TooMuch(ValueError):
    """More entries, levels or bytes than the host looks at: what is its work must not be a guest's to decide."""


@dataclass(frozen=True)
class Found:
    """One thing that `walk` came by; `folder` is an open descriptor of what it lies in, good until the next one."""

    path: str
    name: str
    folder: int
    state: os.stat_result


def walk(root: str) -> Iterator[Found]:
    """Everything below `root`, a folder before what it holds, names sorted by their bytes.

    Raises TooMuch beyond 50,000 entries or 64 levels. What vanishes meanwhile is left out.
    """
    with opened(root, "") as top:
        for count, found in enumerate(_walk("", top, 0)):
            if count >= MOST_ENTRIES:
                raise TooMuch(f"the folder holds more than {MOST_ENTRIES} entries")
            yield found


def _walk(inside: str, folder: int, level: int) -> Iterator[Found]:
    if level > MOST_LEVELS:
        raise TooMuch(f"folders are nested more than {MOST_LEVELS} deep")
    for name in sorted(os.listdir(folder), key=os.fsencode):
        try:
            state = os.lstat(name, dir_fd=folder)
        except FileNotFoundError:
            continue
        path = f"{inside}/{name}" if inside else name
        yield Found(path, name, folder, state)
        if stat.S_ISDIR(state.st_mode):
            with _entered(name, folder) as inner:
                yield from _walk(path, inner, level + 1)


@contextlib.contextmanager
def opened(root: str, inside: str, make_for: int | None = None) -> Iterator[int]:
    """A descriptor of the folder `root`/`inside`; ValueError when a link or a file is on the way.

    `make_for` makes what is missing, and gives it to that user.
    """
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(_entered(root, None))
        for name in inside.split("/") if inside else []:
            if make_for is not None and not exists(name, here):
                os.mkdir(name, 0o755, dir_fd=here)
                here = stack.enter_context(_entered(name, here))
                give(here, make_for)
            else:
                here = stack.enter_context(_entered(name, here))
        yield here


@contextlib.contextmanager
def _entered(name: str, folder: int | None) -> Iterator[int]:
    """An open folder that can be listed and searched; its mode is put back at the end."""
    # The root, and only it, is our own path and may be a link: to a descriptor.
    no_link = 0 if folder is None else os.O_NOFOLLOW
    handle = _no_link(name, folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC | no_link)
    try:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)
        locked = mode & 0o700 != 0o700 and os.geteuid() == os.fstat(handle).st_uid
        if locked:
            _set_mode(handle, mode | 0o700)
        try:
            inner = os.open(".", _FOLDER, dir_fd=handle)
            try:
                yield inner
            finally:
                os.close(inner)
        finally:
            if locked:
                _set_mode(handle, mode)
    finally:
        os.close(handle)


def open_file(name: str, folder: int, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file, for reading unless `flags` say otherwise; ValueError for anything else."""
    handle = _no_link(name, folder, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise ValueError(f"{name!r} is not a file")
        try:
            return _reopen(handle, flags)
        except PermissionError:
            mode = stat.S_IMODE(state.st_mode)
            _set_mode(handle, mode | 0o600)
            try:
                return _reopen(handle, flags)
            finally:
                _set_mode(handle, mode)
    finally:
        os.close(handle)


def read(root: str, path: str, most_bytes: int) -> bytes:
    """The bytes of a file; raises ValueError for a path that leaves `root`, goes through a link or is too long a file."""
    parent, name = split(path)
    with opened(root, parent) as folder, os.fdopen(open_file(name, folder), "rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"{path!r} has more than {most_bytes} bytes")
    return content


def write(root: str, path: str, content: bytes, owner: int) -> None:
    """Make or replace a file and the folders above it, all of them `owner`'s; ValueError as for `read`."""
    parent, name = split(path)
    with opened(root, parent, make_for=owner) as folder:
        if not exists(name, folder):
            make_file(name, folder, content, 0o644, owner)
            return
        with os.fdopen(open_file(name, folder, os.O_WRONLY | os.O_TRUNC), "wb") as file:
            file.write(content)
            give(file.fileno(), owner)


def make_file(name: str, folder: int, content: bytes, mode: int, owner: int) -> None:
    """A file where nothing is yet."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
        file.write(content)
        give(file.fileno(), owner)
        os.fchmod(file.fileno(), mode)


def make_link(name: str, folder: int, target: str, owner: int) -> None:
    """A symbolic link where nothing is yet."""
    os.symlink(target, name, dir_fd=folder)
    if owner != os.geteuid():
        os.chown(name, owner, owner, dir_fd=folder, follow_symlinks=False)


def make_folder(name: str, folder: int, mode: int, owner: int) -> None:
    """A folder where nothing is yet."""
    os.mkdir(name, 0o700, dir_fd=folder)
    with _entered(name, folder) as inner:
        give(inner, owner)
        os.fchmod(inner, mode)


def set_folder_mode(name: str, folder: int, mode: int | None = None) -> None:
    """Give a folder that mode; None: let at least its owner list, search and change it."""
    handle = _no_link(name, folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _set_mode(handle, stat.S_IMODE(os.fstat(handle).st_mode) | 0o700 if mode is None else mode)
    finally:
        os.close(handle)


def is_folder(name: str, folder: int) -> bool:
    """Whether that name is a folder's, not a link's to one."""
    return exists(name, folder) and stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode)


def discard(name: str, folder: int) -> None:
    """Delete what is there under that name, a folder with all below it; nothing happens where nothing is."""
    if is_folder(name, folder):
        with _entered(name, folder) as inner:
            scratch.empty(inner)
        os.rmdir(name, dir_fd=folder)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def split(path: str) -> tuple[str, str]:
    """The folder and the name of a plain relative path; ValueError for any other."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise ValueError(f"{path!r} is not a plain relative path")
    return "/".join(parts[:-1]), parts[-1]


def exists(name: str, folder: int) -> bool:
    """Whether anything, be it a link to nothing, has that name."""
    try:
        os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


def give(descriptor: int, owner: int) -> None:
    """Make `owner` the owner."""
    if owner != os.geteuid():
        os.fchown(descriptor, owner, owner)


def _no_link(name: str, folder: int | None, flags: int) -> int:
    try:
        descriptor = os.open(name, flags, 0o644, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise ValueError(f"{name!r} is a link, or no folder") from None
        raise
    # With O_PATH the kernel opens a link itself in place of refusing it.
    if flags & os.O_PATH and stat.S_ISLNK(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"{name!r} is a link, or no folder")
    return descriptor


def _reopen(handle: int, flags: int) -> int:
    return os.open(f"/proc/self/fd/{handle}", flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _set_mode(handle: int, mode: int) -> None:
    # The kernel's own link to what the descriptor stands for: fchmod does not take a descriptor opened with O_PATH.
    os.chmod(f"/proc/self/fd/{handle}", mode)
