"""Agents: a task in a workspace, and what must hold when the agent is done."""

from typing import Literal

from proceval.schema.base import Json, Record
from proceval.schema.review import Criterion

CheckKind = Literal[
    "verify",
    "contains",
    "not_contains",
    "response_contains",
    "response_not_contains",
    "response_matches",
    "calls",
    "prints",
]
"""`contains` and `not_contains` are about a file, the `response_` ones about the final reply."""


class Call(Record):
    """One call of a function with the value that it must return."""

    arguments: dict[str, Json]
    expected: Json


class AgentCheck(Record):
    """One thing that must hold; every entry of a list in a case file is one."""

    id: str
    kind: CheckKind
    weight: float
    text: str
    """The command, the text to look for, the Ruby pattern, or for `calls` the function, package.module.name."""
    expected: str | None = None
    """For `prints`: what the command must print."""
    path: str = ""
    """For `contains` and `not_contains`: the file, relative, with "/" between names."""
    calls: tuple[Call, ...] = ()


class WeightedCriterion(Record):
    """One thing that a judge decides of the final reply and the changes."""

    criterion: Criterion
    weight: float


class AgentCase(Record):
    """One task for an agent, with its key: checks, hidden files and scripted runs."""

    id: str
    """First 20 hex digits of SHA-256 over all below but the tier."""
    family: str
    """`group/id` of the case file."""
    domain: str
    """The group."""
    difficulty: str
    fixture: str
    fixture_sha256: str
    """Over path, kind, executable bit, link target and bytes of everything in the fixture."""
    setup: tuple[str, ...]
    turns: tuple[str, ...]
    checks: tuple[AgentCheck, ...]
    rubric: tuple[WeightedCriterion, ...]
    max_turns: int
    timeout_s: float | None
    protect: tuple[str, ...]
    hidden: str | None
    hidden_sha256: str | None
    scripted: dict[str, str]
    """Name (`gold`, `cheat`) -> text of a bash script; for scripted agents alone."""

    @property
    def unchecked(self) -> bool:
        """Whether nothing at all is looked at when the agent is done."""
        return not self.checks and not self.rubric
