"""Weights & Biases, offline unless told otherwise: one run a job, told everything after the local records are whole.

All of it happens in a worker process that may raise, hang or die: the job waits at most `timeout_s` for each of the two
calls, prints one line when something went wrong, and goes on.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from proceval.tracker.flatten import flatten, parts
from proceval.tracker.wandb_run import Session
from sandbox.worker import Reply, Worker

UNBOUNDED_BYTES = 1 << 46
"""Address space of the worker: W&B's own server reserves far more than it uses."""


class Wandb:
    """Publishes a run folder to W&B; `mode=disabled` starts no process at all.

    `group`, `name` and `job_type` that are null follow from the run: the sweep's folder, `model|domain|difficulty`, and
    the stage. Tags are joined by domain and tier.
    """

    def __init__(
        self,
        *,
        mode: Literal["offline", "online", "disabled"],
        project: str,
        entity: str | None,
        group: str | None,
        name: str | None,
        job_type: str | None,
        tags: list[str],
        table_rows: Annotated[int, Field(ge=1)],
        timeout_s: Annotated[float, Field(gt=0)],
    ) -> None:
        self.mode, self.project, self.entity, self.group = mode, project, entity, group
        self.name, self.job_type, self.tags = name, job_type, list(tags)
        self.table_rows, self.timeout_s = table_rows, timeout_s
        self._worker: Worker | None = None

    def start(self) -> None:
        """Fork the worker; call it on the main thread before threads and event loops; again is harmless."""
        if self.mode == "disabled" or self._worker is not None:
            return
        patience_s = self.timeout_s
        try:
            self._worker = Worker(
                Session().handle, cpu_s=patience_s, wall_s=patience_s, memory_bytes=UNBOUNDED_BYTES
            )  # fmt: skip
        except OSError as error:
            _warn(f"no worker process: {error}")

    def write(self, run_folder: Path, summary: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        """Open the run and log what the folder holds; never raises for what W&B does."""
        self.start()
        self._ask("write", self._order(Path(run_folder).resolve(), dict(summary), config))

    def close(self, exit_status: int) -> None:
        """Finish the run, as failed unless the status is 0, and end the worker. Without a `write` there is no run."""
        self._ask("close", exit_status)
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _order(self, folder: Path, summary: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
        named = parts(config)
        found = [*named["domain"].split("+"), *named["difficulty"].split("+")]
        return {
            "folder": str(folder),
            "summary": summary,
            "config": flatten(config),
            "table_rows": self.table_rows,
            "timeout_s": self.timeout_s,
            "init": {
                "mode": self.mode,
                "project": self.project,
                "entity": self.entity,
                "group": self.group or _sweep(folder),
                "name": (self.name or "|".join(named[part] for part in ("model", "domain", "difficulty")))[:128],
                "job_type": self.job_type or named["stage"],
                "tags": [tag[:64] for tag in dict.fromkeys([*self.tags, *found]) if tag != "-"],
            },
        }

    def _ask(self, what: str, payload: Any) -> None:
        if self._worker is None:
            return
        try:
            reply = self._worker.call((what, payload))
        except OSError as error:  # a killed worker could not be replaced
            _warn(f"no worker process: {error}")
            self._worker = None
            return
        if reply.status != "done":
            _warn(_why(reply))


def _warn(reason: str) -> None:
    print(f"proceval: wandb: {reason}; the run folder is complete without it", file=sys.stderr)


def _why(reply: Reply) -> str:
    """One line for a person."""
    lines = (reply.error or "").strip().splitlines()
    step = f" while {reply.section}" if reply.section else ""
    if reply.status in ("wall", "cpu"):
        return f"no answer in time{step}"
    return f"{reply.status}{step}: {lines[-1] if lines else 'no reason given'}"[:300]


def _sweep(folder: Path) -> str | None:
    """Name of the sweep whose job this folder is, or None for a single run."""
    sweep = folder.parent
    return sweep.name if (sweep / "multirun.yaml").is_file() or sweep.parent.name == "sweeps" else None
