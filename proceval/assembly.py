"""From journal entries to a dataset: index order, duplicates dropped (the lowest index stays), every file written whole.

One run and a merge of shards both end here, so both give the same bytes.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any

from proceval import folder as files
from proceval.folder import RunFolder, file_digest
from proceval.guesses import floor
from proceval.journal import Cell, Fate, Journal, Ticket
from proceval.protocols import Family
from proceval.register import Register
from proceval.schema import Rejection

HOPELESS = 600
"""Rejected attempts at the beginning of a cell, without a single problem, after which it is given up: with 200 attempts a
candidate, three candidates."""


class Shelf:
    """The distinct problems of one cell, taken in index order until there are enough."""

    def __init__(self, cell: Cell, wanted: int, taken: "Taken") -> None:
        self.cell, self.wanted, self.taken = cell, wanted, taken
        self.found = 0
        self.barren = 0
        """Candidates that gave no problem at all."""
        self.tried = 0
        """Candidates looked at; those behind the one that filled the shelf are as if they had never been."""
        self.given_up = False
        """Whether its first candidates showed that more are in vain."""

    @property
    def missing(self) -> int:
        return self.wanted - self.found

    def holds(self, shape: str) -> bool:
        return self.taken.shape(self.cell, shape)

    def offer(self, problem_id: str | None, shape: str | None) -> Fate:
        """Take a problem, or say why not: it is there already (exactly or up to relabelling), or there is none."""
        if shape is None:
            return "barren"
        if self.holds(shape) or (problem_id is not None and self.taken.problem(problem_id)):
            return "duplicate"
        if problem_id is None:
            return "barren"
        self.taken.add(self.cell, problem_id, shape)
        self.found += 1
        return "kept"


class Taken:
    """What the shelves hold: identities of all problems, shapes by cell."""

    def __init__(self) -> None:
        self._register = Register(
            "problem (id TEXT PRIMARY KEY) WITHOUT ROWID",
            "shape (family TEXT, tier TEXT, shape TEXT, PRIMARY KEY (family, tier, shape)) WITHOUT ROWID",
        )

    def problem(self, identity: str) -> bool:
        return self._register.one("SELECT 1 FROM problem WHERE id = ?", identity) is not None

    def shape(self, cell: Cell, shape: str) -> bool:
        query = "SELECT 1 FROM shape WHERE family = ? AND tier = ? AND shape = ?"
        return self._register.one(query, *cell, shape) is not None

    def add(self, cell: Cell, identity: str, shape: str) -> None:
        self._register.put("INSERT INTO problem VALUES (?)", identity)
        self._register.put("INSERT INTO shape VALUES (?, ?, ?)", *cell, shape)


def wanted(families: Mapping[str, Family], cells: Sequence[Cell], counts: Mapping[str, int]) -> dict[Cell, int]:
    """How many distinct problems each cell can be asked for: its family's count, or the size of a smaller space."""
    spaces = {cell: families[cell[0]].space(cell[1]) for cell in cells}
    return {cell: counts[cell[0]] if space is None else min(counts[cell[0]], space) for cell, space in spaces.items()}


def shelve(journal: Journal, asked: Mapping[Cell, int]) -> dict[Cell, Shelf]:
    """Fill the shelves in index order, so that the outcome does not depend on who tried what first.

    What every candidate came to is noted in the journal.
    """
    taken = Taken()
    shelves = {cell: Shelf(cell, number, taken) for cell, number in asked.items()}
    journal.forget_fates()
    for cell, shelf in shelves.items():
        last = hopeless(journal, cell)
        shelf.given_up = last is not None
        for mark in journal.marks(cell):
            if shelf.missing <= 0 or (last is not None and mark.number > last):
                break
            shelf.tried = mark.number + 1
            fate = shelf.offer(mark.problem_id, mark.shape)
            shelf.barren += fate == "barren"
            journal.decide(Ticket(*cell, mark.number), fate)
    return shelves


