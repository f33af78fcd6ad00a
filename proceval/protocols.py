"""The joints of the house: what each part is asked for, and nothing about how it does it."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from proceval.schema import Certificate, Completion, Json, Message, Problem, Status, Verdict
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


Section = Callable[[str], None]
"""Called at the start of each solver query, so that the worker's limits count from there and a kill names it."""


class Prover(Protocol):
    """Decides a specification in this process; whoever calls it runs it inside a killable worker."""

    name: str

    def certify(self, spec: Spec, section: Section) -> Proof:
        """Existence, then uniqueness by blocking; only `unsat` proves. Never raises for a solver's failure."""


@dataclass(frozen=True)
class Request:
    """One request to a model. `case` is None for real models; models that declare `needs_key` get the problem."""

    messages: tuple[Message, ...]
    problem_id: str
    sample: int
    turn: int
    case: Problem | None = None


class Model(Protocol):
    """Something that answers chat requests."""

    id: str
    base_url: str | None
    parameters: Mapping[str, Json]
    needs_key: bool
    """True only for offline models (mock, gold) that are handed the answer key by the stage."""

    async def complete(self, request: Request) -> Completion:
        """One attempt, no retries of its own. Raises errors.ProviderError."""

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Check:
    """What the public tests say of a text: all that a strategy may ever learn."""

    passed: bool
    feedback: str


Respond = Callable[[tuple[Message, ...]], Awaitable[Completion]]
"""Ask the model with these messages appended to the prompt."""
CheckText = Callable[[str], Awaitable[Check]]
"""Run the public tests on a text."""


class Strategy(Protocol):
    """How completions become one submitted text; handed two callables and nothing else, so it cannot leak a key."""

    name: str

    async def run(self, respond: Respond, check: CheckText) -> Completion:
        """The submitted completion."""


class Scorer(Protocol):
    """Judges a text: public evidence for strategies, hidden evidence for the record."""

    mode: str

    async def check(self, problem: Problem, text: str) -> Check: ...

    async def score(self, problem: Problem, completion: Completion) -> Any: ...


class Tracker(Protocol):
    """Shows a run elsewhere; nothing it does can change, delay or lose a local record."""

    def write(self, run_folder: Any, summary: Mapping[str, Any], config: Mapping[str, Any]) -> None: ...

    def close(self, exit_status: int) -> None: ...


__all__ = [
    "Certificate", "Check", "CheckText", "Family", "Instance", "Model", "Proof", "Prover", "Request", "Respond",
    "Scorer", "Section", "Strategy", "Tracker", "Truth", "Verdict",
]  # fmt: skip
