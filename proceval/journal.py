"""The generation journal: every finished candidate is one durable line, so an interrupted run proves nothing twice.

It is also what a shard hands over: joining shards is reading their lines in index order.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from proceval.errors import InputError
from proceval.schema import Certificate, Problem, Record, Rejection

SHAPE_DIGITS = 24
"""Hex digits of a shape's hash that are kept in memory: 96 bits."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One candidate: an index of one cell."""

    family: str
    difficulty: str
    index: int


class Entry(Record):
    """What became of one candidate."""

    family: str
    difficulty: str
    index: int
    problem: Problem | None
    canonical: str | None
    certificates: tuple[Certificate, ...]
    rejections: tuple[Rejection, ...]

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.family, self.difficulty, self.index)


class Mark(NamedTuple):
    """Where an entry lies and what it is called: all that stays in memory of a candidate, about 200 bytes."""

    path: Path
    offset: int
    problem_id: str | None
    shape: str | None
    """The problem's identity up to relabelling."""


class Journal:
    """Append-only file of entries with an index in memory; opening it cuts a line that a kill left half written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.marks: dict[Ticket, Mark] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            whole = self._index(path)
            os.truncate(path, whole)
        self._file = path.open("ab")

    def absorb(self, others: Iterable[Path]) -> None:
        """Index the entries of other journals, which stay where they are. Raises InputError for a damaged line."""
        for other in others:
            if self._index(other) != other.stat().st_size:
                raise InputError(f"{other}: cut short (no line end); run that shard again")

    def add(self, entry: Entry, line: str) -> None:
        """Write one entry's line at once; after this it survives a kill of the process."""
        offset = self._file.tell()
        self._file.write(line.encode())
        self._file.flush()
        self._mark(entry, self.path, offset)

    def entries(self, tickets: Iterable[Ticket]) -> Iterator[Entry]:
        """The entries of these tickets, in their order, one at a time in memory."""
        for ticket in tickets:
            mark = self.marks[ticket]
            with mark.path.open("rb") as file:
                file.seek(mark.offset)
                yield Entry.model_validate_json(file.readline())

    def close(self) -> None:
        self._file.close()

    def _index(self, path: Path) -> int:
        """Mark every whole line; returns how many bytes they take."""
        whole = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    self._mark(Entry.model_validate_json(line), path, whole)
                except (ValidationError, json.JSONDecodeError) as error:
                    raise InputError(
                        f"{path}, line {number}: not a generation entry; remove the file to start anew"
                    ) from error
                whole += len(line)
        return whole

    def _mark(self, entry: Entry, path: Path, offset: int) -> None:
        identity = entry.problem.id if entry.problem else None
        self.marks[entry.ticket] = Mark(
            path, offset, identity, entry.canonical[:SHAPE_DIGITS] if entry.canonical else identity
        )
