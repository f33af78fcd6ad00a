"""What every sandbox is asked and what it answers: plain frozen data, standard library only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


@dataclass(frozen=True)
class Limits:
    """Bounds of one execution. CPU time is the limit; wall time is only a backstop against sleeping."""

    cpu_s: float
    """CPU seconds of one call of the entry point."""
    wall_s: float
    """Wall seconds of one call; several times cpu_s, so that a loaded machine does not change an outcome."""
    memory_bytes: int
    """Address space of the guest."""
    output_bytes: int
    """Bytes of returned value and of stdout+stderr, each."""
    file_bytes: int
    """Largest file the guest may write."""


@dataclass(frozen=True)
class Job:
    """Code to run on inputs. It holds no expected value, so nothing the guest does can read one."""

    code: str
    entry_point: str
    inputs: Sequence[Mapping[str, Any]]
    """One mapping of keyword arguments per call; JSON values, sent one call at a time."""
    limits: Limits
    stop_on_failure: bool = False
    """Leave the remaining calls `not_run` after the first that does not return a value."""


Kind = Literal[
    "returned",
    "raised",
    "timeout",
    "memory",
    "killed",
    "output_limit",
    "exited",
    "unserialisable",
    "protocol",
    "not_run",
]
"""`exited`: left early without a result (SystemExit counts); `protocol`: wrote something else where a result belongs;
`killed`: by a signal; `not_run`: see `Job.stop_on_failure`. All are the guest's doing."""


@dataclass(frozen=True)
class Result:
    """What one call gave."""

    kind: Kind
    wire: str | None = None
    """Canonical typed text of the returned value (see wire.py): equal texts are equal values of equal types."""
    exception: str | None = None
    """Exception class name, for `raised`."""
    message: str | None = None
    """First 500 characters, printable."""
    line: int | None = None
    """1-based line of the guest's code where it was raised, or None."""
    cpu_s: float = 0.0


@dataclass(frozen=True)
class Execution:
    """The outcome of one job; `fault` is set when the sandbox itself failed, which is never the guest's doing."""

    results: tuple[Result, ...]
    """One per input, in order; empty when `fault` is set."""
    stdout: str = ""
    """What the guest printed on stdout and stderr, cut at the limit; proves nothing."""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    fault: str | None = None
    missing_layers: tuple[str, ...] = field(default=())
    """Protections that this machine does not offer and that this execution therefore ran without."""


class Sandbox(Protocol):
    """Runs untrusted code. Start it on the main thread, before threads and event loops exist."""

    name: str

    def run(self, job: Job) -> Execution: ...

    async def arun(self, job: Job) -> Execution:
        """The same, waiting on descriptors: no thread per execution."""

    def missing_layers(self) -> tuple[str, ...]: ...

    def close(self) -> None: ...
