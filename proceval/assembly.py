"""From journal entries to a dataset: index order, duplicates dropped (the lowest index stays), every file written whole.

One run and a merge of shards both end here, so both give the same bytes.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from proceval import folder as files
from proceval.folder import RunFolder, file_digest
from proceval.guesses import Floor
from proceval.journal import Journal, Ticket
from proceval.protocols import Family
from proceval.schema import Rejection

Cell = tuple[str, str]
"""(family name, tier)."""


class Shelf:
    """The distinct problems of one cell, taken in index order until there are enough."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.shapes: set[str] = set()
        self.barren = 0
        """Candidates that gave no problem at all."""
        self.tried = 0
        """Candidates looked at; those behind the one that filled the shelf are as if they had never been."""

    @property
    def missing(self) -> int:
        return self.wanted - len(self.shapes)

    def offer(self, problem_id: str | None, shape: str | None, ids: set[str]) -> str | None:
        """Take a problem or say why not: `duplicate` (exact or up to relabelling), or `barren` for no problem."""
        if shape is None:
            return "barren"
        if problem_id in ids or shape in self.shapes:
            return "duplicate"
        if problem_id is None:
            return "barren"
        ids.add(problem_id)
        self.shapes.add(shape)
        return None


@dataclass
class Sorted:
    """All candidates, gone through in cell and index order."""

    shelves: dict[Cell, Shelf]
    looked_at: list[Ticket]
    kept: list[Ticket]
    dropped: list[Rejection]


def wanted(families: Mapping[str, Family], cells: Sequence[Cell], count: int) -> dict[Cell, int]:
    """How many distinct problems each cell can be asked for: `count`, or the size of a smaller space."""
    spaces = {cell: families[cell[0]].space(cell[1]) for cell in cells}
    return {cell: count if space is None else min(count, space) for cell, space in spaces.items()}


def shelve(journal: Journal, asked: Mapping[Cell, int]) -> Sorted:
    """Fill the shelves in index order, so that the outcome does not depend on who tried what first."""
    order = {cell: number for number, cell in enumerate(asked)}
    found = Sorted({cell: Shelf(number) for cell, number in asked.items()}, [], [], [])
    ids: set[str] = set()
    for ticket in sorted(journal.marks, key=lambda t: (order[t.family, t.difficulty], t.index)):
        shelf = found.shelves[ticket.family, ticket.difficulty]
        if shelf.missing <= 0:
            continue
        mark = journal.marks[ticket]
        shelf.tried = ticket.index + 1
        found.looked_at.append(ticket)
        refusal = shelf.offer(mark.problem_id, mark.shape, ids)
        if refusal is None:
            found.kept.append(ticket)
        elif refusal == "barren":
            shelf.barren += 1
        else:
            found.dropped.append(Rejection(**asdict(ticket), attempt=0, reason=refusal))
    return found


def more(shelves: Mapping[Cell, Shelf], most: int, barren: int) -> list[Ticket]:
    """Further candidates for cells that duplicates or rejections left short.

    None from index `most` on, and none for a cell in which `barren` candidates gave no problem.
    """
    return [
        Ticket(name, tier, index)
        for (name, tier), shelf in shelves.items()
        if shelf.barren < barren
        for index in range(shelf.tried, min(shelf.tried + shelf.missing, most))
    ]


def assemble(
    folder: RunFolder, journal: Journal, families: Mapping[str, Family], cells: Sequence[Cell], count: int
) -> None:
    """Write dataset, certificates' index, rejections and generation.json, the last one last: it says that all is there."""
    found = shelve(journal, wanted(families, cells, count))
    kept = found.kept
    rejected = [
        rejection for entry in journal.entries(found.looked_at) for rejection in entry.rejections
    ] + found.dropped
    floors = {cell: Floor() for cell in cells}
    for entry in journal.entries(kept):
        if entry.problem is not None:
            floors[entry.family, entry.difficulty].add(entry.problem)
    (folder / "certificates").mkdir(exist_ok=True)
    files.write_records(
        folder / "certificates" / "index.jsonl", (c for e in journal.entries(kept) for c in e.certificates)
    )
    files.write_records(folder / "rejections.jsonl", rejected)
    files.write_records(folder / "dataset.jsonl", (e.problem for e in journal.entries(kept) if e.problem is not None))
    reasons = Counter(r.reason for r in rejected)
    facts = {
        "problems": len(kept),
        "sha256": {
            name: file_digest(folder / name)
            for name in ("dataset.jsonl", "rejections.jsonl", "certificates/index.jsonl")
        },
        "candidates": len(found.looked_at),
        "rejected": dict(sorted(reasons.items())),
        "machine_dependent": any(reason.startswith("solver_") for reason in reasons),
        "shortfalls": [
            _shortfall(c, len(s.shapes), families, count) for c, s in found.shelves.items() if len(s.shapes) < count
        ],
        "guess_floor": [{"family": f, "difficulty": t, **floors[f, t].report()} for f, t in cells],
    }
    files.write_atomically(folder / "generation.json", json.dumps(facts, indent=1) + "\n")


def _shortfall(cell: Cell, found: int, families: Mapping[str, Family], count: int) -> dict[str, Any]:
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
