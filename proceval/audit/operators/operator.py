"""What an operator is, and the place in the tree that it is shown."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Example = tuple[str, tuple[str, ...]]
"""(statement inside a function, everything the operator makes of it, in order)."""


@dataclass(frozen=True)
class Site:
    """One node of a function's body with its surroundings."""

    node: ast.AST
    parent: ast.AST
    field: str
    """Name of the parent's field that holds the node."""
    variables: tuple[str, ...]
    """Parameters and local names of the innermost function, sorted."""

    @property
    def is_condition(self) -> bool:
        """True for the test of an if, a while or a conditional expression, and for a comprehension's filter."""
        tested = self.field == "test" and isinstance(self.parent, ast.If | ast.While | ast.IfExp)
        return tested or self.field == "ifs"

    @property
    def is_statement(self) -> bool:
        """True for a statement that stands in a block."""
        return isinstance(self.node, ast.stmt) and self.field in ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Edit:
    """One replacement for a site's node; `detail` is unique among an operator's edits of one site."""

    detail: str
    node: ast.AST


class Operator(ABC):
    """A way to be wrong in one place."""

    name: str

    @abstractmethod
    def edits(self, site: Site) -> Iterator[Edit]:
        """Replacements for the node, made of new nodes around the old ones; nothing is changed in place."""

    @abstractmethod
    def examples(self) -> Sequence[Example]: ...


def number(value: int) -> ast.expr:
    """An integer literal as the parser would give it: negative ones are a minus before a constant."""
    if value < 0:
        return ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=-value))
    return ast.Constant(value=value)


def shifted(node: ast.expr, by: int) -> ast.expr:
    """`node + 1` or `node - 1`."""
    return ast.BinOp(left=node, op=ast.Add() if by > 0 else ast.Sub(), right=ast.Constant(value=1))
