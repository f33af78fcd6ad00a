"""What can be opened below one folder: runs, sweeps, releases and sets, told apart by the files that they hold."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from proceval.console import exported
from proceval.errors import InputError
from proceval.report import sweep

Kind = Literal["run", "sweep", "release", "set"]

RECORDS = (
    "dataset.jsonl", "dataset.parquet", "audit.jsonl", "audit.parquet", "records.jsonl", "records.parquet",
    "verdicts.jsonl", "summary.json", "generation.json", "certificates/index.jsonl", "faults.jsonl", "config.yaml",
    "manifest.json", "cases.jsonl",
)  # fmt: skip
"""Files that the console reads; their times and sizes say whether a folder has changed."""
MARKS = ("dataset.jsonl", "dataset.parquet", "records.jsonl", "records.parquet", "verdicts.jsonl", "audit.jsonl")
"""Any of these makes a folder worth opening."""
SKIPPED = frozenset({"certificates", "figures", "wandb", "__pycache__"})
DEEP = 4
MOST_FOLDERS = 5_000
"""Folders that are looked at in one go."""

Stamp = tuple[tuple[str, int, int], ...]
"""(file, time of its last change in ns, bytes) of every file that is there."""


@dataclass(frozen=True)
class Place:
    """Something to open; `folders` are those that hold its records: itself, or the jobs of a sweep."""

    path: Path
    kind: Kind
    label: str
    folders: tuple[Path, ...]
    variants: tuple[str, ...]
    """For each folder what its command line changed and its records do not show, or ""."""

    def stamp(self, names: tuple[str, ...] = RECORDS) -> Stamp:
        """Changes whenever one of the files does."""
        found = []
        for folder in (*self.folders, *([self.path] if self.kind == "sweep" else [])):
            for name in names:
                try:
                    about = os.stat(folder / name)
                except OSError:
                    continue
                found.append((f"{folder}/{name}", about.st_mtime_ns, about.st_size))
        return tuple(found)


def find(root: Path) -> list[Place]:
    """Everything at or below `root`: itself, then what changed last; a sweep is followed by its jobs.

    Raises InputError when there is no such path.
    """
    if not root.exists():
        raise InputError(f"{root}: no such file or folder")
    if root.is_file():
        return [_single(root.parent, root.name)]
    places = [_place(path, root) for path in _openable(root)]
    places.sort(key=lambda place: (place.path != root, -_changed(place), place.label))
    return [one for place in places for one in (place, *_jobs(place))]


def _openable(root: Path) -> Iterator[Path]:
    waiting, looked_at = [(root, 0)], 0
    while waiting and looked_at < MOST_FOLDERS:
        path, depth = waiting.pop(0)
        looked_at += 1
        if exported.is_release(path):
            yield path
            continue
        several = is_sweep(path)
        if several or any((path / mark).is_file() for mark in MARKS):
            yield path
            for home in sorted(path.glob("[0-9]*-*")) if several else [path]:  # stage=export leaves a release in a run
                yield from (child for child in sorted(_folders(home)) if exported.is_release(child))
            continue
        if depth < DEEP:
            waiting += [
                (child, depth + 1)
                for child in sorted(_folders(path))
                if not child.name.startswith(".") and child.name not in SKIPPED
            ]


def _folders(path: Path) -> list[Path]:
    try:
        return [child for child in path.iterdir() if child.is_dir() and not child.is_symlink()]
    except OSError:
        return []


def is_sweep(path: Path) -> bool:
    """Whether a folder is a sweep's: it holds job folders and no dataset of its own."""
    return not (path / "dataset.jsonl").exists() and any(path.glob("[0-9]*-*/status.json"))


def _place(path: Path, root: Path) -> Place:
    label = path.name if path == root else path.relative_to(root).as_posix()
    if is_sweep(path):
        jobs = sweep.find(path)
        return Place(path, "sweep", label, tuple(j.path for j in jobs), tuple(j.variant for j in jobs))
    return Place(path, _kind(path), label, (path,), ("",))


def _kind(path: Path) -> Kind:
    if exported.is_release(path):
        return "release"
    return "run" if (path / "config.yaml").is_file() else "set"


def _jobs(place: Place) -> list[Place]:
    if place.kind != "sweep":
        return []
    return [
        Place(job.path, "run", f"{place.label} · {job.label}", (job.path,), ("",))
        for job in sweep.find(place.path)
        if any((job.path / mark).is_file() for mark in MARKS)
    ]


def _single(folder: Path, name: str) -> Place:
    if name not in MARKS:
        raise InputError(f"{folder / name}: give a folder, or one of {', '.join(MARKS)}")
    return Place(folder, _kind(folder), folder.name, (folder,), ("",))


def _changed(place: Place) -> int:
    return max((time for _, time, _ in place.stamp()), default=0)
