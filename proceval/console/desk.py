"""Live work for the pages: proofs in a killable worker, programs in the sandbox; both start before any thread exists.

A page runs in a thread of the server, where a fork could deadlock and its child would die with the thread. So one clerk
is forked beforehand, which forks the killable worker itself; the sandbox has its own fork-servers.
"""

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proceval import sandboxing
from proceval.errors import InputError, Malformed
from proceval.problem import prove
from proceval.protocols import Family, Instance, Judgement, Proof, Prover
from proceval.schema import Completion, Json, Problem
from sandbox.contract import Execution, Job
from sandbox.worker import Reply, Worker

CLERK_WALL_S = 3600.0
"""Only a backstop: the worker inside has the prover's own limits for each query."""


@dataclass(frozen=True)
class Proved:
    """One live proof; `proof` is None where there is no verdict, for the reason given."""

    proof: Proof | None
    reason: str | None
    wall_s: float
    cpu_s: float


class Desk:
    """Proves instances and runs programs, one at a time each; safe to use from any thread once started."""

    def __init__(self, *, families: Mapping[str, Family], prover: Prover, track: Any, sandbox: Any) -> None:
        self.families, self.prover, self.track, self.sandbox = dict(families), prover, track, sandbox
        self._proving, self._running = threading.Lock(), threading.Lock()
        self._clerk: Worker | None = None

    def start(self) -> None:
        """Fork what has to be forked; call it on the main thread."""
        self._clerk = Worker(self._handle, **{**self.prover.limits, "wall_s": CLERK_WALL_S})
        sandboxing.start(self.sandbox)

    def close(self) -> None:
        if self._clerk is not None:
            self._clerk.close()
            self._clerk = None
        self.sandbox.close()

    # ------------------------------------------------------------------------------------- proofs

    def prove(self, family: str, instance: Instance) -> Proved:
        """Existence and uniqueness of one instance, as stage=verify proves it. Raises InputError for what it cannot take."""
        if family not in self.families:
            raise InputError(
                f"family {family!r} is not among the families of domain=; known: {', '.join(self.families)}"
            )
        try:
            self.families[family].validate(instance)
        except Malformed as error:
            raise InputError(f"the instance breaks the contract of {family}: {error}") from error
        if self._clerk is None:
            raise InputError("nothing can be proved here: the console was started without its prover")
        started = time.monotonic()
        with self._proving:
            answer = self._clerk.call((family, instance))
        wall_s = time.monotonic() - started
        if answer.status != "done":
            return Proved(None, f"the prover's process ended ({answer.status}); start the console again", wall_s, 0.0)
        reply: Reply = answer.value
        if reply.status == "done":
            return Proved(reply.value, None, wall_s, reply.cpu_s)
        said = (reply.error or "").strip().splitlines()[-1:]
        return Proved(
            None, f"{reply.status} in {reply.section}: {said[0] if said else ''}".rstrip(": "), wall_s, reply.cpu_s
        )

    def _handle(self, job: tuple[str, Instance], section: Any) -> Reply:
        """In the clerk: one call of the killable worker, which lives as long as the clerk does."""
        if not hasattr(self, "_worker"):
            self._worker = Worker(self._prove, **self.prover.limits)
        return self._worker.call(job)

    def _prove(self, job: tuple[str, Instance], section: Any) -> Proof:
        family, instance = job
        return prove(self.families[family], self.prover, instance, section)

    # ------------------------------------------------------------------------------------- programs

    def run(self, code: str, entry_point: str, inputs: Sequence[Mapping[str, Json]]) -> Execution:
        """Run a program in the sandbox on arguments alone: it never sees an expected value."""
        job = Job(code=code, entry_point=entry_point, inputs=list(inputs), limits=self.sandbox.limits)
        with self._running:
            execution: Execution = self.sandbox.run(job)
        return execution

    def judge(self, problem: Problem, completion: Completion) -> Judgement:
        """Judge a completion again by the track's scorer, in the sandbox."""
        with self._running:
            found: Judgement = asyncio.run(self.track.scorer(self.sandbox).score(problem, completion))
        return found
