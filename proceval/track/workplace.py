"""An open workspace together with the place where its tree is kept: what a model that is a command is handed."""

import hashlib
import os
from pathlib import Path
from typing import Any

FOLDER = "workspaces"
"""In the run folder: packed trees by SHA-256."""


class Workplace:
    """`workspace` is open as long as its owner keeps it; `run_folder` is where packed trees survive the process."""

    def __init__(self, workspace: Any, *, run_folder: Path, most_bytes: int):
        self.workspace = workspace
        self._folder, self._most_bytes = run_folder / FOLDER, most_bytes

    def keep(self) -> str:
        """Pack the tree as it is now and store it; its SHA-256. A model calls this before it answers.

        Raises ValueError when the tree is larger than what is kept.
        """
        packed: bytes = self.workspace.pack(self._most_bytes)
        sha256 = hashlib.sha256(packed).hexdigest()
        path = self._folder / sha256
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            staged = path.with_name(f".{sha256}.partial")
            with staged.open("wb") as file:
                file.write(packed)
                file.flush()
                os.fsync(file.fileno())
            os.replace(staged, path)
        return sha256

    def kept(self, sha256: str) -> bytes:
        """The packed tree of an earlier answer. Raises ValueError when it is not there, or not what it was."""
        path = self._folder / sha256
        packed = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(packed).hexdigest() != sha256:
            raise ValueError(f"{path}: the tree of a recorded answer is missing or was changed")
        return packed
