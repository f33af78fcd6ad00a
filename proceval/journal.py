"""The generation journal: every finished candidate is one durable line, so an interrupted run proves nothing twice.

It is also what a shard hands over: joining shards is reading their lines in index order.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from proceval.errors import InputError
from proceval.register import Register
from proceval.schema import Certificate, Problem, Record, Rejection

SHAPE_DIGITS = 24
"""Hex digits of a shape's hash that are compared: 96 bits."""


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


Cell = tuple[str, str]
"""(family name, tier)."""

Fate = Literal["kept", "duplicate", "barren"]
"""What a candidate came to: a problem of the dataset, one that is there already, or no problem at all."""


class Mark(NamedTuple):
    """Where an entry lies and what it is called."""

    number: int
    """The candidate's index in its cell."""
    file: int
    """Number of the journal that holds it."""
    offset: int
    problem_id: str | None
    shape: str | None
    """The problem's identity up to relabelling."""
    rejections: int
    """Attempts that were rejected before there was a problem, or that were all there was."""


class Journal:
    """Append-only file of entries with an index beside it; opening it cuts a line that a kill left half written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._paths = [path]
        self._index = Register(
            "mark (family TEXT, tier TEXT, number INTEGER, file INTEGER, offset INTEGER, id TEXT, shape TEXT,"
            " rejections INTEGER, fate TEXT, PRIMARY KEY (family, tier, number)) WITHOUT ROWID"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            whole = self._read_in(0)
            os.truncate(path, whole)
        self._file = path.open("ab")

    def absorb(self, others: Iterable[Path]) -> None:
        """Index the entries of other journals, which stay where they are. Raises InputError for a damaged line."""
        for other in others:
            self._paths.append(other)
            if self._read_in(len(self._paths) - 1) != other.stat().st_size:
                raise InputError(f"{other}: cut short (no line end); run that shard again")

    def add(self, entry: Entry, line: str) -> None:
        """Write one entry's line at once; after this it survives a kill of the process."""
        offset = self._file.tell()
        self._file.write(line.encode())
        self._file.flush()
        self._mark(entry, 0, offset)

    def __contains__(self, ticket: Ticket) -> bool:
        query = "SELECT 1 FROM mark WHERE family = ? AND tier = ? AND number = ?"
        return self._index.one(query, *astuple(ticket)) is not None

    def __len__(self) -> int:
        return int(self._index.one("SELECT count(*) FROM mark")[0])

    def marks(self, cell: Cell) -> Iterator[Mark]:
        """All that is known of a cell, in index order."""
        columns = "number, file, offset, id, shape, rejections"
        query = f"SELECT {columns} FROM mark WHERE family = ? AND tier = ? AND number >= ? ORDER BY number LIMIT ?"
        yield from map(Mark._make, self._index.pages(query, cell, 0))

    def forget_fates(self) -> None:
        self._index.put("UPDATE mark SET fate = NULL")

    def decide(self, ticket: Ticket, fate: Fate) -> None:
        """Note what a candidate came to; one without a fate was not looked at."""
        self._index.put("UPDATE mark SET fate = ? WHERE family = ? AND tier = ? AND number = ?", fate, *astuple(ticket))

    def fates(self) -> Counter[str]:
        """How many candidates came to what."""
        query = "SELECT fate, count(*) FROM mark WHERE fate IS NOT NULL GROUP BY fate"
        return Counter(dict(self._index.rows(query)))

    def entries(self, cells: Iterable[Cell], *fates: Fate) -> Iterator[Entry]:
        """The entries that came to these ends, in cell and index order, one at a time in memory."""
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("rb")) for path in self._paths]
            for ticket, file, offset in self._decided(cells, fates):
                files[file].seek(offset)
                entry = Entry.model_validate_json(files[file].readline())
                if entry.ticket != ticket:
                    raise InputError(f"{self._paths[file]}: changed while it was read; run again")
                yield entry

    def tickets(self, cells: Iterable[Cell], *fates: Fate) -> Iterator[Ticket]:
        """The candidates that came to these ends, in cell and index order."""
        return (ticket for ticket, _, _ in self._decided(cells, fates))

    def close(self) -> None:
        self._file.close()
        self._index.close()

    def _decided(self, cells: Iterable[Cell], fates: Sequence[Fate]) -> Iterator[tuple[Ticket, int, int]]:
        chosen = ", ".join(f"'{fate}'" for fate in fates)
        query = (
            f"SELECT number, file, offset FROM mark WHERE fate IN ({chosen}) AND family = ? AND tier = ?"
            " AND number >= ? ORDER BY number LIMIT ?"
        )
        for cell in cells:
            for number, file, offset in self._index.pages(query, cell, 0):
                yield Ticket(*cell, number), file, offset

    def _read_in(self, file: int) -> int:
        """Mark every whole line; returns how many bytes they take."""
        path, whole = self._paths[file], 0
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    self._mark(Entry.model_validate_json(line), file, whole)
                except (ValidationError, json.JSONDecodeError) as error:
                    raise InputError(
                        f"{path}, line {number}: not a generation entry; remove the file to start anew"
                    ) from error
                whole += len(line)
        return whole

    def _mark(self, entry: Entry, file: int, offset: int) -> None:
        identity = entry.problem.id if entry.problem else None
        shape = entry.canonical[:SHAPE_DIGITS] if entry.canonical else identity
        self._index.put(
            "INSERT OR REPLACE INTO mark VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            *astuple(entry.ticket), file, offset, identity, shape, len(entry.rejections),
        )  # fmt: skip
