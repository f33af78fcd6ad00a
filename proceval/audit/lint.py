"""Reference lint: statements that no input within the contract ever reaches.

Such a statement is dead weight in a reference, and every mutant of it survives every test.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from proceval.protocols import Instance

_HIT = "__hit__"


@dataclass(frozen=True)
class Idle:
    """A statement that was never executed."""

    line: int
    text: str
    """Its first line."""


def idle_statements(reference: str, entry_point: str, instances: Iterable[Instance]) -> list[Idle]:
    """Statements of a trusted reference that none of the instances executes, in source order.

    Runs in this process and without a step budget: the instances must meet the reference's contract.
    """
    tree = ast.parse(reference)
    statements: list[ast.stmt] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = _marked(node.body, statements)
    reached: set[int] = set()
    names: dict[str, object] = {"__name__": "linted", _HIT: reached.add}
    exec(compile(ast.fix_missing_locations(tree), "<reference>", "exec"), names)
    function = names[entry_point]
    assert callable(function)
    for instance in instances:
        function(**ast.literal_eval(repr(instance)))
        if len(reached) == len(statements):
            return []
    missed = [statements[number] for number in range(len(statements)) if number not in reached]
    return sorted((Idle(s.lineno, ast.unparse(s).split("\n")[0]) for s in missed), key=lambda idle: idle.line)


def _marked(body: list[ast.stmt], statements: list[ast.stmt]) -> list[ast.stmt]:
    """The block with a mark before each statement, and the blocks inside its statements likewise."""
    marked: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            marked.append(statement)
            continue
        call = ast.Call(ast.Name(_HIT, ast.Load()), [ast.Constant(len(statements))], [])
        statements.append(statement)
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            for field in ("body", "orelse", "finalbody"):
                if getattr(statement, field, None):
                    setattr(statement, field, _marked(getattr(statement, field), statements))
            for handler in getattr(statement, "handlers", []):
                handler.body = _marked(handler.body, statements)
        marked += [ast.copy_location(ast.Expr(call), statement), statement]
    return marked
