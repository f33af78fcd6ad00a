"""The no-rewrite check: a tree before and after a review, compared in names, kinds, modes and bytes."""

import hashlib
from collections.abc import Sequence

from sandbox import archive
from sandbox.fixture import covered, label

Listing = dict[str, tuple[str, str]]
"""Path -> (kind and mode, SHA-256 of the bytes or where a link leads)."""


def listing(packed: bytes) -> Listing:
    """What a packed tree holds; raises ValueError for one that could not be packed."""
    found: Listing = {}
    for path, (member, content) in archive.read(packed):
        kind = "folder" if member.isdir() else "link" if member.issym() else "file"
        body = hashlib.sha256(content).hexdigest() if kind == "file" else member.linkname
        found[path] = (f"{kind} {member.mode:o}", body)
    return found


def differences(before: Listing, after: Listing, traces: Sequence[str]) -> list[str]:
    """One line for each path that differs, but for what the globs `traces` cover where nothing was before."""
    found = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new or (old is None and covered(path, traces)):
            continue
        shown = label(path)
        if old is None:
            found.append(f"added: {shown}")
        elif new is None:
            found.append(f"removed: {shown}")
        elif old[0] != new[0]:
            found.append(f"mode or kind: {shown}: {old[0]} -> {new[0]}")
        else:
            found.append(f"rewritten: {shown}")
    return found
