"""What a piece of code reads, writes and may change: enough to rewrite it without changing what it does."""

import ast
import builtins
import keyword
from collections.abc import Iterator

PURE = frozenset(
    {"len", "sum", "min", "max", "abs", "range", "sorted", "reversed", "enumerate", "list", "set", "tuple"}
)
"""Calls that change nothing and always give the same for the same arguments."""

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def reads(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def binds(node: ast.AST) -> set[str]:
    """Names that are given another value."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def changes(node: ast.AST) -> set[str]:
    """Names that are bound, or whose object may be changed by an assignment to its parts or by a method call."""
    found = binds(node)
    for n in ast.walk(node):
        if isinstance(n, ast.Subscript | ast.Attribute) and not isinstance(n.ctx, ast.Load):
            found |= reads(n)
        if isinstance(n, ast.Call) and not (isinstance(n.func, ast.Name) and n.func.id in PURE):
            found |= reads(n)
    return found


def effect_free(node: ast.AST) -> bool:
    """Whether it may be evaluated at another time or twice."""
    return not any(
        isinstance(n, ast.Call) and not (isinstance(n.func, ast.Name) and n.func.id in PURE)
        or isinstance(n, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await | ast.Lambda)
        for n in ast.walk(node)
    )  # fmt: skip


def independent(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether two statements give the same in either order."""
    return not (changes(first) & (reads(second) | changes(second)) or changes(second) & reads(first))


def negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def leaves_loop(body: list[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> bool:
    """Whether a break or continue (as `kinds` says) in this body belongs to the loop around it."""
    return any(_jumps(statement, kinds) for statement in body)


def _jumps(node: ast.AST, kinds: tuple[type[ast.stmt], ...]) -> bool:
    if isinstance(node, kinds):
        return True
    if isinstance(node, ast.For | ast.While | ast.FunctionDef):
        return False
    return any(_jumps(child, kinds) for child in ast.iter_child_nodes(node))


def taken(module: ast.Module) -> set[str]:
    """Every name that a new one must not be."""
    found = set(dir(builtins)) | set(keyword.kwlist)
    for node in ast.walk(module):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
    return found


def blocks(node: ast.AST, path: str = "") -> Iterator[tuple[str, list[ast.stmt]]]:
    """Every list of statements below a node with the path to it, outermost first."""
    for field in ("body", "orelse"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield f"{path}.{field}", block
            for number, statement in enumerate(block):
                yield from blocks(statement, f"{path}.{field}[{number}]")
