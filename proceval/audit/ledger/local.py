"""Edits of one expression that cannot matter: obligations made from the code itself, and a watch on real runs.

For an entry with an invariant, `obligation` turns the invariant and both versions of the expression into SMT-LIB, so
that no hand stands between the mutant and the proof; `watched` rewrites the reference so that every visit of the place
checks the invariant, and that both versions agree.
"""

import ast

from proceval.audit.mutate import apply, edits
from proceval.audit.template import TIERS

_RELATIONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "="}
_SUMS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_OPAQUE = (ast.Name, ast.Subscript, ast.Attribute)


def obligation(invariant: str, before: str, after: str) -> str:
    """A script with one query that must be unsat: the invariant holds and the two expressions differ.

    Names, elements and attributes are any integers, equal where their text is equal. Raises ValueError for anything but
    comparisons, connectors, sums and products of these.
    """
    names: dict[str, str] = {}
    given, old, new = (_term(ast.parse(text, mode="eval").body, names) for text in (invariant, before, after))
    declared = [f"(declare-const {name} Int) ; {text}" for text, name in names.items()]
    claims = [f"(assert {given})", f"(assert (not (= {old} {new})))"]
    query = [f"; expect unsat: {before} and {after} agree where {invariant}", "(check-sat)", ""]
    return "\n".join([*declared, *claims, *query])


def _term(node: ast.expr, names: dict[str, str]) -> str:
    if isinstance(node, _OPAQUE):
        return names.setdefault(ast.unparse(node), f"v{len(names)}")
    if isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        return str(node.value).lower()
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return f"({'not' if isinstance(node.op, ast.Not) else '-'} {_term(node.operand, names)})"
    if isinstance(node, ast.BoolOp):
        word = "and" if isinstance(node.op, ast.And) else "or"
        return f"({word} {' '.join(_term(value, names) for value in node.values)})"
    if isinstance(node, ast.BinOp) and type(node.op) in _SUMS:
        return f"({_SUMS[type(node.op)]} {_term(node.left, names)} {_term(node.right, names)})"
    if isinstance(node, ast.Compare):
        sides = [_term(side, names) for side in (node.left, *node.comparators)]
        links = [_link(op, *pair) for op, pair in zip(node.ops, zip(sides, sides[1:], strict=False), strict=True)]
        return links[0] if len(links) == 1 else f"(and {' '.join(links)})"
    raise ValueError(f"no integer or truth value can be made of {ast.unparse(node)}")


def _link(op: ast.cmpop, left: str, right: str) -> str:
    if isinstance(op, ast.NotEq):
        return f"(not (= {left} {right}))"
    if type(op) not in _RELATIONS:
        raise ValueError(f"no relation of integers: {type(op).__name__}")
    return f"({_RELATIONS[type(op)]} {left} {right})"


def watched(source: str, mutant: str, invariant: str) -> str:
    """The reference's text with a check at the mutant's place; it raises AssertionError where the claim is false.

    Raises ValueError for an unknown mutant or one that is not the edit of an expression.
    """
    tree = ast.parse(source)
    for identity, _, place, edit in edits(source, tree, list(TIERS.values())):
        if identity == mutant:
            node, new = place.site.node, edit.node
            if not isinstance(node, ast.expr) or not isinstance(new, ast.expr):
                break
            claim = f"({invariant}) and (({ast.unparse(node)}) == ({ast.unparse(new)}))"
            text = f"({ast.unparse(node)}) if ({claim}) else [].__watch_found_a_lie__"
            return apply(tree, place, ast.parse(text, mode="eval").body)
    raise ValueError(f"{mutant} is no edit of an expression of this reference")
