"""The no-rewrite check: a tree before and after a review, compared in names, kinds, modes and bytes."""

import hashlib
import io
import tarfile
from collections.abc import Sequence

from sandbox.fixture import covered

Listing = dict[str, tuple[str, str]]
"""Path -> (kind and mode, SHA-256 of the bytes or where a link leads)."""


def listing(packed: bytes) -> Listing:
    """What a packed tree holds."""
    found: Listing = {}
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:", encoding="utf-8", errors="surrogateescape") as archive:
        for member in archive:
            kind = "folder" if member.isdir() else "link" if member.issym() else "file"
            file = archive.extractfile(member) if member.isreg() else None
            body = member.linkname if file is None else hashlib.sha256(file.read()).hexdigest()
            found[member.name] = (f"{kind} {member.mode:o}", body)
    return found


def differences(before: Listing, after: Listing, traces: Sequence[str]) -> list[str]:
    """One line for each path that differs, but for what the globs `traces` cover where nothing was before."""
    found = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new or (old is None and covered(path, traces)):
            continue
        shown = path.encode("utf-8", "backslashreplace").decode("utf-8")
        if old is None:
            found.append(f"added: {shown}")
        elif new is None:
            found.append(f"removed: {shown}")
        elif old[0] != new[0]:
            found.append(f"mode or kind: {shown}: {old[0]} -> {new[0]}")
        else:
            found.append(f"rewritten: {shown}")
    return found
