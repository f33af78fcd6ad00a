"""Folders that are copied in, looked at, compared and put back, while code nobody trusts may have turned them into traps.

Paths are as in `beneath`.
"""

import difflib
import fnmatch
import hashlib
import itertools
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sandbox import beneath

EntryKind = Literal["file", "folder", "link", "other"]
"""`other`: a pipe, socket or device."""

_MOST_COMPARISONS = 1_000_000
_MOST_BYTES = 4 << 30


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


class Changed(ValueError):
    """The folder that a workspace was copied from no longer holds what it held: nothing that code in it could do."""


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

    ValueError as for `beneath.walk`, and for files with more than 4 GiB together, holes counted in full: a guest can have
    them at no cost. A file under several names is read and counted once.
    """
    found = {}
    known: dict[tuple[int, int], str] = {}
    read_bytes = 0
    for thing in beneath.walk(root):
        if stat.S_ISREG(thing.state.st_mode) and (thing.state.st_dev, thing.state.st_ino) not in known:
            read_bytes += thing.state.st_size
            if read_bytes > _MOST_BYTES:
                raise beneath.TooMuch(f"the files have more than {_MOST_BYTES} bytes together")
        entry = _look(thing, known)
        if entry is not None:
            found[thing.path] = entry
    return dict(sorted(found.items()))


def _look(found: beneath.Found, known: dict[tuple[int, int], str]) -> Entry | None:
    """What it is; `known` are the digests of files by device and number."""
    mode = found.state.st_mode
    try:
        if stat.S_ISLNK(mode):
            return Entry("link", target=os.readlink(found.name, dir_fd=found.folder))
        if stat.S_ISDIR(mode):
            return Entry("folder")
        if not stat.S_ISREG(mode):
            return Entry("other")
        place = (found.state.st_dev, found.state.st_ino)
        if place not in known:
            with os.fdopen(beneath.open_file(found.name, found.folder), "rb") as file:
                known[place] = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    return Entry("file", bool(mode & stat.S_IXUSR), found.state.st_size, digest=known[place])


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


def shown(name: str) -> str:
    """A name as text that UTF-8 can hold: bytes of it that are none appear as a backslash and their number."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def label(name: str) -> str:
    """A name as part of one line: what is not printed, and bytes that are no UTF-8, as a backslash and what they are."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def unified(path: str, before: bytes | None, after: bytes | None) -> str:
    """A unified diff of two versions of a file, None for "not there"; one line where either is not UTF-8 text.

    The path is written as `label` gives it, so that it is one line of text that UTF-8 can hold.

    The work is bounded: versions that differ over thousands of lines are shown as one block taken out and one put in.
    """
    path = label(path)
    try:
        old, new = ("" if content is None else content.decode("utf-8") for content in (before, after))
    except UnicodeDecodeError:
        return f"Binary file {path} differs\n"
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    ours, theirs = old.splitlines(keepends=True), new.splitlines(keepends=True)
    hunks = difflib.unified_diff(ours, theirs, *names) if _comparable(ours, theirs) else _one_block(ours, theirs, names)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in hunks)


def _comparable(ours: list[str], theirs: list[str]) -> bool:
    # difflib takes the product of both lengths in the worst case, which whoever wrote one of the files can bring about.
    return len(ours) * len(theirs) <= _MOST_COMPARISONS


def _one_block(ours: list[str], theirs: list[str], names: tuple[str, str]) -> Iterator[str]:
    pairs = zip(ours, theirs, strict=False)
    same = next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(ours), len(theirs)))
    backwards = zip(reversed(ours[same:]), reversed(theirs[same:]), strict=False)
    end = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], backwards))
    start, tail = max(0, same - 3), max(0, end - 3)
    yield f"--- {names[0]}\n"
    yield f"+++ {names[1]}\n"
    spans = (f"{start + 1},{len(lines) - tail - start}" for lines in (ours, theirs))
    yield "@@ -{} +{} @@\n".format(*spans)
    yield from (" " + line for line in ours[start:same])
    yield from ("-" + line for line in ours[same : len(ours) - end])
    yield from ("+" + line for line in theirs[same : len(theirs) - end])
    yield from (" " + line for line in ours[len(ours) - end : len(ours) - tail])


def covered(path: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern names the path or a folder above it.

    `*`, `?` and `[...]` stand for characters within one name, `**` for any number of folders; case counts. Raises
    ValueError for a pattern that is empty, absolute, or holds an empty name, "." or "..".
    """
    return any(_covers(_names(pattern.removesuffix("/")), path.split("/")) for pattern in patterns)


def _names(path: str) -> list[str]:
    beneath.split(path)
    return path.split("/")


def _covers(pattern: Sequence[str], names: Sequence[str]) -> bool:
    if not pattern:
        return True
    if pattern[0] == "**":
        return _covers(pattern[1:], names) or (bool(names) and _covers(pattern, names[1:]))
    return bool(names) and fnmatch.fnmatchcase(names[0], pattern[0]) and _covers(pattern[1:], names[1:])


def restore(
    root: str, original: str | None, before: dict[str, Entry], patterns: Sequence[str], owner: int
) -> list[Change]:
    """Make all that the patterns cover what it was `before`, with the bytes of the folder `original`; what was different.

    Everything covered is taken away and made anew, so that no link to it, no mode and nothing that stands in the way of
    its folder remains. Raises ValueError for a bad pattern, Changed when `original` no longer holds what it held.
    """
    now = survey(root)
    chosen = {path for path in before.keys() | now.keys() if covered(path, patterns)}
    contents = {path: _content(original, path, before[path]) for path in chosen if path in before}
    different = [change for change in difference(before, now) if change.path in chosen]
    for path in sorted(chosen & now.keys(), reverse=True):
        parent, name = beneath.split(path)
        with beneath.opened(root, parent) as folder:
            beneath.discard(name, folder)
    for path in sorted(contents):
        parent, name = beneath.split(path)
        _clear_way(root, parent, owner)
        with beneath.opened(root, parent, make_for=owner) as folder:
            beneath.discard(name, folder)
            entry = before[path]
            if entry.kind == "folder":
                beneath.make_folder(name, folder, 0o755, owner)
            elif entry.kind == "link":
                beneath.make_link(name, folder, entry.target, owner)
            else:
                beneath.make_file(name, folder, contents[path], 0o755 if entry.executable else 0o644, owner)
    return different


def lay(root: str, path: str, content: bytes, owner: int) -> None:
    """An executable file at that path, in folders that are folders; what was in the way is gone."""
    parent, name = beneath.split(path)
    _clear_way(root, parent, owner)
    with beneath.opened(root, parent, make_for=owner) as folder:
        beneath.discard(name, folder)
        beneath.make_file(name, folder, content, 0o755, owner)


def _content(original: str | None, path: str, entry: Entry) -> bytes:
    if entry.kind != "file":
        return b""
    content = b"" if original is None else beneath.read(original, path, entry.size_bytes)
    if hashlib.sha256(content).hexdigest() != entry.digest:
        raise Changed(f"{path!r} has changed in the folder that the workspace was copied from")
    return content


def _clear_way(root: str, inside: str, owner: int) -> None:
    """Make sure that the folders of a path are folders, and that their owner may use them."""
    names = inside.split("/") if inside else []
    os.chmod(root, 0o755)
    for level, name in enumerate(names):
        with beneath.opened(root, "/".join(names[:level])) as folder:
            if not beneath.is_folder(name, folder):
                beneath.discard(name, folder)
                beneath.make_folder(name, folder, 0o755, owner)
            else:
                beneath.set_folder_mode(name, folder)
