"""From a reference's text to its mutants: single-site edits with ids that survive edits elsewhere."""

import ast
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proceval.audit.operators import Edit, Operator, Site

_UNTOUCHED = frozenset({"annotation", "returns", "decorator_list", "type_params", "type_comment"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Place:
    """A site and its address: what has to stay the same for a mutant's id to stay the same."""

    site: Site
    index: int | None
    """Position in the parent's field where that is a list."""
    address: str
    """Scope, statement header, occurrence of that header in the scope, and path inside the statement."""


def places(tree: ast.Module) -> list[Place]:
    """Everything that may be edited, in source order: function bodies, defaults and module-level assignments.

    Docstrings, annotations, decorators, imports and f-strings are not.
    """
    found: list[Place] = []
    for index, node in enumerate(tree.body):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Assign, ast.AugAssign, ast.AnnAssign)):
            _Walk(found, "", ()).visit(node, tree, "body", index)
    return found


class _Walk:
    """One scope of the walk: a function, a class or the module."""

    def __init__(self, found: list[Place], scope: str, variables: tuple[str, ...]) -> None:
        self.found, self.scope, self.variables = found, scope, variables
        self.seen: dict[str, int] = {}
        self.statement, self.path = "", ""

    def visit(self, node: ast.AST, parent: ast.AST, field: str, index: int | None) -> None:
        if _is_remark(node) or isinstance(
            node, ast.JoinedStr | ast.expr_context | ast.operator | ast.cmpop | ast.unaryop
        ):
            return
        outer = self.statement, self.path
        if isinstance(node, ast.stmt):
            header = _header(node)
            self.seen[header] = self.seen.get(header, 0) + 1
            self.statement, self.path = f"{header}#{self.seen[header]}", ""
        else:
            self.path += f".{field}" + ("" if index is None else f"[{index}]")
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self._enter(node)
        else:
            address = f"{self.scope}|{self.statement}|{self.path}"
            self.found.append(Place(Site(node, parent, field, self.variables), index, address))
            self._children(node)
        self.statement, self.path = outer

    def _children(self, node: ast.AST) -> None:
        for field, value in ast.iter_fields(node):
            if field in _UNTOUCHED:
                continue
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    self.visit(child, node, field, index)

    def _enter(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        if not isinstance(node, ast.ClassDef):
            for field in ("defaults", "kw_defaults"):
                for index, default in enumerate(getattr(node.args, field)):
                    if default is not None:
                        self.visit(default, node.args, field, index)
        variables = self.variables if isinstance(node, ast.ClassDef) else tuple(sorted(_locals(node)))
        inner = _Walk(self.found, f"{self.scope}.{node.name}".lstrip("."), variables)
        for index, child in enumerate(node.body):
            inner.visit(child, node, "body", index)


def _is_remark(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _locals(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    names = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    for child in node.body:
        names |= {
            x.id for x in ast.walk(child) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store) and x.id != "_"
        }
    return names


def _header(node: ast.stmt) -> str:
    """The statement's own text; a compound one without its blocks."""
    return ast.unparse(node).split("\n", 1)[0] if hasattr(node, "body") else ast.unparse(node)


@dataclass(frozen=True)
class Candidate:
    """One mutant of one reference, as text."""

    id: str
    """`<template>:<operator>:<site>:<detail>`: 12 and 8 hex digits of SHA-256 for template and site."""
    operator: str
    line: int
    column: int
    before: str
    after: str
    text: str
    """The whole mutated module in normal form (`ast.unparse`)."""
    twin: str | None
    """Id of an earlier mutant with the same code, `reference` for the reference itself, or None."""


def edits(
    source: str, tree: ast.Module, tiers: Sequence[Sequence[Operator]]
) -> Iterator[tuple[str, Operator, Place, Edit]]:
    """(mutant id, operator, place in the tree, edit), tier after tier and each in source order."""
    template = hashlib.sha256(source.encode()).hexdigest()[:12]
    sites = [(place, hashlib.sha256(place.address.encode()).hexdigest()[:8]) for place in places(tree)]
    for operators in tiers:
        for place, site in sites:
            for operator in operators:
                for edit in operator.edits(place.site):
                    yield f"{template}:{operator.name}:{site}:{edit.detail}", operator, place, edit


def candidates(source: str, tiers: Sequence[Sequence[Operator]]) -> list[Candidate]:
    """All mutants of a source, tier after tier, so that a mutant's twin is never of a later tier.

    Raises SyntaxError for a source that does not parse.
    """
    tree = ast.parse(source)
    seen = {_key(ast.unparse(tree)): "reference"}
    found = []
    for identity, operator, place, edit in edits(source, tree, tiers):
        text = apply(tree, place, edit.node)
        key = _key(text)
        at = place.site.node if hasattr(place.site.node, "lineno") else place.site.parent
        found.append(
            Candidate(
                id=identity,
                operator=operator.name,
                line=getattr(at, "lineno", 1),
                column=getattr(at, "col_offset", 0),
                before=ast.unparse(place.site.node),
                after=ast.unparse(edit.node),
                text=text,
                twin=seen.get(key),
            )
        )
        seen.setdefault(key, identity)
    return found


def apply(tree: ast.Module, place: Place, node: ast.AST) -> str:
    """The module's text with another node in one place; the tree is as before when this returns."""
    site = place.site
    block = getattr(site.parent, site.field)
    ast.fix_missing_locations(node)
    try:
        if place.index is None:
            setattr(site.parent, site.field, node)
        else:
            block[place.index] = node
        return ast.unparse(tree)
    finally:
        if place.index is None:
            setattr(site.parent, site.field, site.node)
        else:
            block[place.index] = site.node


def _key(text: str) -> str:
    """Equal for texts that are the same program to the compiler: `not a in b` is `a not in b`."""
    try:
        return ast.dump(_Normal().visit(ast.parse(text)))
    except SyntaxError:
        return text


class _Normal(ast.NodeTransformer):
    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Compare) and len(inner.ops) == 1:
            turned = {ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}.get(
                type(inner.ops[0])
            )
            if turned:
                return ast.Compare(left=inner.left, ops=[turned()], comparators=inner.comparators)
        return node
