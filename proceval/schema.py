"""The records: frozen data that stages pass on, in three keyed tables that never mix.

Problem is content and never changes. Evidence (Certificate, AuditReport) is keyed by problem and by the versions that
made it. Response is what a model was paid for. Verdicts and summaries are recomputed from these.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1

Json = Any
"""A JSON value: None, bool, int of any size, float, str, list, dict with str keys."""

Status = Literal["unique", "ambiguous", "infeasible", "malformed", "unknown"]
"""What a proof or an oracle says of an instance; only `unique` is ever shipped."""


class Record(BaseModel):
    """Base of all records: frozen, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# ---------------------------------------------------------------------------------------------- problems


class Test(Record):
    """One call of the entry point with its proved result."""

    __test__ = False  # or pytest would try to collect it

    arguments: dict[str, Json]
    """Keyword arguments of the entry point: exactly one instance of the family, JSON values."""
    expected: Json
    """The proved answer, compared with strict types."""
    origin: Literal["main", "targeted", "example"]
    """`main`: the sampled instance; `targeted`: added because it kills a mutant; `example`: shown to the model."""


class Problem(Record):
    """One problem with its key: immutable content, identified by what it says and not by where it came from."""

    id: str
    """First 20 hex digits of SHA-256 over family, family_version, arguments, statement, entry_point and expected."""
    family: str
    family_version: int
    domain: str
    difficulty: str
    statement: str
    """The task in words with its contract; the same for all problems of a family (the instance is in `arguments`)."""
    entry_point: str
    """Name of the function that a completion must define."""
    parameters: tuple[str, ...]
    """Parameter names of the entry point, in order."""
    arguments: dict[str, Json]
    expected: Json
    reference: str
    """Source text of the reference solution; the audit mutates exactly this text."""
    examples: tuple[Test, ...]
    """Public tests: shown in the prompt and used for feedback."""
    tests: tuple[Test, ...]
    """Hidden tests; the first one is the main instance. Never sent to a model or a strategy."""


# ---------------------------------------------------------------------------------------------- evidence


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


# ---------------------------------------------------------------------------------------------- responses


class Message(Record):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


class Completion(Record):
    """What a model answered to one request."""

    text: str
    finish_reason: Literal["stop", "length", "content_filter", "refusal", "other"]
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None = None
    cost_usd: float | None
    """None where the price is unknown: unknown is never zero."""
    latency_s: float


class Response(Record):
    """One paid answer, durable before anything is scored; `key` makes a run resumable."""

    key: str
    """SHA-256 over model, base_url, parameters, prompt_sha256, strategy, arm, problem_id, sample and turn.

    The feedback of later turns is not in it: a replayed sample finds what it was really answered, even if a public
    test timed out differently this time.
    """
    model: str
    base_url: str | None
    parameters: dict[str, Json]
    arm: str
    strategy: str
    mode: Literal["code", "answer"]
    problem_id: str
    prompt_sha256: str
    """SHA-256 of the first request's messages; problems that share it are one task for statistics."""
    sample: int
    turn: int
    messages: tuple[Message, ...]
    completion: Completion
    attempts: int
    """Requests it took, counting the ones that failed."""


class RequestFault(Record):
    """A request that was given up: no answer exists, its sample is unscored, and the next run asks again."""

    key: str
    model: str
    base_url: str | None
    arm: str
    strategy: str
    problem_id: str
    sample: int
    turn: int
    kind: str
    """As in errors.ProviderError: rate_limit, server, timeout, connection, context_length, content_filter, ..."""
    message: str
    attempts: int


Fault = Literal["none", "model", "provider", "judge", "sandbox"]

Outcome = Literal[
    "passed",
    "wrong_answer",
    "runtime_error",
    "timeout",
    "resource_limit",
    "no_code",
    "unreadable",
    "refused",
    "truncated",
    "provider_fault",
    "judge_fault",
    "sandbox_fault",
]
"""The last three are nobody's answer: they stay unscored and are never in a denominator."""


class TestResult(Record):
    """What one test gave."""

    __test__ = False

    test: int
    outcome: Outcome
    detail: str
    """One line for people: exception and line, or the value returned; never the expected value of a hidden test."""


class Verdict(Record):
    """The judgement of one sample: recomputed from responses at any time, without a model."""

    model: str
    base_url: str | None
    arm: str
    strategy: str
    mode: Literal["code", "answer"]
    problem_id: str
    family: str
    domain: str
    difficulty: str
    prompt_sha256: str
    sample: int
    outcome: Outcome
    fault: Fault
    tests: tuple[TestResult, ...]
    extraction: str
    """Which rule found the code or the answer, or why none did."""
    turns: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    latency_s: float | None
    detail: str

    @property
    def scored(self) -> bool:
        return self.fault in ("none", "model")

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


Fraction01 = Annotated[float, Field(ge=0, le=1)]
