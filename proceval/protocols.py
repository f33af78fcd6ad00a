"""The joints of the house: what each part is asked for, and nothing about how it does it."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from proceval.schema import (
    Certificate,
    Completion,
    Fault,
    Grade,
    Json,
    Message,
    Mode,
    Outcome,
    Status,
    TestResult,
    Verdict,
)
from proceval.smt import Spec

Instance = dict[str, Json]
"""Keyword arguments of a family's entry point: JSON values only."""


@dataclass(frozen=True)
class Truth:
    """What an oracle says of an instance: `answer` is None unless the status is `unique`."""

    status: Status
    answer: Json = None


class Family(Protocol):
    """One kind of problem, in one file: facts only; the framework owns the queries, the audit and the records."""

    name: str
    domain: str
    version: int
    """Raised whenever the meaning of an instance or a byte of the statement changes."""
    entry_point: str
    parameters: tuple[str, ...]
    statement: str
    reference: str
    """Source text of the module-level function that solves it, as a person would write it."""
    oracle_name: str
    logic: str

    @property
    def tiers(self) -> Sequence[str]: ...

    def sample(self, rng: Random, tier: str) -> Instance:
        """One instance of the tier; may be ambiguous, in which case the proof rejects it."""

    def validate(self, instance: Instance) -> None:
        """Raises Malformed unless the instance meets the contract of the statement."""

    def specify(self, instance: Instance, spec: Spec) -> None:
        """Say in SMT-LIB what the answer is: declarations, labelled rules, and exactly one goal."""

    def oracle(self, instance: Instance) -> Truth:
        """The answer by another algorithm: no solver, no code shared with the reference."""

    def small(self) -> Iterator[Instance]:
        """All instances up to a small scope, malformed and ambiguous ones included."""

    def examples(self) -> Sequence[Instance]:
        """Two or three fixed instances to show in the prompt."""

    def targeted(self, rng: Random) -> Iterator[Instance]:
        """Instances that catch typical bugs: ties, edges of the domain, stress shapes."""

    def canonical(self, instance: Instance, tier: str) -> Json:
        """A value equal for instances that differ only by a relabelling that keeps the answer."""

    def fits(self, instance: Instance, tier: str) -> bool:
        """Whether the instance has the sizes of the tier."""

    def space(self, tier: str) -> int | None:
        """How many distinct canonical instances the tier has, or None where it was not counted."""


@dataclass(frozen=True)
class Proof:
    """A prover's result: the certificate's content and the texts behind its hashes."""

    status: Status
    answer: Json
    reason: str | None
    solver: str
    queries: tuple[Any, ...]
    """schema.Query, existence first."""
    texts: Mapping[str, str]
    """SHA-256 -> SMT-LIB text of every query."""
    opinions: tuple[Any, ...] = ()
    data: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 -> JSON text of what the opinions rest on."""


Section = Callable[[str], None]
"""Called at the start of each solver query, so that the worker's limits count from there and a kill names it."""


class Prover(Protocol):
    """Decides a specification in this process; whoever calls it runs it inside a killable worker."""

    name: str
    limits: Mapping[str, Any]
    """`cpu_s`, `wall_s` and `memory_bytes` of the worker, for each query."""

    def certify(self, spec: Spec, section: Section) -> Proof:
        """Existence, then uniqueness by blocking; only `unsat` proves. Never raises for a solver's failure."""


@dataclass(frozen=True)
class Request:
    """One request to a model. `case` is None for real models; models that declare `needs_key` get the case with its key."""

    messages: tuple[Message, ...]
    problem_id: str
    sample: int
    turn: int
    case: Any = None
    mode: str = "code"
    """What the prompt asked for; of use to offline models alone."""
    arm: str = "default"
    tools: tuple[Mapping[str, Any], ...] = ()
    """Functions that the model may call, in the JSON shape of the OpenAI chat interface."""
    workspace: Any = None
    """The open workspace in which a model that is a command does its work; None for all other models."""


class Model(Protocol):
    """Something that answers chat requests."""

    id: str
    base_url: str | None
    parameters: Mapping[str, Json]
    needs_key: bool
    """True only for offline models (mock, gold) that are handed the answer key by the stage."""
    max_in_flight: int | None
    """Requests it can serve at once, or None where the engine's own bound is enough."""

    # Two things that only some models have: `modes`, the kinds of work they are made for (a track's mode, or `judge`) where
    # that is not all of them; and `lacks()`, one sentence on a key, a package or weights that are missing, or None.

    def warm(self) -> None:
        """Load what is slow to load; may run in a thread while the engine reads a run's records."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """The price of that many tokens, or None where it is unknown."""

    async def complete(self, request: Request) -> Completion:
        """One attempt, no retries of its own. Raises errors.ProviderError."""

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Check:
    """What the public tests say of a text: all that a strategy may ever learn."""

    passed: bool
    feedback: str
    score: float = 0.0
    """Share of the public tests that passed, 0 to 1."""
    vote: str | None = None
    """In answer mode the answer that was read, in one canonical text, so that equal answers can be counted."""


class Respond(Protocol):
    """Ask the model with these messages appended to the prompt."""

    def __call__(
        self, messages: tuple[Message, ...] = (), *, tools: tuple[Mapping[str, Any], ...] = (), workspace: Any = None
    ) -> Awaitable[Completion]: ...


CheckText = Callable[[str], Awaitable[Check]]
"""Run the public tests on a text."""


class Strategy(Protocol):
    """How completions become one submitted text; handed two callables and nothing else, so it cannot leak a key."""

    name: str
    requests: tuple[int, int]
    """Fewest and most requests that one sample takes."""

    async def run(self, respond: Respond, check: CheckText) -> Completion:
        """The submitted completion."""


@dataclass(frozen=True)
class Judgement:
    """What a scorer says of one submitted completion."""

    outcome: Outcome
    fault: Fault
    extraction: str
    """Which rule found the code or the answer, or why none did."""
    tests: tuple[TestResult, ...] = ()
    """In order, up to and including the first that did not pass."""
    detail: str = ""
    grades: tuple[Grade, ...] = ()
    score: float | None = None


class Case(Protocol):
    """What the engine knows of a case, whether a proved problem, a review or an agent's task."""

    @property
    def id(self) -> str:
        """Content hash: a changed case has another id."""

    @property
    def family(self) -> str: ...

    @property
    def domain(self) -> str: ...

    @property
    def difficulty(self) -> str: ...


