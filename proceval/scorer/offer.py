"""What a piece of code offers as the entry point: a definition, a method, a function of another name, or only a use."""

import ast
import builtins
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from proceval.scorer.parsing import Parser


class Rank(IntEnum):
    """How much a program offers; lower is better."""

    DEFINED = 0
    METHOD = 1
    UNPARSABLE = 2
    IMPORTED = 3
    """It imports the entry point from elsewhere, or takes it from what it imports."""
    RENAMED = 4
    UNBOUND = 5
    """It binds the entry point from itself or from names that it does not have: it can only fail when run alone."""


@dataclass(frozen=True)
class Target:
    """What the program is asked to define."""

    entry_point: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Candidate:
    """A program that offers the entry point."""

    rank: Rank
    code: str
    suffix: str

    @property
    def is_use(self) -> bool:
        """Whether it only uses an entry point that another block defines."""
        return self.rank in (Rank.IMPORTED, Rank.UNBOUND)


def may_offer(code: str, target: Target) -> bool:
    """False where no part of the text can offer the entry point, which spares parsing it."""
    plain = code if code.isascii() else unicodedata.normalize("NFKC", code)  # as Python reads identifiers
    return target.entry_point in plain or "def" in plain


def candidate(code: str, target: Target, parser: Parser) -> Candidate | None:
    """What the code offers; its text changes only by a line behind it that makes the entry point callable."""
    if not may_offer(code, target):
        return None
    tree = parser.parse(code).tree
    if tree is None:
        name = re.escape(target.entry_point)
        defines = re.search(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{name}[ \t]*\(", code, re.MULTILINE)
        return Candidate(Rank.UNPARSABLE, code, "+unparsable") if defines else None
    statements = list(_top_level(tree.body))
    functions = [s for s in statements if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = [f for f in functions if f.name == target.entry_point]
    if named:
        return _bridged(Candidate(Rank.DEFINED, code, ""), named[-1].args, 0, target, target.entry_point)
    bound = _bound(statements, target.entry_point)
    if bound == Rank.DEFINED:
        return Candidate(bound, code, "")
    methods = [
        (c.name, m)
        for c in statements
        if isinstance(c, ast.ClassDef)
        for m in c.body
        if isinstance(m, ast.FunctionDef) and m.name == target.entry_point
    ]
    if len(methods) == 1:
        owner, method = methods[0]
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorator_list)
        made = Candidate(Rank.METHOD, code, "+method")
        return _bridged(made, method.args, 0 if static else 1, target, f"{owner}().{target.entry_point}")
    if bound is not None:
        return Candidate(bound, code, "")
    alike = [f for f in functions if len(f.args.posonlyargs + f.args.args) == len(target.parameters)]
    if len(alike) == 1 and not alike[0].name.startswith(("_", "test")) and alike[0].name != "main":
        return _bridged(Candidate(Rank.RENAMED, code, "+renamed"), alike[0].args, 0, target, alike[0].name)
    return None


def _bridged(made: Candidate, args: ast.arguments, bound: int, target: Target, callee: str) -> Candidate:
    """Append what makes the entry point callable by the names that the task gives; nothing above it changes."""
    names = [a.arg for a in (args.posonlyargs + args.args)[bound:]]
    keywords = [a.arg for a in args.args + args.kwonlyargs]
    by_name = args.kwarg is not None or all(p in keywords for p in target.parameters)
    wanted = ", ".join(target.parameters)
    if not by_name and (args.vararg or len(names) - len(args.defaults) <= len(target.parameters) <= len(names)):
        bridge = f"{target.entry_point} = (lambda call: lambda {wanted}: call({wanted}))({callee})"
        return Candidate(made.rank, f"{made.code}\n\n{bridge}\n", made.suffix + "+positional")
    if callee != target.entry_point:
        return Candidate(made.rank, f"{made.code}\n\n{target.entry_point} = {callee}\n", made.suffix)
    return made


def _top_level(body: Sequence[ast.stmt], depth: int = 20) -> Iterator[ast.stmt]:
    """Statements that run when the module does, also under if, try, with and loops; not a `__main__` guard."""
    for statement in body:
        yield statement
        if depth == 0 or isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(statement, ast.If) and _is_guard(statement.test):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from _top_level(getattr(statement, part, []), depth - 1)
        for handler in getattr(statement, "handlers", []):
            yield from _top_level(handler.body, depth - 1)


def _is_guard(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Constant) and node.value == "__main__" for node in ast.walk(test))


# ------------------------------------------------------------------------------------------------ bindings


def _bound(statements: Sequence[ast.stmt], name: str) -> Rank | None:
    """The best of the statements that bind the name, function definitions aside."""
    binding = [s for s in statements if name in _names(s)]
    if not binding:
        return None
    imported = {n for s in statements if isinstance(s, ast.Import | ast.ImportFrom) for n in _names(s)}
    defined = {n for s in statements if not isinstance(s, ast.Import | ast.ImportFrom) for n in _names(s)}
    available = defined | imported | set(dir(builtins))
    return min(_rank(s, name, imported - defined, None if "*" in imported else available) for s in binding)


def _rank(binding: ast.stmt, name: str, imported: set[str], available: set[str] | None) -> Rank:
    """What one binding is worth; `available` are the names that its value may use, None if they cannot be known."""
    if isinstance(binding, ast.ClassDef):
        return Rank.DEFINED
    if isinstance(binding, ast.Import | ast.ImportFrom):
        return Rank.IMPORTED
    value = binding.value if isinstance(binding, ast.Assign | ast.AnnAssign) else None
    if value is None:  # the variable of a loop, `+=`, an annotation alone
        return Rank.UNBOUND
    nodes = list(_evaluated(value))
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    local = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if name in read - local or (available is not None and not read - local <= available):
        return Rank.UNBOUND
    taken = {_root(node) for node in nodes if isinstance(node, ast.Attribute) and node.attr == name}
    return Rank.IMPORTED if taken & imported else Rank.DEFINED


def _names(statement: ast.stmt) -> set[str]:
    """Names that a statement binds in its module."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {statement.name}
    bound = list(getattr(statement, "targets", [])) + [getattr(statement, "target", None)]
    bound += [item.optional_vars for item in getattr(statement, "items", [])]
    found = (node for part in bound if part is not None for node in ast.walk(part))
    return {node.id for node in found if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _evaluated(value: ast.expr) -> Iterator[ast.AST]:
    """The nodes that are evaluated with the value; what a lambda does waits until it is called."""
    waiting: list[ast.AST] = [value]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.Lambda):
            waiting += [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
        else:
            waiting += ast.iter_child_nodes(node)


def _root(node: ast.expr) -> str:
    """The name at which a chain of attributes and calls begins, or an empty text."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""
