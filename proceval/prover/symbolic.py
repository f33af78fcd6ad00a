"""Runs two Python functions on integers that are left open, path by path, and asks Z3 where they differ (King, 1976).

The shape of the arguments is that of a seed; its integers are open as far as the functions only compute and compare with
them. An integer that is used as an index, a length or a key is put back to the seed's value. What is open keeps the
seed's sign and weak order, so that sorted stays sorted and positive stays positive.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Value = Any
"""A JSON value, or the same with open integers in it."""
Run = Callable[[Callable[[], dict[str, Value]]], tuple[str, Value]]
"""Calls a function on freshly made arguments: ("value", what it returned), or (how it failed, anything)."""
Address = tuple[str | int, ...]

RESOURCE_LIMIT = 2_000_000
"""Z3's work counter for one question."""


@dataclass(frozen=True)
class Explored:
    """How an exploration ended."""

    complete: bool
    """True when every path was walked to its end and every question was decided."""
    paths: int
    open_integers: int


class _Closed(Exception):
    """An open integer was used where only a known one can be."""


class _Undecided(Exception):
    """Z3 gave up on a branch."""


class _Path:
    """One way through both functions: the decisions taken so far, and the decisions left for later."""

    def __init__(self, prefix: list[bool], assumptions: list[Any], z3: Any, context: Any) -> None:
        self.z3 = z3
        self.prefix, self.taken, self.later = prefix, [], []  # type: tuple[list[bool], list[bool], list[list[bool]]]
        self.solver = z3.SimpleSolver(ctx=context)
        self.solver.set("rlimit", RESOURCE_LIMIT)
        self.solver.add(*assumptions)
        self.closed: set[Address] = set()
        self.undecided = False

    def decide(self, condition: Any) -> bool:
        condition = self.z3.simplify(condition)
        if self.z3.is_true(condition) or self.z3.is_false(condition):
            return bool(self.z3.is_true(condition))
        if len(self.taken) < len(self.prefix):
            answer = self.prefix[len(self.taken)]
        else:
            can, cannot = self.possible(condition), self.possible(self.z3.Not(condition))
            if can and cannot:
                self.later.append([*self.taken, False])
            answer = can
        self.taken.append(answer)
        self.solver.add(condition if answer else self.z3.Not(condition))
        return answer

    def possible(self, condition: Any) -> bool:
        verdict = str(self.solver.check(condition))
        if verdict == "unknown":
            self.undecided = True
            raise _Undecided
        return verdict == "sat"


class _Truth:
    """A condition on open integers; asking whether it holds forks the path."""

    def __init__(self, path: _Path, term: Any) -> None:
        self.path, self.term = path, term

    def __bool__(self) -> bool:
        return self.path.decide(self.term)


