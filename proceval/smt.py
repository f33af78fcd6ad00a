"""The text builder with which a family writes its specification as SMT-LIB.

A family declares variables, asserts labelled rules and names exactly one goal. The existence and uniqueness queries are
derived here and nowhere else, so a family can neither weaken nor forget one. The text is what is solved, hashed, stored
and re-checked: the same bytes for every solver.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Value = int | bool
Values = Mapping[str, Value]
"""A model: variable name -> value."""

Checker = Callable[[Any, Any], bool]
"""(answer, data) -> whether the data prove that the answer is right and the only one."""

DATA_CHARACTERS = 1 << 22
"""Longest JSON text that a certificate stores as the data of a direct argument."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def integer(value: int) -> str:
    """An integer literal; SMT-LIB has no negative numerals."""
    return str(value) if value >= 0 else f"(- {-value})"


def literal(value: int | bool) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else integer(value)


def conj(terms: Sequence[str]) -> str:
    return "true" if not terms else terms[0] if len(terms) == 1 else f"(and {' '.join(terms)})"


def disj(terms: Sequence[str]) -> str:
    return "false" if not terms else terms[0] if len(terms) == 1 else f"(or {' '.join(terms)})"


def total(terms: Sequence[str]) -> str:
    """The sum of terms, `0` when there are none."""
    return "0" if not terms else terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})"


@dataclass(frozen=True)
class Argument:
    """Evidence that needs no solver: `find` makes it from the witness, `check` needs nothing but the instance and it."""

    name: str
    check: Checker
    find: Callable[[Values], Any] | None
    """Returns a JSON value; None where the answer is all the evidence there is."""


@dataclass
class Spec:
    """One specification: SMT-LIB declarations, labelled rules, and one goal."""

    logic: str
    declarations: dict[str, Literal["Bool", "Int"]] = field(default_factory=dict)
    rules: list[tuple[str, str]] = field(default_factory=list)
    """(label, term): the label says in words what the rule demands; rules of one label stand and fall together."""
    goal: Literal["answer", "least", "minimise"] | None = None
    terms: tuple[str, ...] = ()
    cost: str | None = None
    decode: Callable[[Values], object] = lambda values: None
    evidence: Argument | None = None

    def bool(self, name: str) -> str:
        return self._declare(name, "Bool")

    def int(self, name: str) -> str:
        return self._declare(name, "Int")

    def rule(self, label: str, term: str) -> None:
        self.rules.append((label, term))

    def answer(self, terms: Sequence[str], decode: Callable[[Values], object]) -> None:
        """The answer is the value of these variables in any model; uniqueness: no model gives them other values."""
        self._goal("answer", terms, decode)

    def least(self, terms: Sequence[str], decode: Callable[[Values], object]) -> None:
        """The answer is the least set among the models (true = member); uniqueness: no model misses a member.

        Sound only where models are closed under intersection (Horn rules).
        """
        self._goal("least", terms, decode)

    def minimise(self, cost: str, terms: Sequence[str], decode: Callable[[Values], object]) -> None:
        """The answer is the model of least `cost`; uniqueness: no other values of `terms` cost as little."""
        self.cost = cost
        self._goal("minimise", terms, decode)

    def direct(self, name: str, check: Checker, find: Callable[[Values], Any] | None = None) -> None:
        """Evidence beside the solver's: data that are stored, and a few lines that check them against the instance.

        The data may come from anywhere, the solver or an algorithm: nothing is believed of them that `check` does not see.
        """
        self.evidence = Argument(name, check, find)

    def existence(self, *, skip: str | None = None) -> str:
        """The query whose model is the witness; `skip` leaves out the rules of one label (vacuity checks)."""
        lines = [f"(set-logic {self.logic})"]
        lines += [f"(declare-const {name} {sort})" for name, sort in self.declarations.items()]
        label = None
        for rule_label, term in self.rules:
            if rule_label == skip:
                continue
            if rule_label != label:
                lines.append(f"; {rule_label}")
                label = rule_label
            lines.append(f"(assert {term})")
        return "\n".join(lines) + "\n"

    def block(self, values: Values) -> str:
        """The assertion that a rival of the witness exists: with it, `unsat` means that the answer is unique."""
        same = conj([self._equals(name, values[name]) for name in self.terms])
        if self.goal == "least":
            missed = disj([f"(not {name})" for name in self.terms if values[name]])
            return f"; a model that misses a member of the witness\n(assert {missed})\n"
        text = f"; a model that differs from the witness\n(assert (not {same}))\n"
        if self.goal == "minimise":
            assert self.cost is not None
            bound = f"(assert (<= {self.cost} {literal(values[self.cost])}))"
            text = f"; at most as costly as the witness\n{bound}\n" + text
        return text

    def cheaper(self, values: Values) -> str:
        """The assertion that a model costs less than the witness."""
        if self.cost is None:
            raise ValueError("only a specification that minimises has a cost")
        return f"; a model that is cheaper than the witness\n(assert (< {self.cost} {literal(values[self.cost])}))\n"

    def exactly(self, values: Values) -> str:
        """The assertion that the goal's variables have just the witness's values."""
        return f"; the witness itself\n(assert {conj([self._equals(name, values[name]) for name in self.terms])})\n"

    @staticmethod
    def _equals(name: str, value: Value) -> str:
        if isinstance(value, bool):
            return name if value else f"(not {name})"
        return f"(= {name} {integer(value)})"

    def _declare(self, name: str, sort: Literal["Bool", "Int"]) -> str:
        if not _NAME.match(name) or name in self.declarations:
            raise ValueError(f"variable {name!r} is declared twice or is not a plain name")
        self.declarations[name] = sort
        return name

    def _goal(
        self, goal: Literal["answer", "least", "minimise"], terms: Sequence[str], decode: Callable[[Values], object]
    ) -> None:
        if self.goal is not None:
            raise ValueError("a specification has exactly one goal")
        missing = [t for t in (*terms, *([self.cost] if self.cost else [])) if t not in self.declarations]
        if missing:
            raise ValueError(f"goal over undeclared variables {missing}")
        if not terms:
            raise ValueError("a goal needs at least one variable")
        self.goal, self.terms, self.decode = goal, tuple(terms), decode
