"""Statements: deleted, cut short, or returning something else."""

import ast
from collections.abc import Iterator, Sequence

from proceval.audit.operators.operator import Edit, Example, Operator, Site, number, shifted

_KEPT = (
    ast.Pass,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Nonlocal,
    ast.Global,
)


class Deletion(Operator):
    """A statement, or the else of an if, left out; `pass` stands in its place."""

    name = "deletion"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if not site.is_statement or isinstance(node, _KEPT):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return
        yield Edit("statement", ast.Pass())
        if isinstance(node, ast.If) and node.orelse and not isinstance(node.orelse[0], ast.If):
            yield Edit("else", ast.If(test=node.test, body=node.body, orelse=[]))

    def examples(self) -> Sequence[Example]:
        return [
            ("x = a", ("pass",)),
            ("import b", ()),
            ("if a:\n    pass\nelse:\n    b()", ("pass", "if a:\n    pass", "if a:\n    pass\nelse:\n    pass")),
        ]


class ReturnValue(Operator):
    """`None`, zero, or one more or less than what should be returned."""

    name = "return_value"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if not isinstance(node, ast.Return) or node.value is None:
            return
        value = node.value
        inner = value.operand if isinstance(value, ast.UnaryOp) else value
        if not (isinstance(inner, ast.Constant) and inner.value is None):
            yield Edit("None", ast.Return(value=ast.Constant(value=None)))
        if isinstance(inner, ast.Constant):
            return  # the constant operator has these
        yield Edit("0", ast.Return(value=number(0)))
        if not isinstance(value, ast.Dict | ast.List | ast.Tuple | ast.Set | ast.ListComp | ast.JoinedStr):
            yield Edit("+1", ast.Return(value=shifted(value, 1)))
            yield Edit("-1", ast.Return(value=shifted(value, -1)))

    def examples(self) -> Sequence[Example]:
        return [
            ("return a", ("return None", "return 0", "return a + 1", "return a - 1")),
            ("return -1", ("return None",)),
            ("return [a]", ("return None", "return 0")),
        ]


class LoopOnce(Operator):
    """A loop that is left at the end of its first pass."""

    name = "loop_once"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if isinstance(node, ast.While):
            yield Edit("while", ast.While(test=node.test, body=[*node.body, ast.Break()], orelse=node.orelse))
        elif isinstance(node, ast.For):
            body = [*node.body, ast.Break()]
            yield Edit("for", ast.For(target=node.target, iter=node.iter, body=body, orelse=node.orelse))

    def examples(self) -> Sequence[Example]:
        return [
            ("while a:\n    b()", ("while a:\n    b()\n    break",)),
            ("for a in b:\n    c()", ("for a in b:\n    c()\n    break",)),
        ]


class Leave(Operator):
    """`break` for `continue` and the reverse."""

    name = "leave"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.Break):
            yield Edit("continue", ast.Continue())
        elif isinstance(site.node, ast.Continue):
            yield Edit("break", ast.Break())

    def examples(self) -> Sequence[Example]:
        return [
            ("while a:\n    break", ("while a:\n    continue",)),
            ("for a in b:\n    continue", ("for a in b:\n    break",)),
        ]
