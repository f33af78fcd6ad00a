"""Existence and uniqueness by Z3 (de Moura and Bjørner, 2008), decided by its own work counter."""

import importlib.metadata
import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from proceval.errors import Finding, InputError
from proceval.protocols import Proof, Section
from proceval.prover import propagation
from proceval.schema import Opinion, Query, Status
from proceval.seeding import canonical, text_digest
from proceval.smt import DATA_CHARACTERS, Argument, Spec, Values

Kind = Literal["existence", "uniqueness"]

_DEFINITION = re.compile(r"\(define-fun (\S+) \(\) (?:Bool|Int)\s+(true|false|\d+|\(- \d+\))\)")

PIPELINE_VARIABLES = 100
"""From here on sums go through Z3's pipeline for linear arithmetic; below, its start-up costs more than it saves."""

PRINTED_TERMS = 50
"""From here on a model is read from its printed form, which is cheaper than one evaluation per term."""


class Undecided(Exception):
    """A query came back without a verdict that counts; the message is the rejection reason."""


class Z3:
    """Z3 in a fresh context per problem, so that counters and models are the same in any order and process.

    A query counts only if its resource count is within `resource_budget`; a clock decides nothing. `rounds` bounds the
    descent to a least set or a least cost. `limits` (cpu_s, wall_s, memory_bytes) are for the worker around this.
    """

    name = "z3"

    def __init__(self, *, resource_budget: int, rounds: int, limits: Mapping[str, Any]):
        for key, value in (("resource_budget", resource_budget), ("rounds", rounds)):
            if type(value) is not int or not 1 <= value < 2**32:
                raise InputError(f"prover.{key} is {value!r}; allowed is an integer from 1 to {2**32 - 1}")
        self.resource_budget = resource_budget
        self.rounds = rounds
        self.limits = dict(limits)

    @cached_property
    def solver(self) -> str:
        return f"z3 {importlib.metadata.version('z3-solver')}"

    def certify(self, spec: Spec, section: Section) -> Proof:
        """Existence, then uniqueness by blocking; never raises for a solver's failure."""
        session = Session(spec, section, self.resource_budget)
        status: Status
        values: Values | None = None
        reason: str | None
        try:
            status, values = descend(session, self.rounds)
            reason = None if status == "unique" else status
        except Undecided as undecided:
            status, reason = "unknown", str(undecided)
        answer = None if values is None else spec.decode(values)
        return Proof(
            status=status,
            answer=answer,
            reason=reason,
            solver=self.solver,
            queries=tuple(session.queries),
            texts=session.texts,
            opinions=() if values is None else self.opinions(session, values, answer),
            data=session.data,
        )

    def opinions(self, session: "Session", values: Values, answer: object) -> tuple[Opinion, ...]:
        """What others say of a proved answer: here a propagator and a direct argument, neither of them a solver.

        Raises errors.Finding when one contradicts the proof.
        """
        spec = session.spec
        found = []
        if spec.logic == "QF_UF" and len(spec.terms) == len(spec.declarations):
            found.append(by_propagation(session.text("existence"), session.text("uniqueness"), values))
        if spec.evidence is not None:
            found.append(by_argument(spec.evidence, values, answer, session.data))
        return tuple(found)


def by_propagation(existence: str, uniqueness: str, values: Values) -> Opinion:
    """The witness put into the first text, and unit propagation on the second. Raises Finding for a false witness."""
    if not propagation.holds(existence, values):
        raise Finding("the solver's witness breaks a rule of its own specification")
    refuted = propagation.refuted(uniqueness)
    return Opinion(by="propagation", existence="checked", uniqueness="checked" if refuted else "unknown")


def by_argument(argument: Argument, values: Values, answer: object, data: dict[str, str]) -> Opinion:
    """The family's own data on this witness, kept in `data` for whoever checks later. Raises Finding if they fail."""
    by, digest, evidence = f"direct: {argument.name}", None, None
    if argument.find is not None:
        text = canonical(argument.find(values))
        if len(text) > DATA_CHARACTERS:
            return Opinion(by=by, existence="not_run", uniqueness="not_run")
        digest = text_digest(text)
        data[digest] = text
        evidence = json.loads(text)
    if not argument.check(answer, evidence):
        raise Finding(f"the {argument.name} certificate refutes the proved answer {answer!r}")
    return Opinion(by=by, existence="checked", uniqueness="checked", data_sha256=digest)


