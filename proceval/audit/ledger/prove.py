"""Proves the ledger's entries again, and looks for an instance that kills one: every sentence returned is a finding."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from proceval.audit.gate import Gate
from proceval.audit.ledger import FOLDER, LIMIT, Book, Entry, local
from proceval.audit.mutate import Candidate
from proceval.audit.search import hunt
from proceval.audit.template import Template, template
from proceval.protocols import Family, Instance
from proceval.prover.script import SOLVERS
from proceval.schema import Json

_EXPECTED = re.compile(r"^; expect (sat|unsat|open): (.+)$", re.MULTILINE)
"""`open` is the control of a claim that is false where a model is hard to find: anything but unsat."""
_BATCH = 500


def check(
    book: Book, family: Family, gate: Gate, extra: Iterable[Instance], *, seeds: int = 0, solver: str = "z3"
) -> Iterator[str]:
    """Everything that is wrong with a book: its template, its size, its proofs, or an instance that kills an entry.

    `extra` are instances to try besides the family's small scope; on `seeds` small ones the search for a killing instance
    leaves the integers open.
    """
    made = template(family.reference, ("gate",))
    if book.template_sha256 != made.sha256:
        yield f"{book.family}: the reference was edited, so its {len(book.entries)} entries are void"
        return
    found = {mutant.id: mutant for mutant in made.runnable}
    yield from _about(book, made, found)
    for name in sorted({entry.script for entry in book.entries if entry.script}):
        yield from script(name, (FOLDER / name).read_text(encoding="utf-8"), solver)
    for entry in book.entries:
        if entry.invariant is not None:
            text = local.obligation(entry.invariant, entry.before, entry.after)
            yield from script(f"{book.family}: {entry.mutant}", text, solver)
    claims = [(found[i], entry) for i, entry in book.by_id().items() if i in found]
    yield from _hunt(family, gate, claims, extra)
    shapes = list(islice((instance for instance, _ in answered(family, ())), seeds))
    for name, hunted in hunt(family, {mutant.id: mutant.text for mutant, _ in claims}, shapes, gate.guard).items():
        if hunted.witness is not None:
            yield f"{family.name}: {name} is false: killed by {hunted.witness}"


def _about(book: Book, made: Template, found: dict[str, Candidate]) -> Iterator[str]:
    for identity, entry in book.by_id().items():
        mutant = found.get(identity)
        if mutant is None:
            yield f"{book.family}: {entry.mutant} is no mutant of the reference"
        elif (mutant.line, mutant.before, mutant.after) != (entry.line, entry.before, entry.after):
            yield f"{book.family}: {entry.mutant} is {mutant.before} -> {mutant.after} in line {mutant.line}"
        if entry.method == "smt" and entry.script is None:
            yield f"{book.family}: {entry.mutant} claims smt and names no script"
    if book.mutants != len(made.runnable):
        yield f"{book.family}: the template has {len(made.runnable)} mutants, the ledger says {book.mutants}"
    if len(book.entries) > LIMIT * len(made.runnable):
        share = len(book.entries) / len(made.runnable)
        yield f"{book.family}: {share:.0%} of the mutants are in the ledger, more than {LIMIT:.0%}"


def script(name: str, text: str, solver: str = "z3") -> Iterator[str]:
    """Findings about one script of obligations; only z3 must decide them all, another solver may not disagree."""
    expected = _EXPECTED.findall(text)
    answers = SOLVERS[solver](text)
    if len(expected) != len(answers):
        yield f"{name}: {len(expected)} expectations for {len(answers)} queries"
    for (verdict, label), answer in zip(expected, answers, strict=False):
        unsure = answer == "unknown" and (solver != "z3" or verdict == "open")
        if answer != verdict and not unsure and not (verdict == "open" and answer == "sat"):
            yield f"{name}: {solver} says {answer}, expected {verdict}: {label}"


def _hunt(
    family: Family, gate: Gate, claims: Sequence[tuple[Candidate, Entry]], extra: Iterable[Instance]
) -> Iterator[str]:
    """Run every entry on every small instance and on the extra ones, with a watch where an invariant is claimed."""
    texts = {mutant.id: mutant.text for mutant, _ in claims}
    for mutant, entry in claims:
        if entry.invariant is not None:
            texts[f"the watch on {mutant.id}"] = local.watched(family.reference, mutant.id, entry.invariant)
    for name, what in _killed(family, gate, texts, extra):
        yield f"{family.name}: {name} is false: {what}"


def unkilled(family: Family, gate: Gate, mutants: Sequence[Candidate], extra: Iterable[Instance]) -> list[Candidate]:
    """The mutants that no small instance and no extra one kills."""
    dead = {name for name, _ in _killed(family, gate, {mutant.id: mutant.text for mutant in mutants}, extra)}
    return [mutant for mutant in mutants if mutant.id not in dead]


def _killed(family: Family, gate: Gate, texts: dict[str, str], extra: Iterable[Instance]) -> Iterator[tuple[str, str]]:
    """(name, how) for each text that some instance tells from the reference, or that could not be run."""
    alive = dict(texts)
    for tests in batches(answered(family, extra)):
        misses, rows = gate.guard.run(family.reference, family.entry_point, tests, list(alive.values()))
        for number in misses:
            yield "the reference", f"wrong on {tests[number][0]}"
        for name, row in list(zip(alive, rows, strict=True)):
            killer = next((number for number, kill in enumerate(row.kills) if kill), None)
            if row.fault or killer is not None:
                yield name, row.fault or f"{row.kills[killer or 0]} on {tests[killer or 0][0]}"
                del alive[name]


def answered(family: Family, extra: Iterable[Instance]) -> Iterator[tuple[Instance, Json]]:
    for source in (family.small(), extra):
        for instance in source:
            truth = family.oracle(instance)
            if truth.status == "unique":
                yield instance, truth.answer


def batches(tests: Iterator[tuple[Instance, Json]]) -> Iterator[list[tuple[Instance, Json]]]:
    while batch := list(islice(tests, _BATCH)):
        yield batch
