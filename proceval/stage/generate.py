"""stage=generate: sample, prove, cross-check and equip problems with tests, in parallel, in an order that never changes.

A candidate is one index of one cell (family and tier). Its seed is the hash of its path, so neither the number of workers
nor the other cells can change it. Work runs in forked, killable workers; the parent only drops duplicates and writes.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import tee
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from proceval import folder as files
from proceval.assembly import HOPELESS, Shelf, assemble, hopeless, more, shelve, wanted
from proceval.conftree import config_dir, family_of
from proceval.errors import Finding, InputError, Malformed
from proceval.folder import RunFolder
from proceval.journal import SHAPE_DIGITS, Cell, Entry, Journal, Ticket
from proceval.problem import Candidate, build_problem
from proceval.protocols import Family, Instance, Prover
from proceval.schema import Rejection
from proceval.seeding import digest, rng
from proceval.stage import progress
from proceval.track.procedural.make import Procedural
from proceval.words import counted
from sandbox.worker import Pool, Reply

BARREN = 20
"""Candidates without a problem, beyond as many as are asked for, after which a cell is given up."""
KILLED = {"cpu": "solver_cpu", "wall": "solver_wall", "memory": "solver_memory"}


class Generate:
    """Makes the dataset of a configuration; a dataset with the same inputs that already exists is taken over instead."""

    writes = True
    in_place = False

    def __init__(
        self,
        *,
        track: Any,
        families: Mapping[str, Mapping[str, Family]],
        prover: Prover,
        audit: Any,
        seed: int | str,
        count: int | dict[str, int],
        workers: int | None,
        attempts: Annotated[int, Field(ge=1)],
        shard: Mapping[str, int],
    ) -> None:
        self.families = {name: family for group in families.values() for name, family in group.items()}
        self.prover, self.audit, self.seed, self.attempts = prover, audit, seed, attempts
        self.suite = (
            None
            if track.proved
            else Procedural(track=track, families=self.families, audit=audit, seed=seed, count=count)
        )
        if self.suite is not None:
            count = 1
        if isinstance(count, dict):  # a number for each family is a choice of families, too
            if strange := [name for name in count if family_of(config_dir(), name) is None]:
                raise InputError(f"count: {', '.join(strange)} is no family; domain= has {', '.join(self.families)}")
            self.families = {name: family for name, family in self.families.items() if name in count}
            if not self.families:
                raise InputError(
                    "count={...} names no family of domain=; name some, count={FAMILY: 12}, or give one number"
                )
        self.counts = {name: count[name] if isinstance(count, dict) else count for name in self.families}
        self.workers = workers or os.cpu_count() or 1
        self.cells: list[Cell] = [(name, tier) for name, family in self.families.items() for tier in family.tiers]
        self.told = set[Cell]()
        """Cells of which it was said that they cost attempts without a problem."""
        self.shards, self.shard = shard["count"], shard["index"]
        self.then = ["stage=merge"] if self.shards > 1 else ["stage=audit"]
        if not 0 <= self.shard < self.shards:
            raise InputError(f"shard.index={self.shard}: allowed is 0 to shard.count - 1, here {self.shards - 1}")

    def check(self, folder: RunFolder) -> None:
        if self.suite is not None:
            self.suite.check(folder)
            self.then = self.suite.then(folder)
        elif folder.dataset is not None:
            raise InputError("stage=generate makes a dataset; leave out dataset=, or choose another stage")

    def run(self, folder: RunFolder) -> int:
        if self.suite is not None:
            return self.suite.run(folder, progress.say)
        if self.shards > 1:
            return self._one_shard(folder)
        if folder.outdated():
            progress.say("generate the program or a solver has changed since this folder's dataset was made: made anew")
            folder.clear()
        if (folder / "generation.json").is_file() and (folder / "dataset.jsonl").is_file():
            folder.source()
            progress.say(f"generate {folder / 'dataset.jsonl'} stands already")
            return self._end(folder)
        folder.made()
        with folder.generating():
            earlier = folder.published()
            if earlier is not None:
                folder.adopt(earlier, files.GENERATED)
                progress.say(f"generate taken over from {earlier}: same inputs, already proved")
            else:
                self._make(folder, shards=[])
                folder.publish()
        return self._end(folder)

    def _end(self, folder: RunFolder) -> int:
        facts = files.facts(folder.path)
        rejected = ", ".join(f"{n} {reason}" for reason, n in facts["rejected"].items()) or "none"
        progress.say(
            f"generate {counted(facts['problems'], 'problem')}, every answer proved unique; candidates rejected: {rejected}"
        )
        if facts["machine_dependent"]:
            progress.say(
                "generate a kill switch fired: what was accepted may depend on this machine (marked in generation.json)"
            )
        for short in facts["shortfalls"]:
            progress.say(f"generate {short['difficulty']} {short['family']}: {short['sentence']}")
        return 0 if facts["problems"] else 1

    # ------------------------------------------------------------------------------------- the parent

    def _tickets(self) -> Iterator[Ticket]:
        """Every candidate that this process answers for at first: all of them, or one shard's."""
        for cell, number in wanted(self.families, self.cells, self.counts).items():
            for index in range(self.shard, number, self.shards):
                yield Ticket(*cell, index)

    def _make(self, folder: RunFolder, shards: Sequence[Path]) -> None:
        """Prove whatever the journal and the shards do not hold yet, top up what fell short, and assemble the dataset."""
        path = folder / "generation.partial.jsonl"
        journal = Journal(path)
        journal.absorb(shards)
        asked = wanted(self.families, self.cells, self.counts)
        self._prove(folder / "certificates", folder, journal, self._tickets)
        while tickets := self._unseen(journal, shelve(journal, asked)):
            self._prove(folder / "certificates", folder, journal, partial(iter, tickets))
        assemble(folder, journal, self.families, self.cells, self.counts)
        journal.close()
        path.unlink()

    def _unseen(self, journal: Journal, shelves: Mapping[Cell, Shelf]) -> list[Ticket]:
        """The next candidates worth a proof: one whose shape is on the shelf already is a duplicate without any."""
        tickets: list[Ticket] = []
        while not tickets:
            largest = max(self.counts.values())
            offered = more(shelves, most=20 * largest + 200, barren=largest + BARREN)
            for ticket in offered:
                family, shelf = self.families[ticket.family], shelves[ticket.family, ticket.difficulty]
                shape = digest(family.canonical(self._sampled(ticket, 0), ticket.difficulty))[:SHAPE_DIGITS]
                if shelf.holds(shape):
                    entry = Entry(**asdict(ticket), problem=None, canonical=shape, certificates=(), rejections=())
                    journal.add(entry, files.line(entry))
                    shelf.tried = ticket.index + 1
                else:
                    tickets.append(ticket)
            if not offered:
                break
        return tickets

    def _one_shard(self, folder: RunFolder) -> int:
        """Prove one shard's candidates; duplicates stay in, since only the merge sees all of them."""
        done = folder.shard(self.shard, self.shards)
        if done.is_file():
            progress.say(f"generate {done} stands already")
            return 0
        journal = Journal(done.with_suffix(".partial"))
        self._prove(done.parent / "certificates", folder, journal, self._tickets)
        candidates = len(journal)
        journal.close()
        os.replace(journal.path, done)
        progress.say(
            f"generate shard {self.shard} of {self.shards}: {counted(candidates, 'candidate')}; when all shards stand, merge them"
        )
        return 0

    def _prove(
        self, certificates: Path, folder: RunFolder, journal: Journal, tickets: Callable[[], Iterator[Ticket]]
    ) -> None:
        left = sum(ticket not in journal for ticket in tickets())
        given_up = {cell for cell in self.cells if hopeless(journal, cell) is not None}
        worth = (t for t in tickets() if t not in journal and (t.family, t.difficulty) not in given_up)
        # Two readers of one stream: the pool runs ahead by a few tickets, which is all that is held of them.
        waiting, given = tee(worth)
        with (
            Pool(self._candidate, workers=self.workers, **self.prover.limits) as pool,
            progress.bar("generate", left) as advance,
        ):
            for number, (reply, ticket) in enumerate(zip(pool.map(waiting), given, strict=True), 1):
                found = self._received(folder, ticket, reply)
                for sha256, text in found.texts.items():
                    files.write_text(certificates, sha256, text, "smt2")
                for sha256, text in found.data.items():
                    files.write_text(certificates, sha256, text, "json")
                entry = Entry(
                    **asdict(ticket),
                    problem=found.problem,
                    canonical=found.canonical,
                    certificates=found.certificates,
                    rejections=tuple(Rejection(**asdict(ticket), attempt=n, reason=r) for n, r in found.rejections),
                )
                journal.add(entry, files.line(entry))
                if found.problem is None:
                    cell = (ticket.family, ticket.difficulty)
                    if cell not in self.told:
                        _tell(ticket, found)
                        self.told.add(cell)
                    if cell not in given_up and hopeless(journal, cell) is not None:
                        progress.say(f"generate {cell[1]} {cell[0]}: given up, no problem in {HOPELESS} attempts")
                        given_up.add(cell)
                advance(number)

    def _received(self, folder: RunFolder, ticket: Ticket, reply: Reply) -> Candidate:
        """A worker's reply; what a kill means is decided here, and it is never a proof."""
        if reply.status == "raised":
            raise RuntimeError(f"generating {ticket.difficulty} {ticket.family} {ticket.index} failed:\n{reply.error}")
        if reply.status != "done":
            where = f" in {reply.section}" if reply.section else ""
            return Candidate(rejections=((-1, KILLED.get(reply.status, "solver_crash") + where),))
        found: Candidate = reply.value
        if found.disagreement is not None:
            report = folder / "bug-report.json"
            files.write_atomically(report, json.dumps(found.disagreement, indent=1) + "\n")
            why = found.disagreement.get("error", "solver and oracle disagree")
            raise Finding(f"{ticket.family}: {why}; nothing was published, the instance is in {report}")
        return found

    # ------------------------------------------------------------------------------------- the worker

    def _path(self, ticket: Ticket, attempt: int) -> tuple[str | int, ...]:
        version = self.families[ticket.family].version
        return ("instance", ticket.family, version, ticket.difficulty, self.seed, ticket.index, attempt)

    def _sampled(self, ticket: Ticket, attempt: int) -> Instance:
        """The instance of a ticket's attempt, in its stored form; it follows from the path alone."""
        made: Instance = json.loads(
            json.dumps(self.families[ticket.family].sample(rng(*self._path(ticket, attempt)), ticket.difficulty))
        )
        return made

    def _candidate(self, ticket: Ticket, section: Any) -> Candidate:
        """Try attempts of one index until one is proved; everything here follows from the ticket alone."""
        family, tier = self.families[ticket.family], ticket.difficulty
        rejected: list[tuple[int, str]] = []
        for attempt in range(self.attempts):
            instance = self._sampled(ticket, attempt)
            try:
                found = build_problem(
                    family, self.prover, self.audit, instance, tier, rng("tests", *self._path(ticket, attempt)), section
                )
            except Malformed:
                rejected.append((attempt, "malformed"))
                continue
            except Finding as error:  # two solvers, or reference and oracle, contradict each other
                return Candidate(disagreement={"family": family.name, "instance": instance, "error": str(error)})
            if found.problem is not None or found.disagreement is not None:
                return found.with_rejections(rejected)
            rejected.append((attempt, found.reason or "unknown"))
        return Candidate(rejections=tuple(rejected))


def _tell(ticket: Ticket, barren: Candidate) -> None:
    """Why a candidate gave no problem, on the screen: with most of them like it a run takes long and finds little."""
    counts = Counter(reason for _, reason in barren.rejections)
    why = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    progress.say(
        f"generate {ticket.difficulty} {ticket.family}: no problem from candidate {ticket.index}"
        f" in {counted(counts.total(), 'attempt')}: {why}"
    )