@dataclass(frozen=True)
class Task:
    """One sample of one case under one arm, as a track is handed it; `sample` counts from 0."""

    case: Any
    arm: str
    sample: int
    folder: Any
    """Path of the run folder, where a track may leave files for people."""


@dataclass(frozen=True)
class Submission:
    """What a sample came to: the last completion and, where there was a workspace, the tree it left, packed."""

    completion: Completion
    workspace: bytes | None = None
    transcript: str = ""


class AskJudge(Protocol):
    """A judge's answer, durable as any other. Raises errors.ProviderError."""

    def __call__(
        self, number: int, messages: tuple[Message, ...], attempt: int, workspace: Any = None
    ) -> Awaitable[Completion]: ...


AskModel = Callable[[str, tuple[Message, ...], Any], Awaitable[Completion]]
"""(arm, messages, workspace or None) -> the model's answer outside any sample, durable as any other."""


class Scorer(Protocol):
    """Judges a text: public evidence for strategies, hidden evidence for the record."""

    @property
    def mode(self) -> Mode: ...

    async def ready(self) -> None:
        """A known-good and a known-bad canary before the first score; raises errors.Unscored when the judge is broken."""

    async def check(self, problem: Any, text: str) -> Check:
        """Public evidence only; raises errors.Unscored when the sandbox failed."""

    async def score(self, problem: Any, completion: Completion) -> Judgement:
        """Hidden evidence; an infrastructure failure is a fault in the judgement, never an outcome of the model's."""


class Track(Protocol):
    """What is asked and who judges it."""

    @property
    def mode(self) -> Mode: ...

    @property
    def arms(self) -> tuple[str, ...]: ...

    proved: bool
    """True when the cases are the proved problems of a dataset; False when `cases` gives them."""
    failures: frozenset[Outcome]
    """Outcomes that make the exit status 1."""

    def cases(self, folder: Any) -> Sequence[Case]:
        """The cases of a track that has its own; raises InputError naming file and line."""

    def prompt(self, case: Any, arm: str) -> tuple[Message, ...]:
        """The first request; holds nothing hidden."""

    def scorer(self, sandbox: Any) -> Scorer:
        """The judge of this mode; called once, before any work."""

    def judges(self) -> Sequence[Model]:
        """Models that the scorer asks, by number; none for most tracks."""

    async def ready(self, ask: AskModel) -> None:
        """Whatever must hold before the first sample, such as a canary; raises errors.Finding when it does not."""

    async def work(self, task: Task, strategy: Strategy, respond: Respond, check: CheckText) -> Submission:
        """Do the task; replayed from the recorded answers when a run is resumed or scored again."""

    async def judge(self, task: Task, submission: Submission, scorer: Any, ask: AskJudge) -> Judgement:
        """Judge what was submitted; raises errors.ProviderError when a judge cannot be asked."""


class Stage(Protocol):
    """One step of the programme."""

    writes: bool
    """False for stages that only read and print: they leave no run folder behind."""

    then: Sequence[str]
    """Words of the next sensible command, put behind this run's own; none for stages that only look."""
    in_place: bool
    """True for stages that work on the folder that dataset= names, instead of a folder of their own."""

    def check(self, folder: Any) -> None:
        """Raises InputError for what is wrong with the input, before anything is written or paid for."""

    def run(self, folder: Any) -> int:
        """Do the work; returns the exit status."""


class Tracker(Protocol):
    """Shows a run elsewhere; nothing it does can change, delay or lose a local record."""

    def start(self) -> None:
        """Fork what it needs; call it on the main thread before threads and event loops exist. Harmless if repeated."""

    def write(self, run_folder: Any, summary: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        """Show what the folder holds, once its local files are whole; starts by itself if `start` was not called."""

    def close(self, exit_status: int) -> None:
        """Finish, as failed unless the status is 0."""


__all__ = [
    "AskJudge", "AskModel", "Case", "Certificate", "Check", "CheckText", "Family", "Instance", "Judgement", "Model", "Proof",
    "Prover", "Request", "Respond", "Scorer", "Section", "Strategy", "Submission", "Task", "Track", "Tracker", "Truth",
    "Verdict",
]  # fmt: skip
