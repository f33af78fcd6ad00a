"""Operators that are measured and reported, and never withhold a problem.

Most of their mutants are equivalent, or differ only on inputs of a special size: `is` for `==` shows above 256.
"""

import ast
from collections.abc import Iterator, Sequence

from proceval.audit.operators.logic import RELATIONS, compared
from proceval.audit.operators.operator import Edit, Example, Operator, Site, shifted


def _reads(site: Site) -> bool:
    """Whether the node reads a variable as a value: not a callee, not the owner of an attribute."""
    if not isinstance(site.node, ast.Name) or not isinstance(site.node.ctx, ast.Load):
        return False
    return not (isinstance(site.parent, ast.Call) and site.field == "func") and not isinstance(
        site.parent, ast.Attribute
    )


class Variable(Operator):
    """Another parameter or local variable."""

    name = "variable"

    def edits(self, site: Site) -> Iterator[Edit]:
        if _reads(site) and isinstance(site.node, ast.Name) and site.node.id in site.variables:
            for other in site.variables:
                if other != site.node.id:
                    yield Edit(other, ast.Name(id=other, ctx=ast.Load()))

    def examples(self) -> Sequence[Example]:
        return [("x = a", ("x = b", "x = c", "x = x"))]


class Insertion(Operator):
    """A minus, or one more or less, on a variable."""

    name = "insertion"

    def edits(self, site: Site) -> Iterator[Edit]:
        if _reads(site) and isinstance(site.node, ast.Name):
            yield Edit("-", ast.UnaryOp(op=ast.USub(), operand=site.node))
            yield Edit("+1", shifted(site.node, 1))
            yield Edit("-1", shifted(site.node, -1))

    def examples(self) -> Sequence[Example]:
        return [("x = a", ("x = -a", "x = a + 1", "x = a - 1")), ("a()", ())]


class Identity(Operator):
    """Identity, or its opposite, for an ordering or equality."""

    name = "identity"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.Compare):
            for place, op in enumerate(site.node.ops):
                if type(op) in RELATIONS:
                    yield Edit(f"{place}: is", compared(site.node, place, ast.Is))
                    yield Edit(f"{place}: is not", compared(site.node, place, ast.IsNot))

    def examples(self) -> Sequence[Example]:
        return [("a == b", ("a is b", "a is not b")), ("a < b", ("a is b", "a is not b")), ("a in b", ())]


class Reversal(Operator):
    """A loop in the other direction: nearly always equivalent, and good material for review cases."""

    name = "reversal"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if isinstance(node, ast.For):
            walk = ast.Call(func=ast.Name(id="list", ctx=ast.Load()), args=[node.iter], keywords=[])
            back = ast.Call(func=ast.Name(id="reversed", ctx=ast.Load()), args=[walk], keywords=[])
            yield Edit("for", ast.For(target=node.target, iter=back, body=node.body, orelse=node.orelse))

    def examples(self) -> Sequence[Example]:
        return [("for a in b:\n    c()", ("for a in reversed(list(b)):\n    c()",))]
