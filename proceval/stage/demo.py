"""stage=demo: one problem from nothing to a score, in half a minute in the terminal; every step is the real one.

Pauses are for reading: there are none where standard output is no terminal.
"""

import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from proceval import sandboxing
from proceval.audit.mutate import Candidate as Edit
from proceval.audit.template import template
from proceval.errors import Finding, InputError, Malformed
from proceval.folder import RunFolder, read
from proceval.problem import Candidate, build_problem, prove
from proceval.protocols import Family, Instance, Proof, Prover
from proceval.schema import AuditReport, Mutant, Problem, Verdict
from proceval.seeding import rng
from proceval.stage.demo_screen import Screen
from sandbox.worker import Worker

ATTEMPTS = 50
"""Instances drawn before the demo gives up on finding one with exactly one answer."""
SHOWN = ("hard", "medium", "easy")
"""Tiers whose instances are readable in a terminal, the most interesting first."""

Job = tuple[str, Instance, int]
"""(what to do: `prove` or `build`, instance, attempt that drew it)."""


class Demo:
    """Prints the tour; exit status 1 if a proof, an audit or a judgement does not end as it must."""

    writes = False
    then: Sequence[str] = ()
    in_place = False

    def __init__(
        self,
        *,
        families: Mapping[str, Mapping[str, Family]],
        prover: Prover,
        audit: Any,
        track: Any,
        model: Any,
        strategy: Any,
        sandbox: Any,
        engine: Any,
        seed: int | str,
        samples: Annotated[int, Field(ge=1, le=20)],
        pause_s: Annotated[float, Field(ge=0, le=10)],
    ) -> None:
        self.families, self.prover, self.audit, self.track = dict(families), prover, audit, track
        self.model, self.strategy, self.sandbox, self.engine = model, strategy, sandbox, engine
        self.seed, self.samples, self.pause_s = seed, samples, pause_s

    def check(self, folder: RunFolder) -> None:
        if not self.families.get("graphs"):
            raise InputError("stage=demo shows a problem of domain=graphs; leave domain= out, or let it hold graphs")
        if not self.model.needs_key:
            raise InputError(
                f"stage=demo asks no real model, and {self.model.id} is one; choose model=mock or model=gold"
            )

    def run(self, folder: RunFolder) -> int:
        family = next(iter(self.families["graphs"].values()))
        tier = next((name for name in SHOWN if name in family.tiers), family.tiers[0])
        screen = Screen(pause_s=self.pause_s if sys.stdout.isatty() else 0.0)
        sandboxing.start(self.sandbox)  # forks, and so does the worker, before the event loop exists
        try:
            with Worker(lambda job, section: self._work(family, tier, job, section), **self.prover.limits) as worker:
                screen.title(family.name, tier, self.seed)
                instance, attempt, proof = self._synthesise(family, tier, worker, screen)
                screen.proof(proof)
                self._oracle(family, instance, proof, screen)
                problem = self._equip(instance, attempt, worker, screen)
            accepted = self._kill(problem, screen)
            judged = self._evaluate(problem, screen)
        finally:
            self.audit.close()
            self.sandbox.close()
        screen.end()
        return 0 if accepted and judged else 1

    # ------------------------------------------------------------------------------------ the problem

    def _work(self, family: Family, tier: str, job: Job, section: Any) -> Proof | Candidate:
        """In the killable worker: prove an instance, or make a problem with its tests and all their proofs."""
        what, instance, attempt = job
        if what == "prove":
            return prove(family, self.prover, instance, section)
        tests = rng("tests", *self._path(family.name, tier, attempt))
        return build_problem(family, self.prover, self.audit, instance, tier, tests, section)

    def _path(self, *parts: str | int) -> tuple[str | int, ...]:
        return ("demo", self.seed, *parts)

    def _synthesise(
        self, family: Family, tier: str, worker: Worker, screen: Screen
    ) -> tuple[Instance, int, Proof]:  # fmt: skip
        """The first instance with exactly one answer. Raises Finding when none of many has one."""
        screen.step("Draw an instance")
        for attempt in range(ATTEMPTS):
            instance = family.sample(rng(*self._path(family.name, tier, attempt)), tier)
            try:
                family.validate(instance)
            except Malformed as error:
                screen.say(f"draw {attempt + 1} is malformed ({error}) and is thrown away")
                continue
            reply = worker.call(("prove", instance, attempt))
            if reply.status != "done":
                raise Finding(f"the prover's worker ended: {reply.status} in {reply.section}")
            if reply.value.status == "unique":
                screen.instance(family, instance)
                return instance, attempt, reply.value
            screen.say(f"draw {attempt + 1} is {reply.value.status}: not exactly one answer, so it is thrown away")
        raise Finding(f"{ATTEMPTS} instances of {family.name} were drawn and none has exactly one answer")

    def _oracle(self, family: Family, instance: Instance, proof: Proof, screen: Screen) -> None:
        truth = family.oracle(instance)
        screen.oracle(family.oracle_name, truth.answer, proof)
        if truth.status != "unique" or truth.answer != proof.answer:
            raise Finding(f"the oracle says {truth.status} {truth.answer!r}, the prover {proof.answer!r}")

    def _equip(self, instance: Instance, attempt: int, worker: Worker, screen: Screen) -> Problem:
        screen.step("Choose hidden tests, and prove those too")
        reply = worker.call(("build", instance, attempt))
        made = reply.value if reply.status == "done" else None
        if made is None or made.problem is None:
            raise Finding(f"the problem could not be made: {reply.error or (made and made.reason) or reply.status}")
        screen.tests(made.problem, len(made.certificates), sum(len(c.queries) for c in made.certificates))
        problem: Problem = made.problem
        return problem

    # ------------------------------------------------------------------------------------ the audit

    def _kill(self, problem: Problem, screen: Screen) -> bool:
        """Run every mutant of the reference on the tests, one after the other, then ask the audit for its report."""
        screen.step("Break the reference in every way the operators know, and let the tests find out")
        edits = template(problem.reference, self.audit.tiers)
        report: AuditReport = self.audit.audit(problem)
        judged = {mutant.id: mutant for mutant in report.mutants}
        screen.reference(edits.normal, len(edits.mutants))
        killed = 0
        with screen.counting("mutants", len(edits.mutants)) as advance:
            for edit in edits.mutants:
                killed += self._one(problem, edit, judged[edit.id], screen)
                advance()
        screen.audited(report)
        if report.accepted and killed != sum(m.fate in ("killed", "timeout") for m in report.mutants):
            raise Finding("the live kills are not the audit's")
        return report.accepted

    def _one(self, problem: Problem, edit: Edit, judged: Mutant, screen: Screen) -> bool:
        """Run one mutant now; True when a test kills it. Twins and what does not compile are not run."""
        if judged.fate in ("duplicate", "broken") or edit.twin is not None:
            screen.spared(judged)
            return False
        calls = [(test.arguments, test.expected) for test in problem.tests]
        _, rows = self.audit.guard.run(problem.reference, problem.entry_point, calls, [edit.text], values=True)
        kills = [(test, kill) for test, kill in enumerate(rows[0].kills) if kill]
        if not kills:
            screen.spared(judged)
            return False
        test, kill = kills[0]
        screen.killed(
            judged, test, kill, rows[0].values[test] if rows[0].values else None, problem.tests[test].expected
        )
        return True

    # ------------------------------------------------------------------------------------ the evaluation

    def _evaluate(self, problem: Problem, screen: Screen) -> bool:
        """Ask the offline model and judge what it says; True when every sample was scored."""
        screen.step(f"Ask a model {self.samples} times, and judge it in the sandbox")
        screen.model(self.model.id, self.track.prompt(problem)[-1].content)
        with tempfile.TemporaryDirectory(prefix="proceval-demo-") as home:
            started = time.monotonic()
            self.engine.evaluate(
                [problem], model=self.model, strategy=self.strategy, track=self.track,
                scorer=self.track.scorer(self.sandbox), samples=self.samples, folder=Path(home),
                progress=lambda done, total=None: None,
            )  # fmt: skip
            took_s = time.monotonic() - started
            verdicts = list(read(Path(home) / "verdicts.jsonl", Verdict))
        screen.verdicts(verdicts, len(problem.tests), took_s)
        return all(verdict.scored for verdict in verdicts)
