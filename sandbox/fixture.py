"""Folders that are copied in, looked at and compared, while code nobody trusts may have turned them into traps.

Paths are relative, with "/" between names; names that are not UTF-8 appear as `os.fsdecode` writes them.
"""

import difflib
import errno
import hashlib
import os
import shutil
import stat
from dataclasses import dataclass
from typing import Literal

EntryKind = Literal["file", "folder", "link"]
_MOST_ENTRIES, _MOST_LEVELS = 200_000, 200


@dataclass(frozen=True)
class Entry:
    """One thing in a folder."""

    kind: EntryKind
    executable: bool = False
    """Whether the owner may execute it; files only."""
    size_bytes: int = 0
    target: str = ""
    """Where a link points."""
    digest: str = ""
    """SHA-256 of a file's bytes."""


@dataclass(frozen=True)
class Change:
    """One path that differs: `before` or `after` is None where it was added or removed."""

    path: str
    before: Entry | None
    after: Entry | None


def copy(source: str, target: str) -> None:
    """Copy the folder `source` into the empty folder `target`: links as links, executable bits, empty folders, any names.

    Raises ValueError for a link that leads out of the tree or is absolute, and for anything that is not a file, folder
    or link. A link to nothing within the tree is kept.
    """
    root = os.path.realpath(source)
    for folder, folders, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        for name in folders + files:
            here, there = os.path.join(folder, name), os.path.normpath(os.path.join(target, inside, name))
            mode = os.lstat(here).st_mode
            if stat.S_ISLNK(mode):
                _check_link(here, root)
                os.symlink(os.readlink(here), there)
            elif stat.S_ISDIR(mode):
                os.mkdir(there, 0o755)
            elif stat.S_ISREG(mode):
                shutil.copyfile(here, there)
                os.chmod(there, 0o755 if mode & stat.S_IXUSR else 0o644)
            else:
                raise ValueError(f"{here!r} is neither a file nor a folder nor a link")


def _check_link(path: str, root: str) -> None:
    target = os.readlink(path)
    leads_to = os.path.realpath(path)
    if os.path.isabs(target) or os.path.commonpath([leads_to, root]) != root:
        raise ValueError(f"the link {path!r} leads out of its folder, to {target!r}")


def survey(root: str) -> dict[str, Entry]:
    """Everything below `root` by path, sorted; links are not followed.

    Raises ValueError beyond 200,000 entries or 200 levels.
    """
    found: dict[str, Entry] = {}
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        folder = open_folder(root, inside)
        try:
            for name in os.listdir(folder):
                path = f"{inside}/{name}" if inside else name
                entry = _look(name, folder)
                if entry is None:
                    continue
                found[path] = entry
                if entry.kind == "folder":
                    waiting.append(path)
        finally:
            os.close(folder)
        if len(found) > _MOST_ENTRIES or inside.count("/") > _MOST_LEVELS:
            raise ValueError(f"{root!r} holds more than {_MOST_ENTRIES} entries or {_MOST_LEVELS} levels")
    return dict(sorted(found.items()))


def _look(name: str, folder: int) -> Entry | None:
    """What is there; None for pipes, sockets and what has just vanished."""
    try:
        state = os.lstat(name, dir_fd=folder)
        if stat.S_ISLNK(state.st_mode):
            return Entry("link", target=os.readlink(name, dir_fd=folder))
        if stat.S_ISDIR(state.st_mode):
            return Entry("folder")
        if not stat.S_ISREG(state.st_mode):
            return None
        with os.fdopen(_open_file(name, folder), "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        return Entry("file", bool(state.st_mode & stat.S_IXUSR), state.st_size, digest="unreadable")
    except FileNotFoundError:
        return None
    return Entry("file", bool(state.st_mode & stat.S_IXUSR), state.st_size, digest=digest)


def read(root: str, path: str, most_bytes: int) -> bytes:
    """The bytes of a file; raises ValueError for a path that leaves `root`, goes through a link or is too long a file."""
    parent, name = _split(path)
    folder = open_folder(root, parent)
    try:
        with os.fdopen(_open_file(name, folder), "rb") as file:
            content = file.read(most_bytes + 1)
    finally:
        os.close(folder)
    if len(content) > most_bytes:
        raise ValueError(f"{path!r} has more than {most_bytes} bytes")
    return content


def write(root: str, path: str, content: bytes, owner: int) -> None:
    """Make or replace a file and the folders above it, all of them `owner`'s; ValueError as for `read`."""
    parent, name = _split(path)
    folder = open_folder(root, parent, make_for=owner)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(_no_link(name, folder, flags), "wb") as file:
            file.write(content)
            _give(file.fileno(), owner)
    finally:
        os.close(folder)


def open_folder(root: str, inside: str, make_for: int | None = None) -> int:
    """A descriptor of `root`/`inside`, reached without following any link; `make_for` makes what is missing."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in inside.split("/") if inside else []:
        above = here
        try:
            if make_for is not None and not _exists(name, above):
                os.mkdir(name, 0o755, dir_fd=above)
                here = _no_link(name, above, flags)
                _give(here, make_for)
            else:
                here = _no_link(name, above, flags)
        finally:
            os.close(above)
    return here


def give_all(root: str, owner: int) -> None:
    """Make `owner` the owner of `root` and all below it."""
    if owner != os.geteuid():
        os.chown(root, owner, owner)
        for folder, folders, files in os.walk(root):
            for name in folders + files:
                os.chown(os.path.join(folder, name), owner, owner, follow_symlinks=False)


def difference(before: dict[str, Entry], after: dict[str, Entry]) -> list[Change]:
    """What was added, removed or changed between two surveys, by path."""
    paths = sorted(before.keys() | after.keys())
    pairs = ((path, before.get(path), after.get(path)) for path in paths)
    return [Change(path, old, new) for path, old, new in pairs if old != new]


def unified(path: str, before: bytes | None, after: bytes | None) -> str:
    """A unified diff of two versions of a file, None for "not there"; one line where either is not UTF-8 text."""
    try:
        old, new = ("" if content is None else content.decode("utf-8") for content in (before, after))
    except UnicodeDecodeError:
        return f"Binary file {path} differs\n"
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), *names)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _split(path: str) -> tuple[str, str]:
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise ValueError(f"{path!r} is not a plain relative path")
    return "/".join(parts[:-1]), parts[-1]


def _open_file(name: str, folder: int) -> int:
    descriptor = _no_link(name, folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"{name!r} is not a file")
    return descriptor


def _no_link(name: str, folder: int, flags: int) -> int:
    try:
        return os.open(name, flags, 0o644, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise ValueError(f"{name!r} is a link, or no folder") from None
        raise


def _exists(name: str, folder: int) -> bool:
    try:
        os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


def _give(descriptor: int, owner: int) -> None:
    if owner != os.geteuid():
        os.fchown(descriptor, owner, owner)
