"""Starting a sandbox, and on record which of its layers this machine lacks."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from proceval.errors import InputError, Unscored
from sandbox.conversation import Refused, SandboxFault

RECORD = "sandbox.json"
"""In a run folder: the sandbox of its verdicts, `missing_layers` of it, and those of the workspaces that were open."""


def start(sandbox: Any) -> None:
    """Start it before threads and event loops exist.

    Raises InputError where this machine has not what the configuration asks for, Unscored where the sandbox is broken.
    """
    try:
        sandbox.start()
    except Refused as error:
        raise InputError(f"sandbox={sandbox.name}: {error}") from error
    except SandboxFault as error:
        raise Unscored(f"sandbox {sandbox.name}: {error}") from error


def record(sandbox: Any, workspaces: Sequence[str] | None) -> str:
    """The text of sandbox.json; `workspaces` is None for a track that opens none."""
    body = {
        "sandbox": sandbox.name,
        "missing_layers": list(sandbox.missing_layers()),
        "workspace_missing_layers": None if workspaces is None else list(workspaces),
    }
    return json.dumps(body) + "\n"


def recorded(folder: Path) -> dict[str, Any] | None:
    """What sandbox.json says; None where there is none, or it says nothing of the kind."""
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("missing_layers"), list) else None
