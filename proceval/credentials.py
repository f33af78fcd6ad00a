"""Credentials of this process's environment, known by value, so that none of them is ever written down.

Whatever puts text into a run folder asks `redact` first; without a credential in the environment that costs nothing.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

MARK = "REDACTED"
LEAST = 8
"""Characters of the shortest value that is looked for: a shorter one could be anything."""

_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)\Z", re.IGNORECASE)
_ORDINARY = re.compile(r"[A-Za-z_]+|[0-9]+|(?:~?/[\w.+-]*)+")
"""A word, a number or a path: it would be taken out of programs and answers, where it means something else."""
_FROM_ENVIRONMENT = re.compile(r"\$\{oc\.env:\s*(\w+)")
_NAMES = (
    "outputs", "dataset", "id", "base_url", "seed", "dir", "cases", "cases_dir", "fixtures_dir", "skill", "homes",
    "programmes", "reference", "tests", "compare", "against", "release", "repo_id", "project", "entity", "group", "name",
    "_target_",
)  # fmt: skip
"""Keys whose values name or find something: what an environment variable brings in there is no credential by itself."""

_watched: set[str] = set()
_values: tuple[str, ...] | None = None


def watch(variables: Iterable[str] = ()) -> None:
    """Read the environment anew; the values of these variables are credentials whatever their names."""
    global _values
    _watched.update(variables)
    found = {
        value
        for name, value in os.environ.items()
        if len(value) >= LEAST and (name in _watched or _NAME.search(name)) and not _ORDINARY.fullmatch(value)
    }
    written = found | {json.dumps(value)[1:-1] for value in found}
    _values = tuple(sorted(written, key=lambda value: (-len(value), value)))


def redact(text: str) -> str:
    """The text, plain or JSON, with a mark in place of every credential."""
    if _values is None:
        watch()
    for value in _values or ():
        if value in text:
            text = text.replace(value, MARK)
    return text


def variables(node: Any, key: str = "") -> Iterator[str]:
    """The variables of an unresolved configuration that hold credentials by where they stand.

    These are what `key_variable` names, and what `oc.env` brings in anywhere but as a name or a path.
    """
    if isinstance(node, dict):
        for name, value in node.items():
            yield from variables(value, str(name))
    elif isinstance(node, list):
        for value in node:
            yield from variables(value, key)
    elif isinstance(node, str) and key == "key_variable":
        yield node
    elif isinstance(node, str) and key not in _NAMES:
        yield from _FROM_ENVIRONMENT.findall(node)
