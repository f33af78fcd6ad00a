"""Reads somebody's own function and tests for an audit outside any dataset."""

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proceval.audit.template import entry_point_of
from proceval.errors import InputError
from proceval.schema import Test


def read(reference: Path, tests: Path) -> tuple[str, list[Test]]:
    """(text of the function's file, its tests).

    A tests file is JSON Lines, each `{"arguments": {...}, "expected": ...}` with the arguments by name, as the function
    can take them. Raises InputError naming the file and line that is wrong.
    """
    text = _text(reference)
    function = _function(reference, text)
    found = []
    for number, line in enumerate(_text(tests).splitlines(), 1):
        if line.strip():
            try:
                found.append(Test.model_validate({"origin": "main", **json.loads(line)}))
            except (ValueError, TypeError, ValidationError) as error:
                why = (
                    "is not JSON"
                    if isinstance(error, json.JSONDecodeError)
                    else "needs `arguments`, a mapping, and `expected`"
                )
                raise InputError(f"{tests}, line {number}: {why}") from error
            if misfit := _misfit(function, found[-1].arguments):
                raise InputError(f"{tests}, line {number}: {function.name}({ast.unparse(function.args)}) {misfit}")
    if not found:
        raise InputError(f'{tests} holds no test; each line is one, such as {{"arguments": {{"x": 1}}, "expected": 2}}')
    return text, found


def _function(reference: Path, text: str) -> ast.FunctionDef:
    try:
        name = entry_point_of(text)
    except InputError as error:
        raise InputError(f"reference={reference}: {error}") from error
    return [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name][-1]


def _misfit(function: ast.FunctionDef, given: Mapping[str, Any]) -> str | None:
    """Why a call with these names would fail, or None; a decorator may change what a function takes, so it is trusted."""
    if function.decorator_list:
        return None
    takes = function.args
    nameless = len(takes.posonlyargs)
    placed = [*takes.posonlyargs, *takes.args]
    needed = [p.arg for p in placed[: len(placed) - len(takes.defaults)]]
    needed += [p.arg for p, value in zip(takes.kwonlyargs, takes.kw_defaults, strict=True) if value is None]
    if reserved := [name for name in needed[:nameless] if name in {p.arg for p in takes.posonlyargs}]:
        return f"cannot be called with arguments by name: {', '.join(reserved)} is positional only"
    if missing := [name for name in needed if name not in given]:
        return f"is not given {', '.join(missing)}"
    named = {p.arg for p in [*takes.args, *takes.kwonlyargs]}
    if takes.kwarg is None and (unknown := [name for name in given if name not in named]):
        return f"has no parameter {', '.join(unknown)}"
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror if isinstance(error, OSError) else 'not UTF-8'}"
        ) from error
