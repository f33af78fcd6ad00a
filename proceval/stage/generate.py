"""stage=generate: sample, prove, cross-check and equip problems with tests, in parallel, in an order that never changes.

A candidate is one index of one cell (family and tier). Its seed is the hash of its path, so neither the number of workers
nor the other cells can change it. Work runs in forked, killable workers; the parent only drops duplicates and writes.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from proceval import folder as files
from proceval.errors import Finding, InputError, Malformed
from proceval.folder import RunFolder
from proceval.guesses import Floor
from proceval.problem import Candidate, build_problem
from proceval.protocols import Family, Prover
from proceval.schema import Certificate, Problem, Record, Rejection
from proceval.seeding import digest, rng
from proceval.stage import progress
from sandbox.worker import Pool, Reply

Cell = tuple[str, str]
"""(family name, tier)."""


class Ticket(Record):
    """One candidate to try."""

    family: str
    difficulty: str
    index: int


class Entry(Record):
    """One finished candidate, as it is kept in the journal until the dataset is assembled."""

    ticket: Ticket
    problem: Problem | None
    canonical: str | None
    certificates: tuple[Certificate, ...]
    rejections: tuple[Rejection, ...]


@dataclass
class Shelf:
    """What one cell has so far: distinct problems in index order."""

    ids: set[str] = field(default_factory=set)
    shapes: set[str] = field(default_factory=set)
    tried: int = 0
    exhausted: bool = False


class Generate:
    """Makes the dataset of a configuration; a dataset with the same inputs that already exists is taken over instead."""

    writes = True

    def __init__(
        self,
        *,
        families: Mapping[str, Mapping[str, Family]],
        prover: Prover,
        audit: Any,
        seed: int | str,
        count: int,
        workers: int | None,
        attempts: Annotated[int, Field(ge=1)],
    ) -> None:
        self.families = {name: family for group in families.values() for name, family in group.items()}
        self.prover, self.audit, self.seed, self.count, self.attempts = prover, audit, seed, count, attempts
        self.workers = workers or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else workers or os.cpu_count() or 1
        self.cells: list[Cell] = [(name, tier) for name, family in self.families.items() for tier in family.tiers]

    def run(self, folder: RunFolder) -> int:
        if folder.dataset is not None:
            raise InputError("stage=generate makes a dataset; leave out dataset=, or choose another stage")
        if (folder / "generation.json").is_file() and (folder / "dataset.jsonl").is_file():
            progress.say(f"generate {folder / 'dataset.jsonl'} stands already")
            return self._end(folder)
        with folder.generating():
            earlier = folder.published()
            if earlier is not None:
                folder.adopt(earlier, files.GENERATED)
                progress.say(f"generate taken over from {earlier}: same inputs, already proved")
            else:
                self._make(folder)
                folder.publish()
        return self._end(folder)

    def _end(self, folder: RunFolder) -> int:
        facts = json.loads((folder / "generation.json").read_text(encoding="utf-8"))
        rejected = ", ".join(f"{n} {reason}" for reason, n in facts["rejected"].items()) or "none"
        progress.say(f"generate {facts['problems']} problems, every answer proved unique; candidates rejected: {rejected}")
        for short in facts["shortfalls"]:
            progress.say(f"generate {short['difficulty']} {short['family']}: {short['sentence']}")
        return 0

    # ------------------------------------------------------------------------------------- the parent

    def _make(self, folder: RunFolder) -> None:
        shelves: dict[Cell, Shelf] = {cell: Shelf() for cell in self.cells}
        journal = folder / "generation.partial.jsonl"
        limits = self.prover.limits
        done = _recover(journal)
        with (
            Pool(self._candidate, workers=self.workers, cpu_s=limits["cpu_s"], wall_s=limits["wall_s"], memory_bytes=limits["memory_bytes"]) as pool,
            journal.open("a", encoding="utf-8") as log,
            progress.bar("generate", self.count * len(self.cells)) as advance,
        ):
            tickets = [Ticket(family=f, difficulty=t, index=i) for f, t in self.cells for i in range(self.count)]
            while tickets:
                waiting = [ticket for ticket in tickets if ticket not in done]
                for ticket, reply in zip(waiting, pool.map(waiting), strict=True):
                    entry = self._received(folder, ticket, reply)
                    log.write(files.line(entry))
                    log.flush()
                    done[ticket] = (entry.problem.id if entry.problem else None, entry.canonical)
                    advance(len(done))
                self._shelve(tickets, shelves, done)
                tickets = self._more(shelves)
        self._assemble(folder, journal, shelves)
        journal.unlink()

    def _received(self, folder: RunFolder, ticket: Ticket, reply: Reply) -> Entry:
        """A worker's reply as a journal entry; what a kill means is decided here, and it is never a proof."""
        if reply.status == "raised":
            raise RuntimeError(f"generating {ticket.difficulty} {ticket.family} {ticket.index} failed:\n{reply.error}")
        if reply.status != "done":
            reason = {"cpu": "solver_cpu", "wall": "solver_wall", "memory": "solver_memory"}.get(reply.status, "solver_crash")
            where = f" in {reply.section}" if reply.section else ""
            lost = Rejection(family=ticket.family, difficulty=ticket.difficulty, index=ticket.index, attempt=-1, reason=reason + where)
            return Entry(ticket=ticket, problem=None, canonical=None, certificates=(), rejections=(lost,))
        found: Candidate = reply.value
        if found.disagreement is not None:
            report = folder / "bug-report.json"
            files.write_atomically(report, json.dumps(found.disagreement, indent=1) + "\n")
            raise Finding(
                f"solver and oracle disagree on an instance of {ticket.family}: nothing was published; the instance is in {report}"
            )
        for sha256, text in found.texts.items():
            files.write_smt(folder / "certificates", sha256, text)
        return Entry(
            ticket=ticket,
            problem=found.problem,
            canonical=found.canonical,
            certificates=found.certificates,
            rejections=tuple(
                Rejection(family=ticket.family, difficulty=ticket.difficulty, index=ticket.index, attempt=attempt, reason=reason)
                for attempt, reason in found.rejections
            ),
        )

    def _shelve(self, tickets: list[Ticket], shelves: dict[Cell, Shelf], done: dict[Ticket, tuple[str | None, str | None]]) -> None:
        for ticket in tickets:
            shelf = shelves[ticket.family, ticket.difficulty]
            shelf.tried = max(shelf.tried, ticket.index + 1)
            problem_id, shape = done[ticket]
            if problem_id is not None and len(shelf.shapes) < self.count:
                shelf.ids.add(problem_id)
                shelf.shapes.add(shape or problem_id)

    def _more(self, shelves: dict[Cell, Shelf]) -> list[Ticket]:
        """Further candidates for the cells that duplicates or rejections left short, until a cell has no more to give."""
        more = []
        for (name, tier), shelf in shelves.items():
            space = self.families[name].space(tier)
            missing = min(self.count, space or self.count) - len(shelf.shapes)
            if missing <= 0 or shelf.tried >= 20 * self.count + 200:
                continue
            more += [Ticket(family=name, difficulty=tier, index=shelf.tried + i) for i in range(missing)]
        return more

    def _assemble(self, folder: RunFolder, journal: Any, shelves: dict[Cell, Shelf]) -> None:
        """Order by cell and index, drop duplicates (the lowest index stays), write every file whole."""
        offsets = _offsets(journal)
        order = {cell: number for number, cell in enumerate(self.cells)}
        tickets = sorted(offsets, key=lambda t: (order[t.family, t.difficulty], t.index))
        kept: list[Ticket] = []
        dropped: list[Rejection] = []
        ids: set[str] = set()
        shapes: dict[Cell, set[str]] = {cell: set() for cell in self.cells}
        reasons: Counter[str] = Counter()
        floors: dict[Cell, Floor] = {cell: Floor() for cell in self.cells}

        def entries(chosen: list[Ticket]) -> Iterator[Entry]:
            with journal.open("rb") as log:
                for ticket in chosen:
                    log.seek(offsets[ticket])
                    yield Entry.model_validate_json(log.readline())

        for entry in entries(tickets):
            cell = (entry.ticket.family, entry.ticket.difficulty)
            dropped += entry.rejections
            if entry.problem is None or len(shapes[cell]) >= self.count:
                continue
            shape = entry.canonical or entry.problem.id
            if entry.problem.id in ids or shape in shapes[cell]:
                reason = "duplicate" if entry.problem.id in ids else "duplicate_relabelled"
                dropped.append(Rejection(**entry.ticket.model_dump(), attempt=0, reason=reason))
                continue
            ids.add(entry.problem.id)
            shapes[cell].add(shape)
            kept.append(entry.ticket)
            floors[cell].add(entry.problem)
        reasons.update(r.reason for r in dropped)
        (folder / "certificates").mkdir(exist_ok=True)
        files.write_records(folder / "certificates" / "index.jsonl", (c for e in entries(kept) for c in e.certificates))
        files.write_records(folder / "rejections.jsonl", dropped)
        files.write_records(folder / "dataset.jsonl", (e.problem for e in entries(kept) if e.problem is not None))
        facts = {
            "problems": len(kept),
            "candidates": len(tickets),
            "rejected": dict(sorted(reasons.items())),
            "machine_dependent": any(r.startswith("solver_") for r in reasons),
            "shortfalls": [self._shortfall(cell, len(shapes[cell])) for cell in self.cells if len(shapes[cell]) < self.count],
            "guess_floor": [{"family": f, "difficulty": t, **floors[f, t].report()} for f, t in self.cells],
        }
        files.write_atomically(folder / "generation.json", json.dumps(facts, indent=1) + "\n")

    def _shortfall(self, cell: Cell, found: int) -> dict[str, Any]:
        space = self.families[cell[0]].space(cell[1])
        known = f"the tier's space holds {space} distinct problems" if space is not None else f"{found} distinct problems were found before candidates only repeated"
        sentence = f"{found} of the {self.count} problems asked for: {known}"
        return {"family": cell[0], "difficulty": cell[1], "asked": self.count, "found": found, "space": space, "sentence": sentence}

    # ------------------------------------------------------------------------------------- the worker

    def _candidate(self, ticket: Ticket, section: Any) -> Candidate:
        """Try attempts of one index until one is proved; everything here follows from the ticket alone."""
        family = self.families[ticket.family]
        rejected: list[tuple[int, str]] = []
        for attempt in range(self.attempts):
            path = ("instance", family.name, family.version, ticket.difficulty, self.seed, ticket.index, attempt)
            instance = json.loads(json.dumps(family.sample(rng(*path), ticket.difficulty)))
            try:
                family.validate(instance)
            except Malformed:
                rejected.append((attempt, "malformed"))
                continue
            found = build_problem(family, self.prover, self.audit, instance, ticket.difficulty, rng("tests", *path), section)
            if found.problem is not None or found.disagreement is not None:
                return found.with_rejections(rejected)
            rejected.append((attempt, found.reason or "unknown"))
        return Candidate(rejections=tuple(rejected))


def _recover(journal: Any) -> dict[Ticket, tuple[str | None, str | None]]:
    """Finished candidates of an interrupted run; a line that was cut short is cut off."""
    done: dict[Ticket, tuple[str | None, str | None]] = {}
    if not journal.is_file():
        return done
    whole = 0
    with journal.open("rb") as log:
        for line in log:
            if not line.endswith(b"\n"):
                break
            entry = Entry.model_validate_json(line)
            done[entry.ticket] = (entry.problem.id if entry.problem else None, entry.canonical)
            whole += len(line)
    os.truncate(journal, whole)
    return done


def _offsets(journal: Any) -> dict[Ticket, int]:
    """Where each candidate's line starts, so that assembling needs memory for the tickets only."""
    found: dict[Ticket, int] = {}
    with journal.open("rb") as log:
        offset = 0
        for line in log:
            found[Ticket.model_validate(json.loads(line)["ticket"])] = offset
            offset += len(line)
    return found


__all__ = ["Cell", "Entry", "Generate", "Ticket", "digest"]