def descend(session: "Session", rounds: int) -> tuple[Status, Values | None]:
    """The witness that nothing undercuts: at once for an answer, by steps for a least set or a least cost."""
    spec = session.spec
    values = session.ask("existence", spec.existence())
    if values is None:
        return "infeasible", None
    for _ in range(rounds):
        rival = session.ask("uniqueness", spec.existence() + spec.block(values))
        if rival is None:
            return "unique", values
        if spec.goal == "answer":
            return "ambiguous", None
        if spec.goal == "least":
            values = {name: bool(values[name] and rival[name]) for name in spec.terms}
            if session.ask("existence", spec.existence() + spec.exactly(values)) is None:
                # The meet of two models is no model: the rules are not Horn, so there is no least set.
                return "ambiguous", None
        elif rival[spec.cost or ""] < values[spec.cost or ""]:
            values = rival
        else:
            # As cheap as the witness means a tie only if nothing is cheaper than both.
            cheaper = session.ask("existence", spec.existence() + spec.cheaper(values))
            if cheaper is None:
                return "ambiguous", None
            values = cheaper
    raise Undecided("rounds")


class Session:
    """The queries of one proof in one fresh context. `ask` raises Undecided for all but sat and unsat within budget."""

    def __init__(self, spec: Spec, section: Section, resource_budget: int):
        import z3

        self.spec, self.section, self.resource_budget = spec, section, resource_budget
        self.queries: list[Query] = []
        self.texts: dict[str, str] = {}
        self.data: dict[str, str] = {}
        self._z3 = z3
        self._context = z3.Context()
        self._solver: Any = None
        self._asserted = ""
        self._spent = 0

    def ask(self, kind: Kind, text: str) -> Values | None:
        """Values of the goal's variables in a model of the text, or None for unsat."""
        self.section(f"{kind} query {len(self.queries)}")
        self._load(text)
        reason = None
        try:
            verdict = str(self._solver.check())
        except self._z3.Z3Exception as error:
            verdict, reason = "unknown", _failure(str(error))
        count = self._count()
        if count > self.resource_budget:
            verdict, reason = "unknown", "over_budget"
        elif verdict not in ("sat", "unsat"):
            verdict, reason = "unknown", reason or _failure(self._solver.reason_unknown())
        digest = text_digest(text)
        self.texts[digest] = text
        self.queries.append(Query(kind=kind, smt_sha256=digest, verdict=verdict, resource_count=count))  # type: ignore[arg-type]
        if reason is not None:
            raise Undecided(reason)
        return self._values() if verdict == "sat" else None

    def text(self, kind: Kind) -> str:
        """The text of the last query of a kind: for a unique answer, the ones that prove it."""
        return next(self.texts[query.smt_sha256] for query in reversed(self.queries) if query.kind == kind)

    def _load(self, text: str) -> None:
        """Brings the solver to exactly this text: on top of what it holds where that is a beginning, else anew."""
        if self._asserted and text.startswith(self._asserted):
            self._solver.from_string(text[len(self._asserted) :])
        else:
            arithmetic = self.spec.logic == "QF_LIA" and len(self.spec.declarations) >= PIPELINE_VARIABLES
            make = self._z3.SolverFor if arithmetic else self._z3.SimpleSolver
            self._solver = make(*([self.spec.logic] if arithmetic else []), ctx=self._context)
            self._solver.set("rlimit", self.resource_budget)
            self._solver.from_string(text)
        self._asserted = text

    def _count(self) -> int:
        """Work since the last query, by the context's own counter."""
        spent = int(self._solver.statistics().get_key_value("rlimit count"))
        count, self._spent = spent - self._spent, spent
        return count

    def _values(self) -> Values:
        spec, model = self.spec, self._solver.model()
        names = [*spec.terms, *([spec.cost] if spec.cost else [])]
        if len(names) >= PRINTED_TERMS:
            return read_model(model.sexpr(), spec, names)
        values: dict[str, int | bool] = {}
        for name in names:
            sort = self._z3.Bool if spec.declarations[name] == "Bool" else self._z3.Int
            value = model.eval(sort(name, self._context), model_completion=True)
            if self._z3.is_int_value(value):
                values[name] = value.as_long()
            elif self._z3.is_true(value) or self._z3.is_false(value):
                values[name] = self._z3.is_true(value)
            else:
                raise Undecided("unknown")  # a term: blocking it would compare it with itself and prove anything
        return values


def read_model(text: str, spec: Spec, names: list[str]) -> Values:
    """Values from a printed model. Raises Undecided where a value is a term and not a literal.

    A variable that the model leaves out may have any value and gets 0 or false.
    """
    found = dict(_DEFINITION.findall(text))
    if len(found) != text.count("(define-fun "):
        raise Undecided("unknown")
    values: dict[str, int | bool] = {}
    for name in names:
        if spec.declarations[name] == "Bool":
            values[name] = found.get(name, "false") == "true"
        else:
            values[name] = int(found.get(name, "0").strip("()").replace(" ", ""))
    return values


def _failure(message: str) -> str:
    """The rejection reason behind a solver's own words."""
    if "resource" in message or "canceled" in message:
        return "over_budget"
    return "solver_memory" if "memory" in message else "unknown"
