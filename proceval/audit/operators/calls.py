"""Calls: another function, another method, other arguments."""

import ast
from collections.abc import Iterator, Sequence

from proceval.audit.operators.operator import Edit, Example, Operator, Site, number, shifted

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "min": ("max",), "max": ("min",), "any": ("all",), "all": ("any",), "sum": ("max", "len"),
    "sorted": ("list",), "reversed": ("list",),
}  # fmt: skip
METHODS: dict[str, tuple[str, ...]] = {
    "append": ("appendleft",), "appendleft": ("append",), "popleft": ("pop",), "pop": ("popleft",),
    "add": ("discard",), "remove": ("discard",), "startswith": ("endswith",), "endswith": ("startswith",),
    "union": ("intersection",), "intersection": ("union",), "heappush": (), "heappop": (),
}  # fmt: skip
WRAPPERS = frozenset({"sorted", "set", "list", "abs", "reversed", "deque", "sum", "len", "min", "max", "int", "tuple"})


def called(node: ast.AST) -> tuple[str | None, str | None]:
    """(function name, None) for `f(...)`, (None, method name) for `x.f(...)`."""
    if not isinstance(node, ast.Call):
        return None, None
    if isinstance(node.func, ast.Name):
        return node.func.id, None
    return None, node.func.attr if isinstance(node.func, ast.Attribute) else None


class Call(Operator):
    """A builtin for its opposite."""

    name = "call"

    def edits(self, site: Site) -> Iterator[Edit]:
        function, _ = called(site.node)
        if function and isinstance(site.node, ast.Call):
            for other in FUNCTIONS.get(function, ()):
                name = ast.Name(id=other, ctx=ast.Load())
                yield Edit(other, ast.Call(func=name, args=site.node.args, keywords=site.node.keywords))

    def examples(self) -> Sequence[Example]:
        return [("min(a)", ("max(a)",)), ("sum(a)", ("max(a)", "len(a)")), ("f(a)", ())]


class Method(Operator):
    """A method for the one next to it: the other end of a queue, a set's opposite, `pop(0)` for `pop()`."""

    name = "method"

    def edits(self, site: Site) -> Iterator[Edit]:
        _, method = called(site.node)
        if method and isinstance(site.node, ast.Call) and isinstance(site.node.func, ast.Attribute):
            call, owner = site.node, site.node.func.value
            for other in METHODS.get(method, ()):
                changed = ast.Attribute(value=owner, attr=other, ctx=ast.Load())
                yield Edit(other, ast.Call(func=changed, args=call.args, keywords=call.keywords))
            if method == "pop" and not call.args:
                yield Edit("pop(0)", ast.Call(func=call.func, args=[number(0)], keywords=[]))

    def examples(self) -> Sequence[Example]:
        return [
            ("a.popleft()", ("a.pop()",)),
            ("a.pop()", ("a.popleft()", "a.pop(0)")),
            ("a.add(b)", ("a.discard(b)",)),
        ]


class Keyword(Operator):
    """A keyword argument left out."""

    name = "keyword"

    def edits(self, site: Site) -> Iterator[Edit]:
        if isinstance(site.node, ast.Call):
            for place, keyword in enumerate(site.node.keywords):
                if keyword.arg:
                    rest = site.node.keywords[:place] + site.node.keywords[place + 1 :]
                    yield Edit(keyword.arg, ast.Call(func=site.node.func, args=site.node.args, keywords=rest))

    def examples(self) -> Sequence[Example]:
        return [("min(a, key=b)", ("min(a)",)), ("f(a, **b)", ())]


class Unwrap(Operator):
    """The argument in place of the call around it."""

    name = "unwrap"

    def edits(self, site: Site) -> Iterator[Edit]:
        function, _ = called(site.node)
        call = site.node
        if function in WRAPPERS and isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
            yield Edit(str(function), call.args[0])

    def examples(self) -> Sequence[Example]:
        return [("sorted(a)", ("a",)), ("sorted(a, key=b)", ()), ("f(a)", ())]


class Arguments(Operator):
    """Two positional arguments in the other order."""

    name = "arguments"

    def edits(self, site: Site) -> Iterator[Edit]:
        call = site.node
        if isinstance(call, ast.Call) and len(call.args) == 2 and not call.keywords:
            yield Edit("swap", ast.Call(func=call.func, args=call.args[::-1], keywords=[]))

    def examples(self) -> Sequence[Example]:
        return [("f(a, b)", ("f(b, a)",)), ("f(a, b, c)", ())]


class RangeArguments(Operator):
    """A range that starts or stops one off."""

    name = "range"

    def edits(self, site: Site) -> Iterator[Edit]:
        call = site.node
        if called(call)[0] != "range" or not isinstance(call, ast.Call) or not call.args:
            return
        stop = min(len(call.args) - 1, 1)
        places = [("stop", stop)] + ([("start", 0)] if stop else [])
        for label, place in places:
            for by in (1, -1):
                arguments = [shifted(a, by) if i == place else a for i, a in enumerate(call.args)]
                yield Edit(f"{label}{by:+d}", ast.Call(func=call.func, args=arguments, keywords=[]))
        if not stop:
            yield Edit("start=1", ast.Call(func=call.func, args=[number(1), call.args[0]], keywords=[]))

    def examples(self) -> Sequence[Example]:
        return [
            ("range(a)", ("range(a + 1)", "range(a - 1)", "range(1, a)")),
            ("range(a, b)", ("range(a, b + 1)", "range(a, b - 1)", "range(a + 1, b)", "range(a - 1, b)")),
        ]
