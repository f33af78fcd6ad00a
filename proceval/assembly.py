"""From journal entries to a dataset: index order, duplicates dropped (the lowest index stays), every file written whole.

One run and a merge of shards both end here, so both give the same bytes.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from proceval import folder as files
from proceval.folder import RunFolder
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
        self.tried = 0

    @property
    def missing(self) -> int:
        return self.wanted - len(self.shapes)

    def offer(self, problem_id: str | None, shape: str | None, ids: set[str]) -> str | None:
        """Take a problem or say why not: `duplicate`, `duplicate_relabelled`, `surplus`, or `barren` for no problem."""
        if problem_id is None or shape is None:
            return "barren"
        if problem_id in ids:
            return "duplicate"
        if shape in self.shapes:
            return "duplicate_relabelled"
        if self.missing <= 0:
            return "surplus"
        ids.add(problem_id)
        self.shapes.add(shape)
        return None


def shelve(
    journal: Journal, cells: Sequence[Cell], count: int
) -> tuple[dict[Cell, Shelf], list[Ticket], list[Rejection]]:
    """Go through all candidates in cell and index order: the shelves, the tickets kept, the duplicates dropped."""
    order = {cell: number for number, cell in enumerate(cells)}
    shelves = {cell: Shelf(count) for cell in cells}
    kept: list[Ticket] = []
    dropped: list[Rejection] = []
    ids: set[str] = set()
    for ticket in sorted(journal.marks, key=lambda t: (order[t.family, t.difficulty], t.index)):
        mark = journal.marks[ticket]
        shelf = shelves[ticket.family, ticket.difficulty]
        shelf.tried = ticket.index + 1
        refusal = shelf.offer(mark.problem_id, mark.shape, ids)
        if refusal is None:
            kept.append(ticket)
        elif refusal.startswith("duplicate"):
            dropped.append(Rejection(**ticket._asdict(), attempt=0, reason=refusal))
    return shelves, kept, dropped


def more(shelves: Mapping[Cell, Shelf], families: Mapping[str, Family], count: int) -> list[Ticket]:
    """Further candidates for cells that duplicates or rejections left short, until a cell has no more to give."""
    tickets = []
    for (name, tier), shelf in shelves.items():
        space = families[name].space(tier)
        missing = min(count, count if space is None else space) - len(shelf.shapes)
        if missing > 0 and shelf.tried < 20 * count + 200:
            tickets += [Ticket(name, tier, shelf.tried + i) for i in range(missing)]
    return tickets


def assemble(
    folder: RunFolder, journal: Journal, cells: Sequence[Cell], families: Mapping[str, Family], count: int
) -> None:
    """Write dataset, certificates' index, rejections and generation.json, the last one last: it says that all is there."""
    shelves, kept, dropped = shelve(journal, cells, count)
    order = {cell: number for number, cell in enumerate(cells)}
    every = sorted(journal.marks, key=lambda t: (order[t.family, t.difficulty], t.index))
    rejected = [rejection for entry in journal.entries(every) for rejection in entry.rejections] + dropped
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
        "candidates": len(every),
        "rejected": dict(sorted(reasons.items())),
        "machine_dependent": any(reason.startswith("solver_") for reason in reasons),
        "shortfalls": [_shortfall(c, len(s.shapes), families, count) for c, s in shelves.items() if s.missing > 0],
        "guess_floor": [{"family": f, "difficulty": t, **floors[f, t].report()} for f, t in cells],
    }
    files.write_atomically(folder / "generation.json", json.dumps(facts, indent=1) + "\n")


def _shortfall(cell: Cell, found: int, families: Mapping[str, Family], count: int) -> dict[str, Any]:
    space = families[cell[0]].space(cell[1])
    if space is not None:
        known = f"the tier's space holds {space} distinct problems"
    else:
        known = f"{found} distinct problems were found before candidates only repeated"
    sentence = f"{found} of the {count} problems asked for: {known}"
    return {
        "family": cell[0],
        "difficulty": cell[1],
        "asked": count,
        "found": found,
        "space": space,
        "sentence": sentence,
    }
