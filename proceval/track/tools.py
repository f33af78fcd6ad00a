"""The tools of an agent: what it may do in its workspace, and an answer to every call, however malformed."""

import asyncio
import json
import posixpath
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proceval.errors import Unscored
from proceval.schema import ToolCall
from sandbox.command import CommandOutcome
from sandbox.fixture import label, shown
from sandbox.shell import FOLDER
from sandbox.workspace import Workspace


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool."""

    kind: type
    tells: str
    default: Any = None
    """None: it must be given."""


PATH = Parameter(str, "Path in the workspace.")
TOOLS: dict[str, tuple[str, dict[str, Parameter]]] = {
    "read": (
        "Read a text file.",
        {
            "path": PATH,
            "first_line": Parameter(int, "From this line on, 1 is the first.", 1),
            "last_line": Parameter(int, "Up to this line.", 1_000_000_000),
        },
    ),
    "write": ("Make or replace a file.", {"path": PATH, "content": Parameter(str, "The whole new content.")}),
    "edit": (
        "Replace a passage of a file.",
        {
            "path": PATH,
            "old": Parameter(str, "The passage as it stands, occurring once."),
            "new": Parameter(str, "What to put there."),
            "everywhere": Parameter(bool, "Replace every occurrence.", False),
        },
    ),
    "list": ("List files and folders.", {"path": Parameter(str, "A folder.", ".")}),
    "search": (
        "Find lines by an extended regular expression, in a file or below a folder.",
        {"pattern": Parameter(str, "As for grep -E."), "path": Parameter(str, "Where.", ".")},
    ),
    "shell": ("Run a bash command in the workspace.", {"command": Parameter(str, "The command line.")}),
}
_KINDS = {str: "string", int: "integer", bool: "boolean"}
_MOST_LISTED = 1000


class Refused(Exception):
    """A call that cannot be carried out; the model is told the message."""


def schemas(names: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """The tools in the JSON shape of the OpenAI chat interface."""
    return tuple(_schema(name, *TOOLS[name]) for name in names)


def _schema(name: str, tells: str, parameters: Mapping[str, Parameter]) -> Mapping[str, Any]:
    properties = {key: {"type": _KINDS[one.kind], "description": one.tells} for key, one in parameters.items()}
    needed = [key for key, one in parameters.items() if one.default is None]
    shape = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": tells, "parameters": shape}}


class Tools:
    """Carries out calls in one workspace; results are cut to `result_characters`, with a note."""

    def __init__(self, workspace: Workspace, names: Sequence[str], result_characters: int):
        self._workspace, self._names, self._most = workspace, tuple(names), result_characters

    async def call(self, call: ToolCall) -> str:
        """What the tool answers, or why it cannot, as text that UTF-8 can hold; raises Unscored when the sandbox fails."""
        return shown(await self._answer(call))

    async def _answer(self, call: ToolCall) -> str:
        try:
            arguments = self._arguments(call)
            work: Callable[..., Any] = getattr(self, f"_{call.name}")
            if call.name in ("shell", "search"):
                text = await work(**arguments)
            else:
                text = await asyncio.to_thread(work, **arguments)
        except Refused as refusal:
            return f"ERROR: {refusal}"
        except FileNotFoundError:
            return "ERROR: no such file or folder"
        except (OSError, ValueError) as error:
            return f"ERROR: {error.strerror if isinstance(error, OSError) and error.strerror else error}"
        return cut(text, self._most) if text else "(nothing)"

    def _arguments(self, call: ToolCall) -> dict[str, Any]:
        """The arguments, complete and of the right types. Raises Refused naming what is wrong."""
        if call.name not in self._names:
            raise Refused(f"there is no tool {call.name[:100]!r}; there are {', '.join(self._names)}")
        try:
            given = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise Refused(f"the arguments of {call.name} are not JSON: {error}") from None
        parameters = TOOLS[call.name][1]
        if not isinstance(given, dict):
            raise Refused(f"the arguments of {call.name} are no JSON object; its keys are {', '.join(parameters)}")
        for key, value in given.items():
            if key not in parameters:
                raise Refused(f"{call.name} has no argument {key[:100]!r}; it has {', '.join(parameters)}")
            if type(value) is not parameters[key].kind:
                raise Refused(f"the argument {key} of {call.name} must be a {_KINDS[parameters[key].kind]}")
        missing = [key for key, one in parameters.items() if one.default is None and key not in given]
        if missing:
            raise Refused(f"{call.name} needs the argument {missing[0]}")
        return {key: one.default for key, one in parameters.items()} | given

    # -------------------------------------------------------------------------------------- the tools

    def _read(self, path: str, first_line: int, last_line: int) -> str:
        content = self._workspace.read(inside(path))
        if b"\0" in content:
            return f"(a binary file of {len(content)} bytes)"
        lines = content.decode("utf-8", "replace").splitlines(keepends=True)
        if first_line > max(1, len(lines)):
            raise Refused(f"{path} has only {len(lines)} lines")
        return "".join(lines[max(0, first_line - 1) : last_line]) or "(an empty file)"

    def _write(self, path: str, content: str) -> str:
        written = content.encode("utf-8", "replace")
        self._workspace.write(inside(path), written)
        return f"wrote {len(written)} bytes to {inside(path)}"

    def _edit(self, path: str, old: str, new: str, everywhere: bool) -> str:
        try:
            text = self._workspace.read(inside(path)).decode("utf-8")
        except UnicodeDecodeError:
            raise Refused(f"{path} is not UTF-8 text") from None
        found = text.count(old) if old else 0
        if found == 0:
            raise Refused(f"the passage does not occur in {path}; it must be copied exactly")
        if found > 1 and not everywhere:
            raise Refused(f"the passage occurs {found} times in {path}; give more of its surroundings, or everywhere")
        self._workspace.write(inside(path), text.replace(old, new).encode("utf-8", "replace"))
        return f"replaced {found} passage{'s' if found > 1 else ''} in {inside(path)}"

    def _list(self, path: str) -> str:
        top = inside(path)
        found = self._workspace.list()
        if top != "." and top not in found:
            raise Refused(f"there is no {path}")
        if top != "." and found[top].kind != "folder":
            return f"{top} ({found[top].size_bytes} bytes)"
        below = {name: entry for name, entry in found.items() if top == "." or name.startswith(f"{top}/")}
        below = {name: entry for name, entry in below.items() if ".git" not in name.split("/")[:-1]}
        lines = [
            label(name) + {"folder": "/", "link": f" -> {label(e.target)}"}.get(e.kind, "") for name, e in below.items()
        ]
        more = f"\n[{len(lines) - _MOST_LISTED} more are left out]" if len(lines) > _MOST_LISTED else ""
        return ("\n".join(lines[:_MOST_LISTED]) or "(an empty folder)") + more

    async def _search(self, pattern: str, path: str) -> str:
        where = shlex.quote(posixpath.join(".", inside(path)) if inside(path) != "." else ".")
        command = f"grep -rnIE --exclude-dir=.git -e {shlex.quote(pattern)} -- {where}"
        outcome = await self._run(command)
        if outcome.kind == "exited" and outcome.exit_code == 1:
            return "no line matches"
        return (
            outcome.stdout.replace("\n./", "\n").removeprefix("./").rstrip("\n")
            if outcome.exit_code == 0
            else told(outcome)
        )

    async def _shell(self, command: str) -> str:
        return told(await self._run(command))

    async def _run(self, command: str) -> CommandOutcome:
        if "\0" in command:
            raise Refused("a command holds no zero byte")
        outcome = await self._workspace.arun(command)
        if outcome.fault is not None:
            raise Unscored(f"workspace: {outcome.fault}")
        return outcome


def inside(path: str) -> str:
    """A path as the workspace takes it: relative, without `.` and `..`. Raises Refused for one that leads out."""
    plain = posixpath.normpath(posixpath.join(FOLDER, path))
    if plain == FOLDER:
        return "."
    if not plain.startswith(f"{FOLDER}/"):
        raise Refused(f"{path} is outside of the workspace")
    return plain.removeprefix(f"{FOLDER}/")


def told(outcome: CommandOutcome) -> str:
    """How a command ended and what it printed, in words for a model."""
    ended = {
        "exited": f"exit status {outcome.exit_code}",
        "timeout": "killed: it did not end in time",
        "output_limit": "killed: it printed too much",
        "disk_limit": "killed: the workspace is full",
        "killed": f"killed by {outcome.signal}",
    }.get(outcome.kind, outcome.kind)
    full = "; the workspace is full" if outcome.disk_full and outcome.kind != "disk_limit" else ""
    parts = [f"[{ended}{full}]", outcome.stdout.rstrip("\n")]
    parts += ["[standard error]", outcome.stderr.rstrip("\n")] if outcome.stderr.strip() else []
    return "\n".join(part for part in parts if part)


def cut(text: str, most: int) -> str:
    """The text, or its two ends around a note that says how much is left out."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    tail = most - head
    return f"{text[:head]}\n[... {len(text) - most} characters are left out here ...]\n{text[len(text) - tail :]}"
