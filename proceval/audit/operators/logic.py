"""Comparisons, connectors and conditions."""

import ast
from collections.abc import Iterator, Sequence

from proceval.audit.operators.operator import Edit, Example, Operator, Site

RELATIONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def compared(node: ast.Compare, place: int, by: type[ast.cmpop]) -> ast.Compare:
    """The comparison with the operator at `place` exchanged."""
    ops = [by() if i == place else op for i, op in enumerate(node.ops)]
    return ast.Compare(left=node.left, ops=ops, comparators=node.comparators)


class Relation(Operator):
    """Every ordering or equality into every other."""

    name = "relation"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.Compare):
            for place, op in enumerate(site.node.ops):
                for other, symbol in RELATIONS.items() if type(op) in RELATIONS else ():
                    if other is not type(op):
                        yield Edit(f"{place}: {symbol}", compared(site.node, place, other))

    def examples(self) -> Sequence[Example]:
        return [
            ("a < b", ("a <= b", "a > b", "a >= b", "a == b", "a != b")),
            ("a == b", ("a < b", "a <= b", "a > b", "a >= b", "a != b")),
            ("a in b", ()),
        ]


class Membership(Operator):
    """`in` and `not in`, `is` and `is not`."""

    name = "membership"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.Compare):
            for place, op in enumerate(site.node.ops):
                if type(op) in OPPOSITES:
                    yield Edit(f"{place}", compared(site.node, place, OPPOSITES[type(op)]))

    def examples(self) -> Sequence[Example]:
        return [("a in b", ("a not in b",)), ("a is not None", ("a is None",)), ("a < b", ())]


class Connector(Operator):
    """`and` for `or` and the reverse."""

    name = "connector"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.BoolOp):
            other = ast.Or() if isinstance(site.node.op, ast.And) else ast.And()
            yield Edit("swap", ast.BoolOp(op=other, values=site.node.values))

    def examples(self) -> Sequence[Example]:
        return [("a and b", ("a or b",)), ("a or b or c", ("a and b and c",))]


class Conjunct(Operator):
    """One operand of an `and` or `or` left out."""

    name = "conjunct"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.BoolOp):
            for place in range(len(site.node.values)):
                rest = site.node.values[:place] + site.node.values[place + 1 :]
                yield Edit(f"drop {place}", rest[0] if len(rest) == 1 else ast.BoolOp(op=site.node.op, values=rest))

    def examples(self) -> Sequence[Example]:
        return [("a and b", ("b", "a")), ("a or b or c", ("b or c", "a or c", "a or b"))]


class Condition(Operator):
    """A condition negated, or settled in advance."""

    name = "condition"

    def edits(self, site: Site) -> Iterator[Edit]:
        if site.is_condition and isinstance(site.node, ast.expr):
            yield Edit("not", ast.UnaryOp(op=ast.Not(), operand=site.node))
            yield Edit("True", ast.Constant(value=True))
            yield Edit("False", ast.Constant(value=False))

    def examples(self) -> Sequence[Example]:
        return [
            ("x = a if b else c", ("x = a if not b else c", "x = a if True else c", "x = a if False else c")),
            ("while a:\n    b()", ("while not a:\n    b()", "while True:\n    b()", "while False:\n    b()")),
            ("[x for x in a if b]", ("[x for x in a if not b]", "[x for x in a if True]", "[x for x in a if False]")),
        ]
