"""Moves an expression of a function into a helper function of its own."""

import ast
from collections.abc import Iterator

from proceval.track.procedural.flow import binds, blocks, reads, taken
from proceval.track.procedural.rewrites import Places

_NAMES = {
    "test": ("_holds", "_applies", "_to_do"),
    "list": ("_collected", "_chosen", "_listed"),
    "value": ("_value", "_part", "_amount", "_entry"),
}
_LEAST_NODES = 4
"""Nodes of an expression that is worth a function."""


def extract_helper(module: ast.Module, function: ast.FunctionDef) -> Places:
    """An expression becomes a function of the names that it reads."""
    used = taken(module)
    known = binds(function) | {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    for path, parent, field, node in _candidates(function):
        kind = "test" if field == "test" else "list" if isinstance(node, ast.ListComp) else "value"
        for name in _NAMES[kind]:
            if name not in used:
                own = {n for c in ast.walk(node) if isinstance(c, ast.comprehension) for n in binds(c.target)}
                given = sorted((reads(node) - own) & known)

                def move(
                    parent: ast.AST = parent,
                    field: str = field,
                    node: ast.expr = node,
                    name: str = name,
                    given: list[str] = given,
                ) -> None:
                    call = ast.Call(ast.Name(name, ast.Load()), [ast.Name(one, ast.Load()) for one in given], [])
                    setattr(parent, field, call)
                    text = f"def {name}({', '.join(given)}):\n    return 0"
                    helper = ast.parse(text).body[0]
                    assert isinstance(helper, ast.FunctionDef)
                    helper.body = [ast.Return(node)]
                    module.body.insert(module.body.index(function), helper)

                yield f"{path}.{field} {name}", move


def _candidates(function: ast.FunctionDef) -> Iterator[tuple[str, ast.AST, str, ast.expr]]:
    for path, block in blocks(function):
        for number, statement in enumerate(block):
            for field in ("value", "test", "iter"):
                node = getattr(statement, field, None)
                if isinstance(node, ast.expr) and not isinstance(statement, ast.Expr) and _worth(node):
                    yield f"{path}[{number}]", statement, field, node


def _worth(node: ast.expr) -> bool:
    size = sum(isinstance(n, ast.expr) for n in ast.walk(node))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("range", "enumerate"):
        return False
    odd = (ast.NamedExpr, ast.Yield, ast.Lambda)
    return size >= _LEAST_NODES and not any(isinstance(n, odd) for n in ast.walk(node))
