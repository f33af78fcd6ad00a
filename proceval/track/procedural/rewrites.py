"""Honest rewritings of a function, rule by rule; each finds its places and can carry itself out at one of them.

A rule keeps what the function returns for every input within the contract. That is tested, not trusted: whoever uses a
rewriting runs the result against the family's oracle.
"""

import ast
from collections.abc import Callable, Iterator

from proceval.track.procedural.flow import (
    binds,
    blocks,
    changes,
    effect_free,
    independent,
    leaves_loop,
    negated,
    reads,
    taken,
)

Places = Iterator[tuple[str, Callable[[], None]]]
"""(where, in words that also find the place in a twin of the code; what carries the rewriting out in the tree)."""
Rule = Callable[[ast.Module, ast.FunctionDef], Places]

_MIRROR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
}  # fmt: skip
_OTHER_NAMES = {
    "index": "position at", "left": "before prefix", "right": "after suffix", "low": "lo first", "high": "hi last",
    "middle": "mid half", "successors": "following outgoing", "tail": "source_vertex u", "head": "target_vertex v",
    "reached": "seen visited", "waiting": "stack pending", "vertex": "node current", "unseen": "indegree open_edges",
    "weight": "cost length", "distance": "best shortest", "previous": "parent came_from", "ready": "queue free",
    "through": "candidate total", "path": "route trail", "entering": "indegree blockers", "free": "heap available",
    "position": "round_number step", "ways": "counts paths", "following": "upcoming fresh", "state": "node here",
    "count": "number amount", "start": "origin first_pair", "symbol": "letter char", "pair": "both after",
    "label": "name_of number", "p": "in_a first", "q": "in_b second",
}  # fmt: skip

_NEW_NAMES = frozenset(" ".join(_OTHER_NAMES.values()).split()) - frozenset(_OTHER_NAMES)


def rename(module: ast.Module, function: ast.FunctionDef) -> Places:
    """Another name for a local variable."""
    used = taken(module)
    given = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    for old in dict.fromkeys(n.id for n in ast.walk(function) if isinstance(n, ast.Name)):
        if old not in binds(function) or old in given or old == "_":
            continue
        if old in _NEW_NAMES:
            continue
        for new in _OTHER_NAMES.get(old, f"the_{old}").split():
            if new not in used:
                names = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == old]

                def put(names: list[ast.Name] = names, new: str = new) -> None:
                    for node in names:
                        node.id = new

                yield f"{old} to {new}", put


def flip_comparison(module: ast.Module, function: ast.FunctionDef) -> Places:
    """`a < b` as `b > a`."""
    for path, node in _expressions(function):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _MIRROR and effect_free(node):

            def flip(node: ast.Compare = node) -> None:
                node.left, node.comparators = node.comparators[0], [node.left]
                node.ops = [_MIRROR[type(node.ops[0])]()]

            yield path, flip


def spell_out(module: ast.Module, function: ast.FunctionDef) -> Places:
    """`a += b` as `a = a + b`."""
    for path, block, number, node in _statements(function):
        if isinstance(node, ast.AugAssign) and effect_free(node.target):
            before = ast.parse(ast.unparse(node.target), mode="eval").body
            yield path, _put(block, number, ast.Assign([node.target], ast.BinOp(before, node.op, node.value)))


def drop_annotation(module: ast.Module, function: ast.FunctionDef) -> Places:
    """A variable without its type."""
    for path, block, number, node in _statements(function):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield path, _put(block, number, ast.Assign([node.target], node.value))


def loop_from_the_middle(module: ast.Module, function: ast.FunctionDef) -> Places:
    """`while c:` as `while True:` with a way out at its top."""
    for path, block, number, node in _statements(function):
        if isinstance(node, ast.While) and not node.orelse and not isinstance(node.test, ast.Constant):
            way_out = ast.If(negated(node.test), [ast.Break()], [])
            yield path, _put(block, number, ast.While(ast.Constant(True), [way_out, *node.body], []))


def count_by_hand(module: ast.Module, function: ast.FunctionDef) -> Places:
    """`for i in range(n):` as a while loop."""
    for path, block, number, node in _statements(function):
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=[end]), orelse=[]):
                inside, outside = _uses(node, name), _uses(function, name)
                if leaves_loop(node.body, (ast.Continue,)) or name in changes(ast.Module(node.body, [])) or name == "_":
                    continue
                if inside == outside and effect_free(end) and not reads(end) & changes(ast.Module(node.body, [])):
                    start = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(0))
                    step = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), ast.Constant(1))
                    test = ast.Compare(ast.Name(name, ast.Load()), [ast.Lt()], [end])
                    yield path, _put(block, number, start, ast.While(test, [*node.body, step], []))


def loop_by_index(module: ast.Module, function: ast.FunctionDef) -> Places:
    """`for x in xs:` as a loop over positions."""
    counter = next(name for name in ("i", "k", "place", "slot", "spot", "which") if name not in taken(module))
    for path, block, number, node in _statements(function):
        if not isinstance(node, ast.For) or node.orelse or not isinstance(node.iter, ast.Name | ast.Subscript):
            continue
        first = ast.Assign([node.target], ast.Subscript(node.iter, ast.Name(counter, ast.Load()), ast.Load()))
        if effect_free(node.iter) and not reads(node.iter) & changes(ast.Module([first, *node.body], [])):
            length = ast.Call(ast.Name("len", ast.Load()), [node.iter], [])
            over = ast.Call(ast.Name("range", ast.Load()), [length], [])
            yield path, _put(block, number, ast.For(ast.Name(counter, ast.Store()), over, [first, *node.body], []))


