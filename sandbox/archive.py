"""A whole folder as one deterministic tar: the same tree gives the same bytes, wherever and whenever it is packed.

Kept are names, bytes, modes, empty folders and links as they are written, wherever they lead (nobody here follows them);
not kept are times, owners, hard links as such, pipes, sockets and devices, and the top folder's own mode. What is unpacked
gets permission bits alone: no set-user-ID, no sticky bit.
"""

import io
import os
import stat
import tarfile
from collections.abc import Iterator
from itertools import groupby

from sandbox import beneath
from sandbox.beneath import TooMuch as TooMuch

_BLOCK_BYTES = 512
_NO_FOLDER = b"no packed folder: "
# Names travel as their own bytes, so that those which are not UTF-8 come back as they were.
_CODING = {"encoding": "utf-8", "errors": "surrogateescape"}


def pack(root: str, most_bytes: int) -> bytes:
    """Everything below `root`; raises TooMuch as soon as the tar would be longer, and as `beneath.walk` does."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, **_CODING) as archive:  # type: ignore[call-overload]
        for found in beneath.walk(root):
            _add(archive, buffer, found, most_bytes)
    if buffer.tell() > most_bytes:
        raise TooMuch(f"the folder does not fit into {most_bytes} bytes")
    return buffer.getvalue()


def _add(archive: tarfile.TarFile, buffer: io.BytesIO, found: beneath.Found, most_bytes: int) -> None:
    mode = found.state.st_mode
    member = tarfile.TarInfo(found.path)
    member.mode = stat.S_IMODE(mode)
    if stat.S_ISREG(mode):
        with os.fdopen(beneath.open_file(found.name, found.folder), "rb") as file:
            member.size = os.fstat(file.fileno()).st_size
            if buffer.tell() + member.size + 2 * _BLOCK_BYTES > most_bytes:
                raise TooMuch(f"the folder does not fit into {most_bytes} bytes (last file: {found.path!r})")
            archive.addfile(member, file)
        return
    if buffer.tell() + 2 * _BLOCK_BYTES > most_bytes:
        raise TooMuch(f"the folder does not fit into {most_bytes} bytes (last entry: {found.path!r})")
    if stat.S_ISLNK(mode):
        member.type, member.mode, member.linkname = tarfile.SYMTYPE, 0o777, os.readlink(found.name, dir_fd=found.folder)
        archive.addfile(member)
    elif stat.S_ISDIR(mode):
        member.type = tarfile.DIRTYPE
        archive.addfile(member)


def instead(reason: str) -> bytes:
    """What is kept in place of a folder that could not be packed: whoever unpacks or reads it gets the reason as TooMuch."""
    return _NO_FOLDER + reason.encode("utf-8", "backslashreplace")


def unpack(packed: bytes, root: str, owner: int) -> None:
    """Replace everything below `root` by what was packed, all of it `owner`'s.

    Raises ValueError, before anything is touched, for bytes that `pack` does not write: other kinds of members, paths
    that are not plain, a member twice or in no folder.
    """
    members = dict(read(packed))
    with beneath.opened(root, "") as top:
        for name in os.listdir(top):
            beneath.discard(name, top)
    # Files side by side share one way down to their folder.
    for parent, paths in groupby(members, lambda path: beneath.split(path)[0]):
        with beneath.opened(root, parent) as folder:
            for path in paths:
                _make(path, *members[path], folder, owner)
    # Last, and what is inside first: a folder may deny its owner what we have just done in it.
    for path in sorted((path for path, (member, _) in members.items() if member.isdir()), reverse=True):
        parent, name = beneath.split(path)
        with beneath.opened(root, parent) as folder:
            beneath.set_folder_mode(name, folder, members[path][0].mode & 0o777)


def _make(path: str, member: tarfile.TarInfo, content: bytes, folder: int, owner: int) -> None:
    name = beneath.split(path)[1]
    if member.isdir():
        beneath.make_folder(name, folder, 0o755, owner)
    elif member.issym():
        beneath.make_link(name, folder, member.linkname, owner)
    else:
        beneath.make_file(name, folder, content, member.mode & 0o777, owner)


def read(packed: bytes) -> Iterator[tuple[str, tuple[tarfile.TarInfo, bytes]]]:
    """Path, then header and bytes of everything packed, folders before what they hold; raises ValueError as `unpack` does."""
    if packed.startswith(_NO_FOLDER):
        raise TooMuch(packed.removeprefix(_NO_FOLDER).decode("utf-8", "replace"))
    folders: set[str] = {""}
    seen: set[str] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:", **_CODING) as archive:  # type: ignore[call-overload]
            for member in archive:
                path = member.name
                if beneath.split(path)[0] not in folders or path in seen:
                    raise ValueError(f"not a packed folder: {path!r} is there twice, or its folder is not")
                if member.type not in (tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE):
                    raise ValueError(f"not a packed folder: {path!r} is neither a file nor a folder nor a link")
                if len(seen) >= beneath.MOST_ENTRIES or path.count("/") > beneath.MOST_LEVELS:
                    raise ValueError(f"not a packed folder: too many members, or too deep, at {path!r}")
                seen.add(path)
                if member.isdir():
                    folders.add(path)
                file = archive.extractfile(member) if member.isreg() else None
                yield path, (member, b"" if file is None else file.read())
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(f"not a packed folder: {error}") from None
