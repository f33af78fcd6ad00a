"""A proof that needs no solver: unit propagation alone refutes the blocked query of a Boolean specification.

This file is all that has to be trusted for it: a parser, a translation into clauses (Tseitin, 1968) and propagation
with counters (Dowling and Gallier, 1984). It knows nothing of families, reads nothing but the text that was hashed, and
imports nothing. A conflict found by propagation is a refutation; no conflict says nothing.
"""

from collections.abc import Mapping
from typing import Any

Term = Any
"""A symbol, or a list whose first element is the operator."""


def parse(text: str) -> list[Term]:
    """The commands of an SMT-LIB text as nested lists. Raises ValueError for unbalanced parentheses."""
    stack: list[list[Term]] = [[]]
    lines = (line.split(";")[0] for line in text.splitlines())
    for token in " ".join(lines).replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            done = stack.pop()
            stack[-1].append(done)
        elif token == ")":
            raise ValueError("a parenthesis too many")
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise ValueError("a parenthesis too few")
    return stack[0]


def holds(text: str, values: Mapping[str, int | bool]) -> bool:
    """Whether every assertion of a Boolean text is true under these values of all its variables."""

    def value(term: Term) -> bool:
        if isinstance(term, str):
            return term == "true" or (term != "false" and values[term] is True)
        operator, *parts = term
        if operator == "not":
            return not value(parts[0])
        if operator == "and":
            return all(map(value, parts))
        if operator == "or":
            return any(map(value, parts))
        if operator == "=>" and len(parts) == 2:
            return not value(parts[0]) or value(parts[1])
        if operator == "=" and len(parts) == 2:
            return value(parts[0]) == value(parts[1])
        raise ValueError(f"operator {operator!r} is not Boolean")

    return all(value(command[1]) for command in parse(text) if command[0] == "assert")


class Clauses:
    """Clauses over literals 1, 2, ... and their negations -1, -2, ..."""

    def __init__(self, text: str):
        self.numbers: dict[str, int] = {}
        self.names = 0
        self.clauses: list[list[int]] = []
        for command in parse(text):
            if command[0] == "declare-const" and command[2] == "Bool":
                self.numbers[command[1]] = self._name()
            elif command[0] == "assert":
                self._assert(command[1])
            elif command[0] != "set-logic":
                raise ValueError(f"command {command[0]!r} is not of the Boolean fragment")

    def _name(self) -> int:
        self.names += 1
        return self.names

    def _assert(self, term: Term) -> None:
        """A conjunction becomes its parts, a disjunction one clause."""
        kind, parts = _disjunction(term)
        if kind == "and":
            for part in parts:
                self._assert(part)
        else:
            self.clauses.append([self._literal(part) for part in parts])

    def _literal(self, term: Term) -> int:
        """A literal equivalent to the term."""
        if isinstance(term, str) and term not in ("true", "false"):
            return self.numbers[term]
        if term[0] == "not":
            return -self._literal(term[1])
        kind, parts = _disjunction(term)
        sign = 1 if kind == "or" else -1
        literals = [sign * self._literal(part) for part in parts]
        name = self._name()
        self.clauses.append([-name, *literals])
        self.clauses += [[name, -literal] for literal in literals]
        return sign * name


def _disjunction(term: Term) -> tuple[str, list[Term]]:
    """The term as `or` or `and` of parts; a single part where it is neither."""
    if term == "true":
        return "and", []
    if term == "false":
        return "or", []
    if isinstance(term, str):
        return "or", [term]
    operator, *parts = term
    if operator in ("and", "or"):
        return operator, parts
    if operator == "=>" and len(parts) == 2:
        return "or", [["not", parts[0]], parts[1]]
    if operator == "=" and len(parts) == 2:
        return "and", [["=>", parts[0], parts[1]], ["=>", parts[1], parts[0]]]
    if operator == "not" and len(parts) == 1:
        below = parts[0]
        if isinstance(below, str) and below not in ("true", "false"):
            return "or", [term]
        if below[0] == "not":
            return _disjunction(below[1])
        inner, below = _disjunction(below)
        return ("and" if inner == "or" else "or"), [["not", part] for part in below]
    raise ValueError(f"operator {operator!r} is not Boolean")


def refuted(text: str) -> bool:
    """True when unit propagation alone finds a conflict: the text has no model. Raises ValueError outside Boolean."""
    clauses = [clause for clause in map(set, Clauses(text).clauses) if not any(-x in clause for x in clause)]
    holding: dict[int, list[int]] = {}
    for k, clause in enumerate(clauses):
        for literal in clause:
            holding.setdefault(literal, []).append(k)
    left = [len(clause) for clause in clauses]
    if 0 in left:
        return True
    true: set[int] = set()
    due = [next(iter(clause)) for clause in clauses if len(clause) == 1]
    while due:
        literal = due.pop()
        if -literal in true:
            return True
        if literal in true:
            continue
        true.add(literal)
        for k in holding.get(-literal, ()):
            left[k] -= 1
            if left[k] == 0:
                return True
            if left[k] == 1:
                # The last literal that is not false; it may be true already, which does no harm.
                due.append(next(x for x in clauses[k] if -x not in true))
    return False
