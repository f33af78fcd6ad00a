"""Literals."""

import ast
from collections.abc import Iterator, Sequence

from proceval.audit.operators.operator import Edit, Example, Operator, Site, number


class Constant(Operator):
    """Off by one, zero, one, other sign; a flag flipped, a text emptied.

    A literal with its minus is one constant. Keys of a dictionary that is returned are texts like any other.
    """

    name = "constant"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        value = node.operand if negative and isinstance(node, ast.UnaryOp) else node
        signed = isinstance(site.parent, ast.UnaryOp) and isinstance(site.parent.op, ast.USub)
        if not isinstance(value, ast.Constant) or signed or isinstance(site.parent, ast.Expr):
            return
        if isinstance(value.value, bool) and not negative:
            yield Edit(str(not value.value), ast.Constant(value=not value.value))
        elif isinstance(value.value, int) and not isinstance(value.value, bool):
            old = -value.value if negative else value.value
            for new in sorted({old + 1, old - 1, 0, 1, -old} - {old}):
                yield Edit(str(new), number(new))
        elif isinstance(value.value, float):
            old_float = -value.value if negative else value.value
            for new_float in sorted({old_float + 1, old_float - 1, 0.0, -old_float} - {old_float}):
                yield Edit(str(new_float), _real(new_float))
        elif isinstance(value.value, str):
            yield from _texts(value.value)

    def examples(self) -> Sequence[Example]:
        return [
            ("x = 0", ("x = -1", "x = 1")),
            ("x = -1", ("x = -2", "x = 0", "x = 1")),
            ("x = 2", ("x = -2", "x = 0", "x = 1", "x = 3")),
            ("x = True", ("x = False",)),
            ("x = 0.5", ("x = -0.5", "x = 0.0", "x = 1.5")),
            ("x = float('inf')", ("x = float('')", "x = float('-inf')")),
            ("x = None", ()),
            ("'a remark'", ()),
        ]


def _real(value: float) -> ast.expr:
    return ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=-value)) if value < 0 else ast.Constant(value=value)


def _texts(old: str) -> Iterator[Edit]:
    if old:
        yield Edit("empty", ast.Constant(value=""))
    if old == "inf":
        yield Edit("-inf", ast.Constant(value="-inf"))
