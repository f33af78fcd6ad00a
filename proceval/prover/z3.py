"""Existence and uniqueness by Z3 (de Moura and Bjørner, 2008), decided by its own work counter."""

import importlib.metadata
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from proceval.protocols import Proof, Section
from proceval.schema import Opinion, Query
from proceval.seeding import text_digest
from proceval.smt import Spec, Values

Verdict = Literal["sat", "unsat", "unknown"]

_DEFINITION = re.compile(r"\(define-fun (\S+) \(\) (?:Bool|Int)\s+(true|false|\d+|\(- \d+\))\)")


@dataclass(frozen=True)
class Answer:
    """What a solver said to one text."""

    verdict: Verdict
    values: Values | None = None
    """Literal values of all declared variables, when sat."""
    resource_count: int | None = None
    reason: str | None = None
    """Why the verdict does not count, or None."""


@dataclass
class _Ledger:
    """The queries of one proof as they are decided."""

    spec: Spec
    section: Section
    queries: list[Query] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    reason: str | None = None


class _Undecided(Exception):
    """A query came back without a verdict that counts; the ledger holds the reason."""


class Z3:
    """Z3 in a fresh context per query, so that counters and models are the same in any order and process.

    A query counts only if its resource count is within `resource_budget`; a clock decides nothing. `rounds` bounds the
    descent to a least set or a least cost. `limits` (cpu_s, wall_s, memory_bytes) are for the worker around this.
    """

    name = "z3"

    def __init__(self, *, resource_budget: int, rounds: int, limits: Mapping[str, Any]):
        self.resource_budget = resource_budget
        self.rounds = rounds
        self.limits = dict(limits)

    @property
    def solver(self) -> str:
        return f"z3 {importlib.metadata.version('z3-solver')}"

    def certify(self, spec: Spec, section: Section) -> Proof:
        """Existence, then uniqueness by blocking; never raises for a solver's failure."""
        ledger = _Ledger(spec, section)
        try:
            status, values = self._decide(ledger)
        except _Undecided:
            status, values = "unknown", None
        return Proof(
            status=status,
            answer=spec.decode(values) if values is not None else None,
            reason=None if status == "unique" else ledger.reason or status,
            solver=self.solver,
            queries=tuple(ledger.queries),
            texts=ledger.texts,
            opinions=self.opinions(ledger, values),
        )

    def opinions(self, ledger: _Ledger, values: Values | None) -> tuple[Opinion, ...]:
        """What others say of the same texts: nobody is asked here."""
        return ()

    def _decide(self, ledger: _Ledger) -> tuple[Literal["unique", "ambiguous", "infeasible"], Values | None]:
        spec = ledger.spec
        values = self._ask(ledger, "existence", spec.existence())
        if values is None:
            return "infeasible", None
        lowered = False
        for _ in range(self.rounds):
            rival = self._ask(ledger, "uniqueness", spec.existence() + spec.block(values))
            if rival is None:
                break
            if spec.goal == "answer":
                return "ambiguous", None
            if spec.goal == "least":
                lowered = True
                members = {name: bool(values[name] and rival[name]) for name in spec.terms}
                values = {**rival, **members}
            elif rival[spec.cost or ""] < values[spec.cost or ""]:
                values = rival
            else:
                # As cheap as the witness means a tie only if nothing is cheaper than both.
                cheaper = self._ask(ledger, "existence", spec.existence() + spec.cheaper(values))
                if cheaper is None:
                    return "ambiguous", None
                values = cheaper
        else:
            ledger.reason = "rounds"
            raise _Undecided
        if lowered and self._ask(ledger, "existence", spec.existence() + spec.exactly(values)) is None:
            # The meet of all models is no model itself: the rules are not closed under intersection.
            return "ambiguous", None
        return "unique", values

    def _ask(self, ledger: _Ledger, kind: Literal["existence", "uniqueness"], text: str) -> Values | None:
        """The values of a model, or None for unsat. Raises _Undecided for everything else."""
        ledger.section(f"{kind} query {len(ledger.queries)}")
        answer = self.solve(text, ledger.spec)
        digest = text_digest(text)
        ledger.texts[digest] = text
        ledger.queries.append(
            Query(kind=kind, smt_sha256=digest, verdict=answer.verdict, resource_count=answer.resource_count)
        )
        if answer.reason is not None:
            ledger.reason = answer.reason
            raise _Undecided
        return answer.values

    def solve(self, text: str, spec: Spec) -> Answer:
        """One text in a fresh context; the verdict counts only within the budget and with a literal model."""
        import z3

        context = z3.Context()
        # The arithmetic pipeline pays for sums; Booleans and differences are faster without any.
        solver = z3.SolverFor(spec.logic, ctx=context) if spec.logic == "QF_LIA" else z3.SimpleSolver(ctx=context)
        solver.set("rlimit", self.resource_budget)
        solver.from_string(text)
        try:
            result = solver.check()
        except z3.Z3Exception as error:
            return Answer("unknown", reason=_failure(str(error)))
        count = int(solver.statistics().get_key_value("rlimit count"))
        if count > self.resource_budget:
            return Answer("unknown", resource_count=count, reason="over_budget")
        if result == z3.unsat:
            return Answer("unsat", resource_count=count)
        if result != z3.sat:
            return Answer("unknown", resource_count=count, reason=_failure(solver.reason_unknown()))
        values = read_model(solver.model().sexpr(), spec)
        if values is None:
            return Answer("unknown", resource_count=count, reason="unknown")
        return Answer("sat", values=values, resource_count=count)


def _failure(message: str) -> str:
    """The rejection reason behind a solver's own words."""
    if "resource" in message or "canceled" in message:
        return "over_budget"
    return "solver_memory" if "memory" in message else "unknown"


def read_model(text: str, spec: Spec) -> Values | None:
    """Values of all declared variables from a printed model; None unless every value in it is a literal.

    Against a value that is a term, blocking would compare a term with itself and prove anything. A variable that the
    model leaves out may have any value and gets 0 or false.
    """
    found = dict(_DEFINITION.findall(text))
    if len(found) != text.count("(define-fun "):
        return None
    values: dict[str, int | bool] = {}
    for name, sort in spec.declarations.items():
        printed = found.get(name, "false" if sort == "Bool" else "0")
        if (printed in ("true", "false")) != (sort == "Bool"):
            return None
        values[name] = printed == "true" if sort == "Bool" else int(printed.strip("()").replace(" ", ""))
    return values
