"""Evidence about problems, keyed by problem and by the versions that made it."""

from typing import Literal

from proceval.schema.base import Json, Record, Status


class Query(Record):
    """One solver query as it was decided."""

    kind: Literal["existence", "uniqueness"]
    smt_sha256: str
    """SHA-256 of the SMT-LIB text; the text itself lies under certificates/."""
    verdict: Literal["sat", "unsat", "unknown"]
    resource_count: int | None
    """The solver's own work counter (z3: rlimit count); decides acceptance instead of a clock."""


class Opinion(Record):
    """What somebody independent of the first solver says of the same text: a second solver, or a checker."""

    by: str
    """`cvc5 1.4.2`, `propagation`, `direct`, ..."""
    existence: Literal["sat", "unsat", "unknown", "checked", "not_run"]
    uniqueness: Literal["sat", "unsat", "unknown", "checked", "not_run"]
    data_sha256: str | None = None
    """SHA-256 of the JSON text that a checker needs besides instance and answer, or None where it needs nothing more;
    the text itself lies under certificates/."""


class Certificate(Record):
    """The proof that one test of one problem has exactly one answer."""

    problem_id: str
    test: int
    """Index into `tests`, or -1 - i for public example i."""
    status: Status
    answer: Json
    """The witness, decoded; equal to the test's `expected`."""
    reason: str | None
    """Why the status is not `unique`, or None."""
    solver: str
    """Name and version, e.g. `z3 5.4.1`."""
    queries: tuple[Query, ...]
    """Existence first, uniqueness last; rounds between them only for least-set and minimum specifications."""
    oracle: str
    """Name of the independent algorithm that agreed, e.g. `exhaustive` or `bellman_ford`."""
    opinions: tuple[Opinion, ...]


Fate = Literal["killed", "timeout", "survived", "equivalent", "duplicate", "broken"]
"""What became of a mutant. `timeout` is a kill by step budget and is counted apart; `broken` did not compile or the
runner failed, and is never a kill."""


class Mutant(Record):
    """One single-site edit of a reference and its fate under one problem's tests."""

    id: str
    """Stable under edits elsewhere: template hash, operator, site."""
    operator: str
    tier: Literal["gate", "reported"] = "gate"
    """A survivor of the tier `reported` is shown and withholds nothing."""
    line: int
    """1-based line of the reference."""
    column: int
    before: str
    after: str
    fate: Fate
    kill_kind: Literal["value", "type", "exception", "step_budget"] | None
    killed_by: int | None
    """Index of the first test that kills it, or None."""
    kills: tuple[int, ...] = ()
    """Indices of all tests that kill it."""
    reason: str | None
    """For `equivalent`: the ledger's method; for `broken`: what happened."""


class AuditReport(Record):
    """The mutation audit of one problem."""

    problem_id: str
    audit: str
    """Name and version of the operator set, e.g. `standard 1`."""
    template_sha256: str
    """SHA-256 of the reference text."""
    mutants: tuple[Mutant, ...]
    fault: str | None
    """What broke the audit itself, or None; a fault is never a kill and withholds the problem."""

    @property
    def accepted(self) -> bool:
        """True when every mutant of the gate is killed, equivalent, a duplicate, or did not compile."""
        return self.fault is None and all(m.fate != "survived" or m.tier != "gate" for m in self.mutants)


class Rejection(Record):
    """A candidate that did not become a problem, and why."""

    family: str
    difficulty: str
    index: int
    attempt: int
    reason: str
    """ambiguous, infeasible, malformed, over_budget, solver_cpu, solver_wall, solver_memory, solver_crash, unknown,
    duplicate, duplicate_relabelled, ..."""
