"""What models were asked and paid for, and what became of it."""

from typing import ClassVar, Literal

from proceval.schema.base import Json, Record, Sparse


class ToolCall(Record):
    """A tool that a model wants called; `arguments` is its own JSON text, well-formed or not."""

    id: str
    name: str
    arguments: str


class Message(Sparse):
    """One chat message; a `tool` message answers the call that `tool_call_id` names."""

    SPARSE: ClassVar[tuple[str, ...]] = ("tool_calls", "tool_call_id")

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class Completion(Sparse):
    """What a model answered to one request."""

    SPARSE: ClassVar[tuple[str, ...]] = ("tool_calls", "workspace_sha256", "requests")

    text: str
    finish_reason: Literal["stop", "length", "content_filter", "refusal", "other"]
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None = None
    cost_usd: float | None
    """None where the price is unknown: unknown is never zero."""
    latency_s: float
    tool_calls: tuple[ToolCall, ...] = ()
    workspace_sha256: str | None = None
    """Where a command worked in a workspace: SHA-256 of the tree it left, kept under workspaces/ before this record."""
    requests: int | None = 1
    """Model requests behind this answer: more than one for a command with a loop of its own, None where unknown."""


Mode = Literal["code", "answer", "review", "agent"]
"""What was asked for: a program, the answer to one instance, a review of files, or work in a workspace."""


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
    mode: Mode
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


Fault = Literal["none", "model", "provider", "judge", "sandbox", "case", "budget"]
"""Who owns a failure. `case`: the case itself is broken, as when its set-up fails; `budget`: nobody was asked any more."""

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
    "failed",
    "rewrote",
    "turn_limit",
    "provider_fault",
    "judge_fault",
    "sandbox_fault",
    "case_fault",
    "budget",
]
"""The last five are nobody's answer: they stay unscored and are never in a denominator.

Of reviews and agents: `failed` is a criterion or a check that did not hold, `rewrote` a review that changed the files,
`turn_limit` an agent that used up its requests. `budget`: the run's budget had no room for another request.
"""
UNSCORED = ("provider_fault", "judge_fault", "sandbox_fault", "case_fault", "budget")


class TestResult(Record):
    """What one test gave."""

    __test__ = False

    test: int
    outcome: Outcome
    detail: str
    """One line for people: exception and line, or the value returned; never the expected value of a hidden test."""


class Grade(Record):
    """What one criterion of a rubric or one check of a case gave."""

    id: str
    kind: str
    """`must_flag`, `must_not_flag`, `engagement`, `verify`, `file`, `response`, `check`, `rubric`, ..."""
    passed: bool | None
    """None where it could not be decided."""
    weight: float
    evidence: str
    """A quotation or a line for people; never a hidden value."""
    votes: tuple[bool, ...] = ()
    """What each judge said, in order, where judges were asked."""


class Verdict(Sparse):
    """The judgement of one sample: recomputed from responses at any time, without a model."""

    SPARSE: ClassVar[tuple[str, ...]] = ("grades", "score", "judge_cost_usd")

    model: str
    base_url: str | None
    arm: str
    strategy: str
    mode: Mode
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
    grades: tuple[Grade, ...] = ()
    """Of reviews and agents: every criterion or check, in order."""
    score: float | None = None
    """Weighted share of the grades that passed, 0 to 1: partial credit."""
    judge_cost_usd: float | None = 0.0
    """What the judges of this sample cost; None where unknown."""

    @property
    def scored(self) -> bool:
        return self.fault in ("none", "model")

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"
