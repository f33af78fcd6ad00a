"""Reads somebody's own function and tests for an audit outside any dataset."""

import json
from pathlib import Path

from pydantic import ValidationError

from proceval.audit.template import entry_point_of
from proceval.errors import InputError
from proceval.schema import Test


def read(reference: Path, tests: Path) -> tuple[str, list[Test]]:
    """(text of the function's file, its tests).

    A tests file is JSON Lines, each `{"arguments": {...}, "expected": ...}` with the arguments by name. Raises InputError
    naming the file and line that is wrong.
    """
    text = _text(reference)
    entry_point_of(text)
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
    if not found:
        raise InputError(f'{tests} holds no test; each line is one, such as {{"arguments": {{"x": 1}}, "expected": 2}}')
    return text, found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror if isinstance(error, OSError) else 'not UTF-8'}"
        ) from error
