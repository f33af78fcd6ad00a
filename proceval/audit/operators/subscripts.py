"""Subscripts and slices."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from proceval.audit.operators.operator import Edit, Example, Operator, Site, shifted


class Index(Operator):
    """The next or the previous element. A text key is left alone: that only raises."""

    name = "index"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice | ast.Tuple):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                return
            for by in (1, -1):
                yield Edit(f"{by:+d}", ast.Subscript(value=node.value, slice=shifted(node.slice, by), ctx=node.ctx))

    def examples(self) -> Sequence[Example]:
        return [("a[b]", ("a[b + 1]", "a[b - 1]")), ("a['b']", ()), ("a[b:]", ())]


class SliceBound(Operator):
    """A bound of a slice one off, or left out."""

    name = "slice"

    def edits(self, site: Site) -> Iterator[Edit]:
        node = site.node
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
            return
        bounds: dict[str, Any] = {"lower": node.slice.lower, "upper": node.slice.upper, "step": node.slice.step}
        for bound, value in bounds.items():
            if value is not None:
                for label, other in (("drop", None), ("+1", shifted(value, 1)), ("-1", shifted(value, -1))):
                    changed = ast.Slice(**{**bounds, bound: other})
                    yield Edit(f"{bound} {label}", ast.Subscript(value=node.value, slice=changed, ctx=node.ctx))

    def examples(self) -> Sequence[Example]:
        return [("a[b:]", ("a[:]", "a[b + 1:]", "a[b - 1:]")), ("a[b]", ())]
