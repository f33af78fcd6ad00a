"""Read an offline W&B run back from its transaction log: what a server would have been told, without a server.

A `.wandb` file is a 7-byte header and then LevelDB log records in blocks of 32 KiB, each with crc32 (4 bytes), length
(2) and kind (1): the whole, first, middle or last part of a serialized protobuf `Record`.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BLOCK = 32 * 1024
HEADER = struct.Struct("<4sHB")
FRAME = struct.Struct("<IHB")
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4


@dataclass
class OfflineRun:
    """Everything one run logged."""

    folder: Path
    name: str = ""
    project: str = ""
    group: str = ""
    job_type: str = ""
    tags: list[str] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    """Defined metric or glob -> the metric it is drawn against."""
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    exit_code: int | None = None
    """None while the run is not finished."""

    def logged(self, key: str) -> Any:
        """The last value of a key in the history; raises KeyError when it was never logged."""
        for row in reversed(self.history):
            if key in row:
                return row[key]
        raise KeyError(f"{key} is none of {sorted({k for row in self.history for k in row})}")

    def table(self, key: str) -> dict[str, Any]:
        """Columns and data of a logged table, from the file that its record names."""
        return json.loads((self.folder / "files" / self.logged(f"{key}.path")).read_text(encoding="utf-8"))


def runs(folder: Path) -> list[OfflineRun]:
    """All offline runs under a run folder, in order of creation."""
    return [read(path) for path in sorted(folder.glob("wandb/offline-run-*/*.wandb"))]


def read(path: Path) -> OfflineRun:
    from wandb.proto import wandb_internal_pb2 as protocol

    run = OfflineRun(folder=path.parent)
    for body in _bodies(path.read_bytes()):
        record = protocol.Record()
        record.ParseFromString(body)
        _take(run, record)
    return run


def _take(run: OfflineRun, record: Any) -> None:
    kind = record.WhichOneof("record_type")
    if kind == "run":
        run.name, run.project = record.run.display_name, record.run.project
        run.group, run.job_type, run.tags = record.run.run_group, record.run.job_type, list(record.run.tags)
        run.config |= _items(record.run.config.update)
    elif kind == "config":
        run.config |= _items(record.config.update)
    elif kind == "history":
        run.history.append(_items(record.history.item))
    elif kind == "summary":
        run.summary |= _items(record.summary.update)
    elif kind == "metric":
        run.metrics[record.metric.name or record.metric.glob_name] = record.metric.step_metric
    elif kind == "artifact":
        _take_artifact(run, record.artifact)
    elif kind == "request" and record.request.WhichOneof("request_type") == "log_artifact":
        _take_artifact(run, record.request.log_artifact.artifact)
    elif kind == "exit":
        run.exit_code = record.exit.exit_code


def _take_artifact(run: OfflineRun, artifact: Any) -> None:
    files = {entry.path: entry.local_path for entry in artifact.manifest.contents}
    metadata = json.loads(artifact.metadata or "{}")
    run.artifacts.append({"name": artifact.name, "type": artifact.type, "metadata": metadata, "files": files})


def _items(items: Any) -> dict[str, Any]:
    return {(".".join(item.nested_key) or item.key): json.loads(item.value_json) for item in items}


def _bodies(content: bytes) -> Iterator[bytes]:
    magic, number, version = HEADER.unpack_from(content)
    if (magic, number, version) != (b":W&B", 0xBEE1, 0):
        raise ValueError("not a .wandb file of a known version")
    position, parts = HEADER.size, b""
    while position + FRAME.size <= len(content):
        left = BLOCK - position % BLOCK
        if left < FRAME.size:
            position += left
            continue
        _, size, kind = FRAME.unpack_from(content, position)
        position += FRAME.size
        chunk = content[position : position + size]
        if kind not in (WHOLE, FIRST, MIDDLE, LAST) or len(chunk) < size:
            return
        position += size
        parts = chunk if kind in (WHOLE, FIRST) else parts + chunk
        if kind in (WHOLE, LAST):
            yield parts
