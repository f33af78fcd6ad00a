"""The three operators of the original proceval, for comparison.

Read generously: its documentation names `>` and `>=`, `==` and `!=`; `<` and `<=` are taken along.
"""

import ast
from collections.abc import Iterator, Sequence

from proceval.audit.operators.logic import compared
from proceval.audit.operators.operator import Edit, Example, Operator, Site

_FLIPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


class ComparisonFlip(Operator):
    """Strict for weak comparison, equality for inequality, and the reverse."""

    name = "comparison_flip"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.Compare):
            for place, op in enumerate(site.node.ops):
                if type(op) in _FLIPS:
                    yield Edit(f"{place}", compared(site.node, place, _FLIPS[type(op)]))

    def examples(self) -> Sequence[Example]:
        return [("a > b", ("a >= b",)), ("a == b", ("a != b",)), ("a in b", ())]


class PlusMinusOne(Operator):
    """`+ 1` for `- 1` and the reverse."""

    name = "plus_minus_one"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if isinstance(node, ast.BinOp) and _is_one(node.right) and isinstance(node.op, ast.Add | ast.Sub):
            yield Edit("swap", ast.BinOp(left=node.left, op=_other(node.op), right=node.right))
        if isinstance(node, ast.AugAssign) and _is_one(node.value) and isinstance(node.op, ast.Add | ast.Sub):
            yield Edit("swap", ast.AugAssign(target=node.target, op=_other(node.op), value=node.value))

    def examples(self) -> Sequence[Example]:
        return [("a + 1", ("a - 1",)), ("a -= 1", ("a += 1",)), ("a + 2", ())]


class BooleanFlag(Operator):
    """`True` for `False` and the reverse."""

    name = "boolean_flag"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.Constant) and isinstance(site.node.value, bool):
            yield Edit("flip", ast.Constant(value=not site.node.value))

    def examples(self) -> Sequence[Example]:
        return [("x = True", ("x = False",)), ("x = 1", ())]


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1 and not isinstance(node.value, bool)


def _other(op: ast.operator) -> ast.operator:
    return ast.Sub() if isinstance(op, ast.Add) else ast.Add()
