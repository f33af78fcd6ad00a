"""An open workspace together with the place where its tree is kept: what a model that is a command is handed."""

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

from proceval.errors import Unscored
from sandbox import archive

FOLDER = "workspaces"
"""In the run folder: packed trees by SHA-256."""


class Workplace:
    """`workspace` is open as long as its owner keeps it; `run_folder` is where packed trees survive the process."""

    def __init__(self, workspace: Any, *, run_folder: Path, most_bytes: int):
        self.workspace = workspace
        self._folder, self._most_bytes = run_folder / FOLDER, most_bytes

    def keep(self) -> tuple[str, str | None]:
        """Pack the tree as it is now and store it: its SHA-256, and None. A model calls this before it answers.

        A tree that cannot be packed is the doing of whoever made it: what is stored in its place says why, as the second
        value does, and whoever wants to look at the tree is told.
        """
        unusable = None
        try:
            packed: bytes = self.workspace.pack(self._most_bytes)
        except ValueError as error:
            unusable = str(error)
            packed = archive.instead(unusable)
        return self._stored(packed), unusable

    def _stored(self, packed: bytes) -> str:
        sha256 = hashlib.sha256(packed).hexdigest()
        path = self._folder / sha256
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Several answers may leave the same tree at the same time, each on a thread of its own.
            staged = path.with_name(f".{sha256}.{os.getpid()}-{threading.get_ident()}.partial")
            with staged.open("wb") as file:
                file.write(packed)
                file.flush()
                os.fsync(file.fileno())
            os.replace(staged, path)
        return sha256

    def kept(self, sha256: str) -> bytes:
        """The packed tree of an earlier answer. Raises Unscored when it is not there, or not what it was."""
        path = self._folder / sha256
        packed = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(packed).hexdigest() != sha256:
            raise Unscored(f"{path}: the tree of a recorded answer is missing or was changed")
        return packed
