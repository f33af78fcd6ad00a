"""YAML read as what a person meant: every refusal names file and line, and nothing becomes another type in silence."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from proceval.errors import InputError

_STR, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_KINDS = {
    "bool": "a truth value",
    "int": "a whole number",
    "float": "a number",
    "null": "nothing",
    "timestamp": "a date",
    "binary": "bytes",
    "value": "a default value",
}


@dataclass(frozen=True)
class Node:
    """One value of a YAML file with its place."""

    file: Path
    raw: Any
    name: str
    """What messages call it: its key or its number in a list."""

    @property
    def line(self) -> int:
        """1-based."""
        return int(self.raw.start_mark.line) + 1

    def refuse(self, message: str) -> NoReturn:
        """Raises InputError with file and line."""
        raise InputError(f"{self.file}, line {self.line}: {message}")

    @property
    def is_list(self) -> bool:
        return isinstance(self.raw, yaml.SequenceNode)

    def inside(self, raw: Any, name: str) -> "Node":
        return Node(self.file, raw, name)

    def entries(self) -> "list[Node]":
        """The members of a list that holds at least one."""
        if not isinstance(self.raw, yaml.SequenceNode):
            self.refuse(f"{self.name} must be a list, one line with a dash an entry{self._found()}")
        if not self.raw.value:
            self.refuse(f"{self.name} is an empty list; leave the key out")
        return [self.inside(raw, f"{self.name} {number}") for number, raw in enumerate(self.raw.value, 1)]

    def table(self, allowed: Sequence[str] | None, elsewhere: Mapping[str, str] | None = None) -> "dict[str, Node]":
        """The members of a mapping that holds at least one, by key.

        `allowed` None: any text is a key. `elsewhere` tells of keys that belong to another place.
        """
        if not isinstance(self.raw, yaml.MappingNode):
            self.refuse(f"{self.name} must be a mapping of keys and values{self._found()}")
        found: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key, value in self.raw.value:
            if key.tag == _MERGE:
                merged |= self._merged(value, allowed, elsewhere)
                continue
            name = self.inside(key, "a key").text()
            if name in found:
                self.inside(key, name).refuse(f"the key {name} stands here twice, first in line {found[name].line}")
            if allowed is not None and name not in allowed:
                self.inside(key, name).refuse(self._unknown(name, allowed, elsewhere or {}))
            found[name] = self.inside(value, name)
        found = merged | found
        if not found:
            self.refuse(f"{self.name} is empty")
        return found

    def _merged(
        self, value: Any, allowed: Sequence[str] | None, elsewhere: Mapping[str, str] | None
    ) -> "dict[str, Node]":
        """What `<<` brings in; the first of several wins."""
        sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
        found: dict[str, Node] = {}
        for source in sources:
            if source is self.raw:
                self.refuse("<< brings a mapping into itself")
            found = self.inside(source, "<<").table(allowed, elsewhere) | found
        return found

    def _unknown(self, name: str, allowed: Sequence[str], elsewhere: Mapping[str, str]) -> str:
        if name in elsewhere:
            return f"{self.name} has no key {name}: it belongs {elsewhere[name]}"
        near = difflib.get_close_matches(name, allowed, 1, 0.6)
        said = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(allowed)}"
        return f"unknown key {name} in {self.name}; {said}"

    def text(self) -> str:
        """A text that is not empty. Raises InputError for a value that YAML reads as something else."""
        if isinstance(self.raw, yaml.ScalarNode) and self.raw.tag != _STR:
            if not self.raw.value:
                self.refuse(f"{self.name} is empty")
            self.refuse(f"{self.name} must be a text{self._found()}; write '{self.raw.value}' in quotes")
        if not isinstance(self.raw, yaml.ScalarNode):
            self.refuse(f"{self.name} must be a text{self._found()}")
        if not self.raw.value.strip():
            self.refuse(f"{self.name} is empty")
        if "\0" in self.raw.value:
            self.refuse(f"{self.name} holds a zero byte")
        return str(self.raw.value)

    def texts(self) -> list[str]:
        """A list of texts, not empty."""
        return [entry.text() for entry in self.entries()]

    def whole(self, least: int, most: int) -> int:
        """A whole number in plain decimal digits."""
        value = self.raw.value if isinstance(self.raw, yaml.ScalarNode) and self.raw.style is None else ""
        if not re.fullmatch(r"0|[1-9][0-9]*", str(value)) or not least <= int(value) <= most:
            self.refuse(f"{self.name} must be a whole number from {least} to {most}, in decimal digits{self._found()}")
        return int(value)

    def positive(self) -> float:
        """A number above 0 in plain decimal digits."""
        value = self.raw.value if isinstance(self.raw, yaml.ScalarNode) and self.raw.style is None else ""
        if not re.fullmatch(r"(0|[1-9][0-9]*)(\.[0-9]+)?", str(value)) or float(value) <= 0:
            self.refuse(f"{self.name} must be a number above 0, in decimal digits{self._found()}")
        return float(value)

    def truth(self) -> bool:
        """true or false, spelt so."""
        if not isinstance(self.raw, yaml.ScalarNode) or self.raw.value not in ("true", "false") or self.raw.style:
            self.refuse(f"{self.name} must be true or false{self._found()}")
        return bool(self.raw.value == "true")

    def _found(self) -> str:
        """What YAML made of the value, for a message."""
        if isinstance(self.raw, yaml.SequenceNode):
            return ", not a list"
        if isinstance(self.raw, yaml.MappingNode):
            return ", not a mapping"
        kind = _KINDS.get(self.raw.tag.rpartition(":")[2])
        if kind is None:
            return f", not {str(self.raw.value)[:40]!r}"
        return ", and there is nothing" if not self.raw.value else f", and YAML reads {self.raw.value} as {kind}"


def read(file: Path, name: str) -> Node:
    """The one document of a file. Raises InputError for what is no YAML, or holds nothing."""
    try:
        raw = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start})") from error
    except OSError as error:
        raise InputError(f"{file}: {(error.strerror or 'cannot be read').lower()}") from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "nested too deeply"
        raise InputError(f"{file}{where}: not YAML ({problem})") from error
    if raw is None:
        raise InputError(f"{file}, line 1: empty, not a single {name}")
    return Node(file, raw, name)
