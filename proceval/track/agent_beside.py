"""Files beside the cases of agents: scripted runs, calls with their values, what commands must print."""

import json
from pathlib import Path

from proceval.compare import key
from proceval.errors import InputError
from proceval.schema import Call
from proceval.track.strict_yaml import Node


def read_scripts(folder: Path) -> dict[str, str]:
    """The scripted runs of a case by name. Raises InputError for one that is no text."""
    try:
        return {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.sh"))}
    except UnicodeDecodeError as error:
        raise InputError(f"{folder}: a script is not UTF-8 text ({error.reason})") from error


def read_calls(file: Path, node: Node) -> tuple[Call, ...]:
    """The calls of a file, one a line. Raises InputError naming the line that is none, or that of `node`."""
    if not file.is_file():
        node.refuse(f"tests {node.text()}: there is no {file}")
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            found.append(Call.model_validate(json.loads(line)))
            key(found[-1].expected)
        except ValueError as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f'{file}, line {number}: must be {{"arguments": {{...}}, "expected": ...}} ({reason})'
            ) from error
    if not found:
        raise InputError(f"{file}, line 1: empty, not a single call")
    return tuple(found)


def read_expected(file: Path, node: Node) -> str:
    """The text of a file. Raises InputError where there is none that a command could print."""
    if not file.is_file():
        node.refuse(f"is {node.text()}: there is no {file}")
    content = file.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{file}, line {line}: not UTF-8 text ({error.reason})") from error
    if not text.strip():
        raise InputError(f"{file}, line 1: empty, and a command that prints nothing would be right")
    return text