def swap_statements(module: ast.Module, function: ast.FunctionDef) -> Places:
    """Two neighbours that have nothing to do with each other, the other way round."""
    for path, block, number, node in _statements(function):
        after = block[number + 1] if number + 1 < len(block) else None
        if _simple(node) and _simple(after) and after is not None and independent(node, after):
            yield (
                path,
                lambda block=block, number=number: block.__setitem__(  # type: ignore[misc]
                    slice(number, number + 2), [block[number + 1], block[number]]
                ),
            )


def assign_together(module: ast.Module, function: ast.FunctionDef) -> Places:
    """`a = 1` and `b = 2` as `a, b = 1, 2`."""
    for path, block, number, _ in _statements(function):
        match block[number : number + 2]:
            case [ast.Assign([ast.Name() as a], x) as first, ast.Assign([ast.Name() as b], y) as second]:
                if independent(first, second):
                    both = ast.Tuple([a, b], ast.Store())
                    made = ast.Assign([both], ast.Tuple([x, y], ast.Load()))
                    yield (
                        path,
                        lambda block=block, number=number, made=made: block.__setitem__(  # type: ignore[misc]
                            slice(number, number + 2), [made]
                        ),
                    )


def turn_branches(module: ast.Module, function: ast.FunctionDef) -> Places:
    """`if c: A else: B` as `if not c: B else: A`."""
    for path, _, _, node in _statements(function):
        if isinstance(node, ast.If) and node.orelse:

            def turn(node: ast.If = node) -> None:
                node.test, node.body, node.orelse = negated(node.test), node.orelse, node.body

            yield path, turn


def leave_early(module: ast.Module, function: ast.FunctionDef) -> Places:
    """A loop whose last statement is an `if`: skip to the next round instead."""
    for path, _, _, node in _statements(function):
        if isinstance(node, ast.For) and isinstance(node.body[-1], ast.If) and not node.body[-1].orelse:

            def leave(loop: ast.For = node, last: ast.If = node.body[-1]) -> None:
                skip = ast.If(negated(last.test), [ast.Continue()], [])
                loop.body[-1:] = [skip, *last.body]

            yield path, leave


def nest_conditions(module: ast.Module, function: ast.FunctionDef) -> Places:
    """`if a and b:` as two ifs."""
    for path, block, number, node in _statements(function):
        match node:
            case ast.If(ast.BoolOp(ast.And(), [first, *rest]), body, []):
                test = rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)
                yield path, _put(block, number, ast.If(first, [ast.If(test, body, [])], []))


def name_result(module: ast.Module, function: ast.FunctionDef) -> Places:
    """The returned value gets a name first."""
    for path, block, number, node in _statements(function):
        if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Name):
            for name in ("result", "answer", "outcome", "found"):
                if name not in taken(module):
                    first = ast.Assign([ast.Name(name, ast.Store())], node.value)
                    yield f"{path} {name}", _put(block, number, first, ast.Return(ast.Name(name, ast.Load())))


def unfold_comprehension(module: ast.Module, function: ast.FunctionDef) -> Places:
    """A list made by a loop instead of a comprehension."""
    for path, block, number, node in _statements(function):
        match node:
            case ast.Assign([ast.Name(id=name) as target], ast.ListComp(item, [one])) | ast.AnnAssign(
                ast.Name(id=name) as target, value=ast.ListComp(item, [one])
            ):
                inner = binds(one.target) - {"_"}
                if inner & taken(ast.Module([s for s in function.body if s is not node], [])) or name in reads(node):
                    continue
                add = ast.Expr(ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [item], []))
                body: list[ast.stmt] = [add]
                for test in reversed(one.ifs):
                    body = [ast.If(test, body, [])]
                empty = ast.Assign([target], ast.List([], ast.Load()))
                yield path, _put(block, number, empty, ast.For(one.target, one.iter, body, []))


def _uses(node: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _simple(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)


def _put(block: list[ast.stmt], number: int, *made: ast.stmt) -> Callable[[], None]:
    return lambda: block.__setitem__(slice(number, number + 1), list(made))


def _statements(function: ast.FunctionDef) -> Iterator[tuple[str, list[ast.stmt], int, ast.stmt]]:
    for path, block in blocks(function):
        for number, statement in enumerate(block):
            yield f"{path}[{number}]", block, number, statement


def _expressions(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Every expression of the body with the statement's path and its own number in the statement."""
    for path, _, _, statement in _statements(function):
        number = 0
        for field, value in ast.iter_fields(statement):
            if field not in ("body", "orelse", "annotation") and isinstance(value, ast.expr):
                for node in ast.walk(value):
                    if isinstance(node, ast.expr):
                        yield f"{path} {field} {number}", node
                        number += 1


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        rename, flip_comparison, spell_out, drop_annotation, loop_from_the_middle, count_by_hand, loop_by_index,
        swap_statements, assign_together, turn_branches, leave_early, nest_conditions, name_result, unfold_comprehension,
    )
}  # fmt: skip
