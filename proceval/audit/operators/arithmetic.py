"""Sums, products and signs. No operator makes a power or a left shift: one of those can run for hours inside C."""

import ast
import copy
from collections.abc import Iterator, Sequence

from proceval.audit.operators.operator import Edit, Example, Operator, Site

NUMERIC: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Div: "/",
}  # fmt: skip
BITWISE: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


def siblings(op: ast.operator) -> Iterator[tuple[type[ast.operator], str]]:
    """The operators of the same kind, without the operator itself."""
    for kind in (NUMERIC, BITWISE):
        if type(op) in kind:
            yield from ((other, symbol) for other, symbol in kind.items() if other is not type(op))


class Arithmetic(Operator):
    """Every arithmetic operator into every other, every bitwise one into every other.

    Repeating a list literal is left alone: `[0] - n` and the like only raise.
    """

    name = "arithmetic"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if isinstance(node, ast.BinOp) and not isinstance(node.left, ast.List) and not isinstance(node.right, ast.List):
            for other, symbol in siblings(node.op):
                yield Edit(symbol, ast.BinOp(left=node.left, op=other(), right=node.right))

    def examples(self) -> Sequence[Example]:
        return [
            ("a + b", ("a - b", "a * b", "a // b", "a % b", "a / b")),
            ("a & b", ("a | b", "a ^ b")),
            ("a ** b", ()),
            ("[0] * a", ()),
        ]


class Operand(Operator):
    """One side of a binary operation alone."""

    name = "operand"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.BinOp):
            yield Edit("left", site.node.left)
            yield Edit("right", site.node.right)

    def examples(self) -> Sequence[Example]:
        return [("a - b", ("a", "b")), ("(a + b) // c", ("a + b", "c", "a // c", "b // c"))]


class Augmented(Operator):
    """Another operator in an augmented assignment, or a plain assignment."""

    name = "augmented"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if isinstance(node, ast.AugAssign):
            for other, symbol in siblings(node.op):
                yield Edit(f"{symbol}=", ast.AugAssign(target=node.target, op=other(), value=node.value))
            yield Edit("=", ast.Assign(targets=[copy.deepcopy(node.target)], value=node.value))

    def examples(self) -> Sequence[Example]:
        return [("a += b", ("a -= b", "a *= b", "a //= b", "a %= b", "a /= b", "a = b")), ("a <<= b", ("a = b",))]


class Unary(Operator):
    """A `not`, minus or complement left out; the sign of a literal belongs to `constant`."""

    name = "unary"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if isinstance(node, ast.UnaryOp) and (
            isinstance(node.op, ast.Not) or not isinstance(node.operand, ast.Constant)
        ):
            yield Edit("drop", node.operand)

    def examples(self) -> Sequence[Example]:
        return [("not a", ("a",)), ("-a", ("a",)), ("~a", ("a",)), ("-1", ())]
