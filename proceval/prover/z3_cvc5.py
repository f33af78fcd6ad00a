"""Z3's proof, decided once more by cvc5 (Barbosa et al., 2022) on the same bytes."""

import importlib.metadata
from collections.abc import Mapping
from typing import Any, Literal

from proceval.errors import Finding
from proceval.protocols import Section
from proceval.prover.z3 import Z3, Session
from proceval.schema import Opinion
from proceval.smt import Values

Verdict = Literal["sat", "unsat", "unknown"]

WITNESS_FACTOR = 5
"""Checking a witness needs no search: it may spend more units, which then are short ones."""


class Z3Cvc5(Z3):
    """Z3 first; what it proves unique goes to cvc5, whose disagreement stops the run.

    Existence is asked with the witness asserted too, so that cvc5 judges that very answer. `second_budget` is in cvc5's
    own resource units for each query; beyond it cvc5 has no opinion, which is recorded and rejects nothing. Needs the
    extra `cvc5`: ImportError names it.
    """

    name = "z3_cvc5"

    def __init__(self, *, resource_budget: int, rounds: int, second_budget: int, limits: Mapping[str, Any]):
        super().__init__(resource_budget=resource_budget, rounds=rounds, limits=limits)
        self.second_budget = second_budget
        try:
            self.second = f"cvc5 {importlib.metadata.version('cvc5')}"
        except importlib.metadata.PackageNotFoundError as error:
            raise ImportError("prover=z3_cvc5 needs cvc5: pip install 'proceval[cvc5]'") from error

    def opinions(self, session: Session, values: Values, answer: object) -> tuple[Opinion, ...]:
        spec = session.spec
        witnessed = session.text("existence") + spec.exactly(values)
        existence = self._ask(witnessed, "existence", session.section, WITNESS_FACTOR * self.second_budget)
        uniqueness = self._ask(session.text("uniqueness"), "uniqueness", session.section, self.second_budget)
        if existence == "unsat" or uniqueness == "sat":
            raise Finding(
                f"{self.solver} proves the answer {answer!r} unique, {self.second} says {existence} to its existence "
                f"and {uniqueness} to a rival"
            )
        second = Opinion(by=self.second, existence=existence, uniqueness=uniqueness)
        return (second, *super().opinions(session, values, answer))

    def _ask(self, text: str, kind: str, section: Section, budget: int) -> Verdict:
        """cvc5's verdict on a text within the budget. Raises ValueError for a text that it cannot read."""
        import cvc5

        section(f"cvc5 {kind} query")
        solver = cvc5.Solver()
        solver.setOption("rlimit", str(budget))
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, kind)
        symbols = parser.getSymbolManager()
        while not (command := parser.nextCommand()).isNull():
            printed = str(command.invoke(solver, symbols)).strip()
            if printed not in ("", "success"):
                raise ValueError(f"cvc5 cannot read the {kind} query: {printed[:200]}")
        result = solver.checkSat()
        return "sat" if result.isSat() else "unsat" if result.isUnsat() else "unknown"
