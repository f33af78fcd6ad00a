"""Material for review and repair cases: real bugs with a witness, and proven non-bugs with their proof.

One record for each mutant of each template in a dataset whose truth is known. The tracks that use it only render it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from proceval.audit.gate import Gate
from proceval.audit.ledger import FOLDER, Entry, entries_for
from proceval.audit.template import template
from proceval.schema import AuditReport, Json, Problem, Record, Test
from proceval.seeding import canonical

Truth = Literal["bug", "slow", "harmless"]
_PATIENCE = 40
"""Times the usual step budget: a mutant that is right within it is slow, one that still goes on is taken for endless."""


class Witness(Record):
    """One call on which a bug shows."""

    arguments: dict[str, Json]
    expected: Json
    got: str | None
    """What the buggy code gives: the value as Python text, or `raises NAME`; None where it goes on too long."""


class Proof(Record):
    """Why an edit changes nothing."""

    method: str
    bound: str
    lemma: str
    invariant: str | None
    script: str | None
    """SMT-LIB text of the obligations, or None."""


class Material(Record):
    """One edit of a reference with the truth about it."""

    truth: Truth
    """`slow`: right where it is given far more steps; only harmful because the task limits them."""
    family: str
    statement: str
    """The contract: an edit is a bug or harmless only relative to it."""
    entry_point: str
    template_sha256: str
    mutant: str
    operator: str
    line: int
    before: str
    after: str
    original: str
    """The reference in normal form, without comments."""
    edited: str
    """The same with the edit."""
    witness: Witness | None
    proof: Proof | None
    revealed_by: int | None
    """How many of the dataset's main instances show it, of `instances`; few means a rare bug."""
    instances: int
    twins: tuple[str, ...]
    """Mutants of the same place with the opposite truth."""


@dataclass
class _Template:
    problem: Problem
    instances: int = 0
    revealed: dict[str, int] = field(default_factory=dict)
    best: dict[str, tuple[bool, int, tuple[Test, ...]]] = field(default_factory=dict)
    """Mutant -> (killed by time alone, length of the smallest test that kills it, the tests of that problem that do)."""


class Collector:
    """Gathers what audits say of each template; add every audited problem, then take the records."""

    def __init__(self) -> None:
        self._templates: dict[str, _Template] = {}

    def add(self, problem: Problem, report: AuditReport) -> None:
        """One audited problem; a report with a fault says nothing and is left out."""
        if report.fault is not None:
            return
        made = self._templates.setdefault(report.template_sha256, _Template(problem))
        made.instances += 1
        sizes = [len(canonical(test.model_dump())) for test in problem.tests]
        for mutant in report.mutants:
            if mutant.fate not in ("killed", "timeout") or mutant.tier != "gate":
                continue
            made.revealed[mutant.id] = made.revealed.get(mutant.id, 0) + (0 in mutant.kills)
            rank = (mutant.fate == "timeout", min(sizes[number] for number in mutant.kills))
            if mutant.id not in made.best or rank < made.best[mutant.id][:2]:
                tests = sorted(mutant.kills, key=lambda number: sizes[number])
                made.best[mutant.id] = (*rank, tuple(problem.tests[number] for number in tests))

    def records(self, gate: Gate) -> Iterator[Material]:
        """Bugs first, rarest first; then the harmless edits. Runs each bug once on its witness."""
        for sha256, made in self._templates.items():
            yield from self._of(sha256, made, gate)

    def _of(self, sha256: str, made: _Template, gate: Gate) -> Iterator[Material]:
        excused = entries_for(sha256)
        whole = template(made.problem.reference, gate.tiers)
        known = [m for m in whole.mutants if m.id in made.best or m.id in excused]
        witnesses = {m.id: _witness(made, m.id, m.text, gate) for m in known if m.id not in excused}
        truths: dict[str, Truth] = {m.id: witnesses[m.id][0] if m.id in witnesses else "harmless" for m in known}
        places = {m.id: m.id.split(":")[2] for m in known}
        found = []
        for mutant in known:
            entry = excused.get(mutant.id)
            harmless = truths[mutant.id] == "harmless"
            twins = [
                other.id
                for other in known
                if places[other.id] == places[mutant.id] and (truths[other.id] == "harmless") != harmless
            ]
            found.append(
                Material(
                    truth=truths[mutant.id],
                    family=made.problem.family,
                    statement=made.problem.statement,
                    entry_point=made.problem.entry_point,
                    template_sha256=sha256,
                    mutant=mutant.id,
                    operator=mutant.operator,
                    line=mutant.line,
                    before=mutant.before,
                    after=mutant.after,
                    original=whole.normal,
                    edited=mutant.text,
                    witness=None if entry else witnesses[mutant.id][1],
                    proof=_proof(entry) if entry else None,
                    revealed_by=None if entry else made.revealed[mutant.id],
                    instances=made.instances,
                    twins=tuple(twins),
                )
            )
        yield from sorted(found, key=lambda m: (m.truth == "harmless", m.revealed_by or 0, m.mutant))


def _witness(made: _Template, mutant: str, text: str, gate: Gate) -> tuple[Truth, Witness]:
    """Run the mutant with patience on the tests that kill it: the smallest on which a wrong value or error shows."""
    late, _, tests = made.best[mutant]
    calls = [(test.arguments, test.expected) for test in tests]
    reference, entry_point = made.problem.reference, made.problem.entry_point
    _, rows = gate.guard.run(reference, entry_point, calls, [text], values=True, patience=_PATIENCE if late else 1)
    kills = rows[0].kills
    telling = next((number for number, kill in enumerate(kills) if kill in ("value", "type", "exception")), 0)
    truth: Truth = "slow" if late and kills[0] is None else "bug"
    got = rows[0].values[telling] if rows[0].values and truth == "bug" else None
    return truth, Witness(arguments=tests[telling].arguments, expected=tests[telling].expected, got=got)


def _proof(entry: Entry) -> Proof:
    script = (FOLDER / entry.script).read_text(encoding="utf-8") if entry.script else None
    return Proof(method=entry.method, bound=entry.bound, lemma=entry.lemma, invariant=entry.invariant, script=script)
