"""Reading without writing: two tools over the files of a case, and the loop in which a model calls them."""

import json
from collections.abc import Mapping
from typing import Any

from proceval.protocols import Respond
from proceval.schema import CaseFile, Completion, Message, ToolCall

_TEXT = {"type": "string"}
_LINE = {"type": "integer", "minimum": 1}
MOST_CHARACTERS = 60_000
"""Of one answer of a tool."""


def _tool(name: str, says: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    shape = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": says, "parameters": shape}}


TOOLS: tuple[Mapping[str, Any], ...] = (
    _tool("list_files", "The paths of all files.", {}, []),
    _tool(
        "read_file",
        "A file with its line numbers, or some lines of it.",
        {"path": _TEXT, "first_line": _LINE, "last_line": _LINE},
        ["path"],
    ),
)


async def converse(respond: Respond, files: tuple[CaseFile, ...], turns: int) -> tuple[Completion, str, bool]:
    """Let the model read until it answers; its last completion, all it said, and whether `turns` requests were enough."""
    messages: tuple[Message, ...] = ()
    said: list[str] = []
    for _ in range(turns):
        completion = await respond(messages, tools=TOOLS)
        said.append(completion.text.strip())
        if not completion.tool_calls:
            return completion, "\n\n".join(filter(None, said)), True
        asked = Message(role="assistant", content=completion.text, tool_calls=completion.tool_calls)
        answers = (
            Message(role="tool", content=call(tool, files), tool_call_id=tool.id) for tool in completion.tool_calls
        )
        messages = (*messages, asked, *answers)
    return completion, "\n\n".join(filter(None, said)), False


def call(tool: ToolCall, files: tuple[CaseFile, ...]) -> str:
    """What a tool answers; a malformed call is answered with what is wrong about it."""
    known = {file.path: file for file in files}
    try:
        arguments = json.loads(tool.arguments or "{}")
    except ValueError as error:
        return f"error: the arguments are not JSON ({error})"
    if not isinstance(arguments, dict):
        return "error: the arguments are not a JSON object"
    if tool.name == "list_files":
        return "\n".join(known)
    if tool.name != "read_file":
        return f"error: no tool {tool.name!r}; there are list_files and read_file"
    strange = set(arguments) - {"path", "first_line", "last_line"}
    if strange:
        return f"error: unknown argument {min(strange)!r}"
    path = str(arguments.get("path", "")).removeprefix("./")
    if path not in known:
        return f"error: no file {path!r}; there are {', '.join(known)}"
    first, last = arguments.get("first_line", 1), arguments.get("last_line")
    if type(first) is not int or first < 1 or not (last is None or (type(last) is int and last >= first)):
        return "error: first_line and last_line are whole numbers from 1, the first not above the last"
    return _shown(known[path], first, last)


def _shown(file: CaseFile, first: int, last: int | None) -> str:
    if file.encoding != "utf-8":
        return f"error: {file.path} is not text"
    lines = file.content.splitlines()[first - 1 : last]
    text = "\n".join(f"{number:>5}  {line}" for number, line in enumerate(lines, first))
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "\n... cut; ask for fewer lines"
