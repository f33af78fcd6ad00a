"""Slips of the pen: programs that differ from a right one in a single place, as a careless author's would."""

import ast
import copy
from collections.abc import Callable, Iterator

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
}  # fmt: skip


def slips(source: str) -> list[str]:
    """Every program one slip away from `source`, in source order; empty when it does not parse.

    Some may still be right, and some may not end: a slip is an edit, not a proof of being wrong.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []
    for number, node in enumerate(ast.walk(tree)):
        for edit in _edits(node):
            twin = copy.deepcopy(tree)
            edit(list(ast.walk(twin))[number])
            found.append(ast.unparse(twin))
    return found


def _edits(node: ast.AST) -> Iterator[Callable[[ast.AST], None]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARE:
        other = _COMPARE[type(node.ops[0])]
        yield lambda twin: twin.ops.__setitem__(0, other())  # type: ignore[attr-defined]
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _BINARY:
        operator = _BINARY[type(node.op)]
        yield lambda twin: setattr(twin, "op", operator())
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield lambda twin: setattr(twin, "op", swapped())
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        value = node.value
        yield lambda twin: setattr(twin, "value", value + 1)