class Number:
    """An open integer, or a sum or product of such."""

    __slots__ = ("addresses", "path", "term")

    def __init__(self, path: _Path, term: Any, addresses: frozenset[Address]) -> None:
        self.path, self.term, self.addresses = path, term, addresses

    def _with(self, other: Any, make: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, Number):
            return Number(self.path, make(self.term, other.term), self.addresses | other.addresses)
        if type(other) in (int, bool):
            return Number(self.path, make(self.term, int(other)), self.addresses)
        return self.close()

    def _against(self, other: Any, make: Callable[[Any, Any], Any], otherwise: bool | None = None) -> Any:
        if isinstance(other, Number):
            return _Truth(self.path, make(self.term, other.term))
        if type(other) in (int, bool):
            return _Truth(self.path, make(self.term, int(other)))
        return self.close() if otherwise is None else otherwise

    def close(self) -> Any:
        """Give up on leaving this integer open: the exploration starts anew with the seed's value for it."""
        self.path.closed |= self.addresses
        raise _Closed

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self.close() if type(other) in (list, tuple, str) else self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return Number(self.path, -self.term, self.addresses)

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b) if type(other) is int and other > 0 else self.close()

    def __mod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a % b) if type(other) is int and other > 0 else self.close()

    def __lt__(self, other: Any) -> Any:
        return self._against(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._against(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._against(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._against(other, lambda a, b: a >= b)

    def __eq__(self, other: object) -> Any:
        return self._against(other, lambda a, b: a == b, otherwise=False)

    def __ne__(self, other: object) -> Any:
        return self._against(other, lambda a, b: a != b, otherwise=True)

    def __bool__(self) -> bool:
        return self.path.decide(self.term != 0)

    def _unusable(self, *_: Any) -> Any:
        return self.close()

    __hash__ = __index__ = __int__ = __float__ = __truediv__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _unusable
    __pow__ = __rpow__ = __lshift__ = __rshift__ = __and__ = __or__ = __xor__ = __invert__ = __abs__ = _unusable


def differences(
    first: Run, second: Run, seed: Mapping[str, Value], most_paths: int
) -> Iterator[dict[str, Value] | Explored]:
    """Arguments, concrete and of the seed's shape, on which the two may differ; at the end an Explored.

    Only the functions themselves, run on the arguments, can confirm a difference. When `complete` and nothing was
    yielded, they agree on all integers of the seed's sign and weak order, wherever the first returns a value.
    """
    import z3

    closed: set[Address] = set()
    while True:
        explorer = _Explorer(z3, first, second, seed, closed)
        work: list[list[bool]] = [[]]
        paths, complete = 0, True
        while work and paths < most_paths and not explorer.closed - closed:
            found, path = explorer.walk(work.pop())
            paths += 1
            complete = complete and not path.undecided
            work += path.later
            if found is not None and not path.closed:
                yield found
        if not explorer.closed - closed:
            yield Explored(complete and not work, paths, len(explorer.variables))
            return
        closed |= explorer.closed


class _Explorer:
    """Walks paths for one choice of open integers."""

    def __init__(self, z3: Any, first: Run, second: Run, seed: Mapping[str, Value], closed: set[Address]) -> None:
        self.z3, self.first, self.second, self.seed = z3, first, second, seed
        self.context = z3.Context()
        self.closed: set[Address] = set()
        seeds = [(address, value) for address, value in _integers(seed, ()) if address not in closed]
        self.variables = {address: z3.Int(f"x{number}", self.context) for number, (address, _) in enumerate(seeds)}
        chain = sorted(seeds, key=lambda pair: pair[1])
        order = [self.variables[a] <= self.variables[b] for (a, _), (b, _) in zip(chain, chain[1:], strict=False)]
        signs = [v >= 1 if s > 0 else v <= -1 if s < 0 else v == 0 for (a, s) in seeds for v in [self.variables[a]]]
        self.assumptions = [*order, *signs]

    def walk(self, prefix: list[bool]) -> tuple[dict[str, Value] | None, _Path]:
        """One path through both functions, and arguments for which they differ on it, if there are any."""
        path = _Path(prefix, self.assumptions, self.z3, self.context)

        def arguments() -> dict[str, Value]:
            filled = self._filled(
                self.seed, (), lambda address: Number(path, self.variables[address], frozenset([address]))
            )
            assert isinstance(filled, dict)
            return filled

        found = None
        kind, value = self.first(arguments)
        if not path.closed and not path.undecided and kind == "value":
            other_kind, other = self.second(arguments)
            if not path.closed and not path.undecided:
                found = self._model(path, True if other_kind != "value" else _unequal(self.z3, value, other))
        self.closed |= path.closed
        return found, path

    def _model(self, path: _Path, difference: Any) -> dict[str, Value] | None:
        if difference is False:
            return None
        verdict = str(path.solver.check(*([] if difference is True else [difference])))
        path.undecided = path.undecided or verdict == "unknown"
        if verdict != "sat":
            return None
        model = path.solver.model()
        made = self._filled(self.seed, (), lambda a: model.eval(self.variables[a], model_completion=True).as_long())
        assert isinstance(made, dict)
        return made

    def _filled(self, value: Value, address: Address, fill: Callable[[Address], Value]) -> Value:
        """A fresh copy of the seed with every open integer replaced."""
        if isinstance(value, Mapping):
            return {key: self._filled(part, (*address, key), fill) for key, part in value.items()}
        if isinstance(value, list):
            return [self._filled(part, (*address, number), fill) for number, part in enumerate(value)]
        return fill(address) if address in self.variables else value


def _integers(value: Value, address: Address) -> Iterator[tuple[Address, int]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _integers(part, (*address, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _integers(part, (*address, number))
    elif type(value) is int:
        yield address, value


def _unequal(z3: Any, first: Value, second: Value) -> Any:
    """True, False, or the condition under which two results differ in value or type."""
    for open_kind, closed_kind in ((Number, int), (_Truth, bool)):
        if isinstance(first, open_kind) or isinstance(second, open_kind):
            if not all(isinstance(side, open_kind) or type(side) is closed_kind for side in (first, second)):
                return True
            return getattr(first, "term", first) != getattr(second, "term", second)
    if type(first) is not type(second):
        return True
    if isinstance(first, list | tuple | dict):
        if len(first) != len(second) or (isinstance(first, dict) and first.keys() != second.keys()):
            return True
        pairs = (
            [(first[key], second[key]) for key in first] if isinstance(first, dict) else zip(first, second, strict=True)
        )
        parts = [_unequal(z3, *pair) for pair in pairs]
        conditions = [part for part in parts if part is not True and part is not False]
        return (
            True if True in [p for p in parts if isinstance(p, bool)] else z3.Or(*conditions) if conditions else False
        )
    return first != second