def hopeless(journal: Journal, cell: Cell) -> int | None:
    """The candidate with which a cell is given up, since up to it none of HOPELESS attempts gave a problem; or None.

    It follows from the candidates in index order, and those behind it are as if they had never been: so it is the same
    with any number of workers and shards.
    """
    spent = 0
    for mark in journal.marks(cell):
        if mark.shape is not None:
            return None
        spent += mark.rejections
        if spent >= HOPELESS:
            return mark.number
    return None


def more(shelves: Mapping[Cell, Shelf], most: int, barren: int) -> list[Ticket]:
    """Further candidates for cells that duplicates or rejections left short.

    None from index `most` on, and none for a cell that was given up or in which `barren` candidates gave no
    problem.
    """
    return [
        Ticket(name, tier, index)
        for (name, tier), shelf in shelves.items()
        if shelf.barren < barren and not shelf.given_up
        for index in range(shelf.tried, min(shelf.tried + shelf.missing, most))
    ]


def assemble(
    folder: RunFolder,
    journal: Journal,
    families: Mapping[str, Family],
    cells: Sequence[Cell],
    counts: Mapping[str, int],
) -> None:
    """Write dataset, certificates' index, rejections and generation.json, the last one last: it says that all is there."""
    shelves = shelve(journal, wanted(families, cells, counts))
    (folder / "certificates").mkdir(exist_ok=True)
    kept = partial(journal.entries, cells, "kept")
    files.write_records(folder / "certificates" / "index.jsonl", (c for e in kept() for c in e.certificates))
    reasons: Counter[str] = Counter()
    files.write_records(folder / "rejections.jsonl", _rejections(journal, cells, reasons))
    files.write_records(folder / "dataset.jsonl", (e.problem for e in kept() if e.problem is not None))
    fates = journal.fates()
    facts = {
        "problems": fates["kept"],
        "sha256": {
            name: file_digest(folder / name)
            for name in ("dataset.jsonl", "rejections.jsonl", "certificates/index.jsonl")
        },
        "candidates": fates.total(),
        "rejected": dict(sorted(reasons.items())),
        "machine_dependent": machine_dependent(reasons),
        "shortfalls": [
            shortfall(cell, shelf.found, families, counts[cell[0]])
            for cell, shelf in shelves.items()
            if shelf.found < counts[cell[0]]
        ],
        "guess_floor": [
            {"family": cell[0], "difficulty": cell[1], **floor(e.problem for e in journal.entries([cell], "kept"))}
            for cell in cells
        ],
    }
    files.write_atomically(folder / "generation.json", json.dumps(facts, indent=1) + "\n")


def _rejections(journal: Journal, cells: Sequence[Cell], reasons: Counter[str]) -> Iterator[Rejection]:
    """Every rejected attempt, then every duplicate; counted by reason on the way."""
    rejected = (r for entry in journal.entries(cells, "kept", "duplicate", "barren") for r in entry.rejections)
    dropped = (
        Rejection(**asdict(ticket), attempt=0, reason="duplicate") for ticket in journal.tickets(cells, "duplicate")
    )
    for rejection in chain(rejected, dropped):
        reasons[rejection.reason] += 1
        yield rejection


def machine_dependent(reasons: Iterable[str]) -> bool:
    """Whether a kill switch fired, for a problem or for one of its companion tests."""
    return any(reason.removeprefix("companion_").startswith("solver_") for reason in reasons)


def shortfall(cell: Cell, found: int, families: Mapping[str, Family], count: int) -> dict[str, Any]:
    """What generation.json says of a cell that has fewer problems than were asked for."""
    space = families[cell[0]].space(cell[1])
    if space is not None:
        known = f"the tier's space holds {space} distinct problems"
    else:
        known = "the further candidates repeated earlier ones or were rejected"
    sentence = f"{found} of the {count} problems asked for: {known}"
    return {
        "family": cell[0],
        "difficulty": cell[1],
        "asked": count,
        "found": found,
        "space": space,
        "sentence": sentence,
    }
