"""Runs a function under a step budget that depends on no clock.

Every loop and function body begins with a call of a countdown made in C (`itertools.repeat(None, budget).__next__`): no
Python frame, some 25 ns, and the steps taken can be read off afterwards. What the countdown cannot stop, one endless
operation inside C, is the guard's business.
"""

import ast
import marshal
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from types import CodeType
from typing import Any, Literal

from proceval.schema import Json

Kill = Literal["value", "type", "exception", "step_budget"]
"""How a test noticed, strongest first. `type`: equal in value, of another type."""

TICK = "__tick__"
_REFERENCE_STEPS = 10_000_000
_UNSHARED = 2
"""The marshal version that writes equal numbers twice: `is` must not find them to be one object."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)


def instrumented(text: str) -> CodeType:
    """Compiled code of a module with the countdown in it. Raises SyntaxError."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, _LOOPS):
            tick = ast.Expr(ast.Call(func=ast.Name(TICK, ast.Load()), args=[], keywords=[]))
            start = (
                1
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node) is not None
                else 0
            )
            node.body.insert(start, ast.fix_missing_locations(ast.copy_location(tick, node)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(tree, "<audit>", "exec")


@dataclass(frozen=True)
class Case:
    """One call with its right answer, frozen so that a mutant that edits its input spoils nobody else's."""

    arguments: bytes
    """marshal of the keyword arguments."""
    expected: Json
    budget: int
    """Steps after which a mutant is stopped."""


@dataclass(frozen=True)
class Outcome:
    """What one call gave: a value, or how it failed."""

    kill: Kill | None
    """None when the value is the expected one, of the same type."""
    value: Any
    """The value returned, or the exception's class name."""
    steps: int


_compiled = lru_cache(maxsize=4096)(instrumented)


class Function:
    """An entry point in a module of its own, ready to be called under a budget."""

    def __init__(self, text: str, entry_point: str) -> None:
        """Runs the module; a module that raises, or has no such entry point, leaves its reason in `defect`."""
        self._names: dict[str, Any] = {"__name__": "audited", TICK: repeat(None, _REFERENCE_STEPS).__next__}
        self.defect: str | None = None
        try:
            exec(_compiled(text), self._names)
            self._entry = self._names[entry_point]
        except MemoryError:
            raise
        except BaseException as error:  # noqa: BLE001 - the border: see call
            self.defect = type(error).__name__

    def call(self, case: Case) -> Outcome:
        """One call, judged. MemoryError passes through: it is the guard's."""
        kill, value, steps = self.attempt(lambda: marshal.loads(case.arguments), case.budget)
        if kill is None:
            try:
                kill = differs(value, case.expected)
            except RecursionError:  # a value that holds itself
                kill = "value"
        return Outcome(kill, value, steps)

    def attempt(self, arguments: Callable[[], dict[str, Any]], budget: int) -> tuple[Kill | None, Any, int]:
        """(None, value, steps), or how the call failed with the exception's class name."""
        if self.defect is not None:
            return "exception", self.defect, 0
        countdown = repeat(None, budget)
        self._names[TICK] = countdown.__next__
        kill: Kill | None = None
        try:
            value = self._entry(**arguments())
        except MemoryError:
            raise
        except SystemError as error:  # what CPython 3.11 says when there is no memory for one more frame
            raise MemoryError from error
        except BaseException as error:  # noqa: BLE001 - the border: whatever a mutant raises is its outcome
            value, kill = type(error).__name__, "exception"
        left = countdown.__length_hint__()
        if not left:  # also when the mutant swallowed the countdown's StopIteration
            return "step_budget", None, budget
        return kill, value, budget - left


def differs(value: Any, expected: Json) -> Kill | None:
    """None when both are the same JSON value with the same types all the way down."""
    if _same(value, expected):
        return None
    plain = type(value) in (bool, int, float, str, list, dict, tuple, type(None))
    return "type" if plain and value == expected else "value"


def _same(value: Any, expected: Json) -> bool:
    if type(value) is not type(expected):
        return False
    if type(value) is list:
        return len(value) == len(expected) and all(map(_same, value, expected))
    if type(value) is dict:
        return value.keys() == expected.keys() and all(_same(value[key], expected[key]) for key in expected)
    return bool(value == expected)


def measure(
    reference: Function, tests: Sequence[tuple[Mapping[str, Json], Json]], factor: int, base: int
) -> list[Case | Outcome]:
    """A case for every (arguments, expected), with budget = factor x the reference's own steps + base.

    Where the reference itself fails, its outcome stands in place of the case.
    """
    found: list[Case | Outcome] = []
    for arguments, expected in tests:
        case = Case(marshal.dumps(dict(arguments), _UNSHARED), expected, _REFERENCE_STEPS)
        outcome = reference.call(case)
        budget = factor * outcome.steps + base
        found.append(outcome if outcome.kill else Case(case.arguments, expected, budget))
    return found
