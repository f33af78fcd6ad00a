"""The gate that every problem passes: its tests must kill each mutant that the ledger does not prove harmless."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import ClassVar, Literal

from proceval import seeding
from proceval.audit import suite
from proceval.audit.guard import Guard, Limits, Row, shown
from proceval.audit.ledger import Entry, entries_for
from proceval.audit.mutate import Candidate
from proceval.audit.runner import Kill
from proceval.audit.search import hunt
from proceval.audit.template import TIERS, Template, entry_point_of, template
from proceval.errors import Finding, InputError
from proceval.protocols import Family, Instance
from proceval.schema import AuditReport, Fate, Json, Mutant, Problem, Test
from proceval.seeding import text_digest

Tests = Sequence[tuple[Mapping[str, Json], Json]]
_STRENGTH: tuple[Kill, ...] = ("value", "type", "exception", "step_budget")


@dataclass(frozen=True)
class Pool:
    """Instances that companion tests are chosen from."""

    tests: list[tuple[Instance, Json]]
    kills: list[set[str]]
    """For each instance the ids of the mutants that it kills."""
    outright: list[set[str]]
    """The same without kills by the step budget, which the scorer does not have."""


class Gate:
    """Base of the audits; a subclass says which operators withhold a problem.

    The guard's child is forked at the first use and kept, so a process forked from this one makes its own.
    """

    version: ClassVar[int]
    gate_tiers: ClassVar[frozenset[str]]

    def __init__(
        self,
        *,
        tiers: Sequence[str],
        step_budget_factor: int,
        step_budget_base: int,
        pool_size: int,
        search_seeds: int,
        suite_least: int,
        suite_limit: int,
        limits: Mapping[str, float],
    ):
        unknown = [tier for tier in tiers if tier not in TIERS]
        if unknown or not self.gate_tiers <= set(tiers):
            needed = ", ".join(sorted(self.gate_tiers))
            raise InputError(f"audit.tiers is {list(tiers)}; {needed} is needed, allowed are {', '.join(TIERS)}")
        if step_budget_factor < 2 or step_budget_base < 1:
            raise InputError("audit.step_budget_factor must be at least 2 and audit.step_budget_base at least 1")
        if min(pool_size, search_seeds, suite_least) < 0:
            raise InputError("audit.pool_size, audit.search_seeds and audit.suite_least must not be negative")
        if suite_limit < suite_least:
            raise InputError(f"audit.suite_limit is {suite_limit}, less than audit.suite_least, which is {suite_least}")
        self.tiers = tuple(tiers)
        self.pool_size, self.search_seeds = pool_size, search_seeds
        self.suite_least, self.suite_limit = suite_least, suite_limit
        try:
            bounds = Limits(float(limits["cpu_s"]), float(limits["wall_s"]), int(limits["memory_bytes"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError("audit.limits needs the numbers cpu_s, wall_s and memory_bytes") from error
        self._pools: dict[tuple[str, int, str], Pool] = {}
        self.guard = Guard(bounds, factor=step_budget_factor, base=step_budget_base)

    @property
    def name(self) -> str:
        return f"{type(self).__name__.lower()} {self.version}"

    def close(self) -> None:
        self.guard.close()

    # ------------------------------------------------------------------------------------ making a suite

    def choose(self, family: Family, main: Instance, expected: Json, rng: Random) -> list[Instance]:
        """Companion instances that, with the main one, kill every mutant outside the ledger, if the pool can.

        There are `suite_least` to `suite_limit` of them: what the kills do not need is filled up with instances about as
        long as the main one, those first that kill what no other companion does.

        The pool is the same for all problems of a family, so that its proofs can be shared; `rng` decides between
        instances that kill equally many and are about equally long. Raises Finding when reference and oracle disagree.
        """
        made = template(family.reference, self.tiers)
        excused = _excused(made)
        wanted = [m for m in made.runnable if self._gates(made, m) and m.id not in excused]
        rows = self._run(family, [(main, expected)], wanted)
        alive = {m.id for m, row in zip(wanted, rows, strict=True) if not _outright(row.kills[0])}
        pool = self._pool(family, wanted)
        candidates = {i: kills for i, kills in enumerate(pool.kills) if pool.tests[i][0] != main}
        costs = {i: (suite.size_class(pool.tests[i][0]), rng.random()) for i in candidates}
        # What only runs long on the main instance needs a companion: one that kills it outright, else one made for that.
        chosen = suite.cover({i: pool.outright[i] for i in candidates}, costs, alive, self.suite_limit)
        alive -= set().union(*(candidates[i] for i in chosen))
        rest = {i: kills for i, kills in candidates.items() if i not in chosen}
        chosen = chosen + suite.cover(rest, costs, alive, self.suite_limit - len(chosen))
        every = {mutant.id for mutant in wanted}
        short = {i: candidates[i] for i, (size, _) in costs.items() if i in chosen or size <= suite.size_class(main)}
        for kills in (short, candidates):
            chosen = suite.fill(chosen, kills, costs, every, self.suite_least)
        return [dict(pool.tests[i][0]) for i in chosen]

    def _pool(self, family: Family, wanted: Sequence[Candidate]) -> "Pool":
        """The family's targeted instances and what each kills, measured once a process.

        A mutant that none of them kills gets a symbolic search on the family's small instances.
        """
        key = (family.name, family.version, text_digest(family.reference))
        if key not in self._pools:
            tests: list[tuple[Instance, Json]] = []
            drawn = family.targeted(seeding.rng("targeted pool", family.name, family.version))
            for instance in islice(drawn, self.pool_size):
                truth = family.oracle(instance)
                if truth.status == "unique" and all(instance != other for other, _ in tests):
                    tests.append((instance, truth.answer))
            kills, outright = self._kills(family, tests, wanted)
            missed = {m.id: m.text for m in wanted if m.id not in set().union(*kills)}
            seeds = list(islice(_shapes(family), self.search_seeds)) if missed else []
            for hunted in hunt(family, missed, seeds, self.guard).values():
                if hunted.witness is not None:
                    tests.append((hunted.witness, family.oracle(hunted.witness).answer))
            if len(tests) > len(kills):
                kills, outright = self._kills(family, tests, wanted)
            self._pools[key] = Pool(tests, kills, outright)
        return self._pools[key]

    def _kills(
        self, family: Family, tests: Tests, mutants: Sequence[Candidate]
    ) -> tuple[list[set[str]], list[set[str]]]:
        """For each test the mutants that it kills, and those that it kills outright."""
        rows = dict(zip((m.id for m in mutants), self._run(family, tests, mutants), strict=True))
        kills = [{name for name, row in rows.items() if row.kills[i]} for i in range(len(tests))]
        return kills, [{name for name in kills[i] if _outright(rows[name].kills[i])} for i in range(len(tests))]

    def _run(self, family: Family, tests: Tests, mutants: Sequence[Candidate]) -> list[Row]:
        misses, rows = self.guard.run(family.reference, family.entry_point, tests, [m.text for m in mutants])
        for number in misses:
            raise Finding(f"{family.name}: the reference and the oracle disagree on {tests[number][0]}")
        return rows

    # --------------------------------------------------------------------------------------- judging one

    def audit(self, problem: Problem) -> AuditReport:
        """The fate of every mutant under the problem's hidden tests, from the problem's own text alone."""
        return self._report(problem.id, problem.reference, problem.entry_point, problem.tests)

    def audit_function(self, reference: str, tests: Sequence[Test]) -> AuditReport:
        """The same for somebody's own function: the last public one of the text. Raises InputError without one.

        Nothing can be said of mutants of a reference that fails a test: such a report has a fault and no mutants.
        """
        entry_point = entry_point_of(reference)
        try:
            misses, _ = self.guard.run(reference, entry_point, [(test.arguments, test.expected) for test in tests], ())
        except RuntimeError as error:
            fault = str(error)
        else:
            if not misses:
                return self._report("", reference, entry_point, tests)
            first = min(misses)
            fault = f"the reference fails test {first + 1}: {misses[first]}, expected {shown(tests[first].expected)}"
        sha256 = template(reference, self.tiers).sha256
        return AuditReport(problem_id="", audit=self.name, template_sha256=sha256, mutants=(), fault=fault)

    def _report(self, problem_id: str, reference: str, entry_point: str, tests: Sequence[Test]) -> AuditReport:
        made = template(reference, self.tiers)
        excused = _excused(made)
        calls = [(test.arguments, test.expected) for test in tests]
        fault: str | None = None
        rows: list[Row] = []
        try:
            misses, rows = self.guard.run(reference, entry_point, calls, [m.text for m in made.runnable])
            if misses:
                fault = f"the reference fails its own test {min(misses)}: {misses[min(misses)]}"
        except RuntimeError as error:
            fault = str(error)
        by_id = dict(zip((m.id for m in made.runnable), rows, strict=False))
        mutants = tuple(
            self._judge(made, mutant, by_id.get(mutant.id), excused.get(mutant.id)) for mutant in made.mutants
        )
        broken = next((m for m in mutants if m.fate == "broken" and m.id not in made.broken), None)
        false = next((m for m in mutants if m.id in excused and m.fate in ("killed", "timeout")), None)
        if fault is None and broken is not None:
            fault = f"mutant {broken.id} could not be judged: {broken.reason}"
        if fault is None and false is not None:
            fault = f"the ledger is wrong: test {false.killed_by} kills {false.id}, entered as equivalent"
        return AuditReport(
            problem_id=problem_id, audit=self.name, template_sha256=made.sha256, mutants=mutants, fault=fault
        )

    def _gates(self, made: Template, mutant: Candidate) -> bool:
        return made.tier[mutant.operator] in self.gate_tiers

    def _judge(self, made: Template, mutant: Candidate, row: Row | None, entry: Entry | None) -> Mutant:
        fate, reason = _fate(made, mutant, row, entry)
        kills = tuple(i for i, kill in enumerate(row.kills) if kill) if row else ()
        kinds = set(row.kills) if row else set()
        return Mutant(
            id=mutant.id,
            operator=mutant.operator,
            tier="gate" if self._gates(made, mutant) else "reported",
            line=mutant.line,
            column=mutant.column,
            before=mutant.before,
            after=mutant.after,
            fate=fate,
            kill_kind=next((kind for kind in _STRENGTH if kind in kinds), None),
            killed_by=kills[0] if kills else None,
            kills=kills,
            reason=reason,
        )


def _outright(kill: Kill | None) -> bool:
    return kill is not None and kill != "step_budget"


def _shapes(family: Family) -> Iterator[Instance]:
    """Small instances with exactly one answer: seeds of the symbolic search."""
    return (instance for instance in family.small() if family.oracle(instance).status == "unique")


def _excused(made: Template) -> dict[str, Entry]:
    """Mutant id -> ledger entry, for every mutant whose code is that of an entry, whichever operator made it."""
    entries = entries_for(made.sha256)
    if not entries:
        return {}
    by_text = {m.text: entries[m.id] for m in template(made.source, ("gate",)).mutants if m.id in entries}
    return {mutant.id: by_text[mutant.text] for mutant in made.mutants if mutant.text in by_text}


def _fate(made: Template, mutant: Candidate, row: Row | None, entry: Entry | None) -> tuple[Fate, str | None]:
    if mutant.id in made.broken:
        return "broken", made.broken[mutant.id]
    if mutant.twin == "reference":
        return "equivalent", "same code as the reference"
    if mutant.twin is not None:
        return "duplicate", f"same code as {mutant.twin}"
    if row is None:
        return "broken", "the runner failed"
    if row.fault is not None:
        return "broken", row.fault
    kinds = {kill for kill in row.kills if kill}
    if kinds:
        return ("timeout" if kinds == {"step_budget"} else "killed"), row.note
    return ("equivalent", entry.method) if entry else ("survived", None)


Figure = Literal["distinct_rows", "dominators"]


def figures(reports: Sequence[AuditReport]) -> dict[Figure, int]:
    """Distinct kill rows and dominators of one template's gate mutants, over the tests of all these problems."""
    kills: dict[str, set[object]] = {}
    for number, report in enumerate(reports):
        for mutant in report.mutants:
            if mutant.tier == "gate":
                kills.setdefault(mutant.id, set()).update((number, test) for test in mutant.kills)
    rows = {mutant: frozenset(tests) for mutant, tests in kills.items()}
    return {"distinct_rows": suite.distinct_rows(rows), "dominators": suite.dominators(rows)}
