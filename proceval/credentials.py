"""Credentials of this process's environment and configuration, so that none of them is ever written down.

Two things tell one: the name it stands under, for `hidden`, and its value, for `redact`, which whatever puts text into a
run folder asks first; where there is no credential that costs nothing.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

MARK = "REDACTED"
LEAST = 8
"""Characters of the shortest value that is looked for: a shorter one could be anything."""

_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)\Z", re.IGNORECASE)
_ORDINARY = re.compile(r"[A-Za-z_]+|[0-9]+|(?:~?/[\w.+-]*)+")
"""A word, a number or a path: it would be taken out of programs and answers, where it means something else."""
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ALWAYS = re.compile(r"\w*(?:authorization|credentials?|secrets?|passwords?|passwd|passphrase)|pwd")
"""Words that make any name a credential's."""
_LAST = re.compile(
    r"(?:api|access|account|app|auth|client|master|private|session)?(?:key|token)|auth|bearer|cookies?|jwt"
)
"""Words that do as the last of a name: a `key_variable` only names one, and `max_tokens` counts."""
_MARKUP = ("bos", "eos", "pad", "sep", "cls", "unk", "mask", "stop", "special")
"""Before `token`: pieces of a model's text."""
_FROM_ENVIRONMENT = re.compile(r"\$\{oc\.env:\s*(\w+)")
_NAMES = (
    "outputs", "dataset", "id", "base_url", "seed", "dir", "cases", "cases_dir", "fixtures_dir", "skill", "homes",
    "programmes", "reference", "tests", "compare", "against", "release", "repo_id", "project", "entity", "group", "name",
    "_target_",
)  # fmt: skip
"""Keys whose values name or find something: what an environment variable brings in there is no credential by itself."""

_USER_INFO = re.compile(r"://[^/@\s]+@")

_watched: set[str] = set()
_given: set[str] = set()
_values: tuple[str, ...] | None = None
_environment: tuple[str, ...] = ()


def watch(variables: Iterable[str] = (), given: Iterable[str] = ()) -> None:
    """Read the environment anew; the values of these variables, and those given, are credentials whatever their names."""
    global _values, _environment
    _watched.update(variables)
    _given.update(given)
    found = {value for name, value in os.environ.items() if name in _watched or _NAME.search(name)}
    _environment, _values = _sought(found), _sought(found | _given)


def redact(text: str) -> str:
    """The text, plain or JSON, with a mark in place of every credential."""
    if _values is None:
        watch()
    return _without(text, _values or ())


def secret(name: str) -> bool:
    """Whether a key, header or variable of this name holds a credential, in any notation: apiKey, X-Org-Key, auth_token."""
    words = [word.lower() for word in _PARTS.findall(name)]
    if not words or words[-1] in ("variable", "variables"):
        return False
    if any(_ALWAYS.fullmatch(word) for word in words):
        return True
    return bool(_LAST.fullmatch(words[-1])) and not (words[-1] == "token" and words[-2:-1] and words[-2] in _MARKUP)


def misplaced(name: str, value: Any) -> bool:
    """Whether a value shows a credential where none belongs: in an address, or where a variable's name is asked for."""
    if not isinstance(value, str):
        return False
    pasted = name.rpartition(".")[2] == "key_variable" and not value.isidentifier()
    return pasted or _USER_INFO.search(value) is not None


def hidden(node: Any, *, under: bool = False) -> Any:
    """A copy for the disk: a mark for all that stands under a credential's name, and for each known value anywhere."""
    if isinstance(node, Mapping):
        return {
            key: hidden(value, under=under or secret(str(key)) or misplaced(str(key), value))
            for key, value in node.items()
        }
    if isinstance(node, list | tuple):
        return [hidden(value, under=under) for value in node]
    if node is None or isinstance(node, bool):
        return node
    if under:
        return MARK
    return redact(node) if isinstance(node, str) else node


def identified(node: Any) -> Any:
    """A copy for hashing: the environment's credentials are marks, since another key is the same run.

    What was written into the configuration stays: a name may only look like a credential's, and then its value counts.
    """
    if _values is None:
        watch()
    if isinstance(node, Mapping):
        return {key: identified(value) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [identified(value) for value in node]
    return _without(node, _environment) if isinstance(node, str) else node


def word(text: str) -> str:
    """A word of the command line, KEY=VALUE, for the disk: without a value that is a credential or holds one."""
    import yaml

    key, sign, value = text.partition("=")
    try:
        found = yaml.safe_load(re.sub(r":(?=\S)", ": ", value) if value.startswith(("{", "[")) else value)
    except yaml.YAMLError:
        found = value
    shown = hidden({key: found})
    return f"{key}={MARK}" if sign and shown != {key: found} else text


def withhold(file: Path) -> None:
    """Take credentials out of a file of Hydra's that lists a sweep's words."""
    import yaml

    if not file.is_file():
        return
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    shown = hidden(found)
    shown["hydra"]["overrides"]["task"] = [word(one) for one in found["hydra"]["overrides"]["task"]]
    staged = file.with_name(f".{file.name}.{os.getpid()}.partial")
    staged.write_text(yaml.safe_dump(shown, sort_keys=False), encoding="utf-8")
    os.replace(staged, file)


def given(node: Any, *, under: bool = False) -> Iterator[str]:
    """The texts that stand under a credential's name, and their words: `Bearer abc` holds one in its second."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from given(value, under=under or secret(str(name)) or misplaced(str(name), value))
    elif isinstance(node, list):
        for value in node:
            yield from given(value, under=under)
    elif isinstance(node, str) and under:
        yield from (node, *node.split())


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


def _sought(found: Iterable[str]) -> tuple[str, ...]:
    """The values that can be looked for in texts, as they are and as JSON writes them, longer ones first."""
    kept = {value for value in found if len(value) >= LEAST and not _ORDINARY.fullmatch(value)}
    written = kept | {json.dumps(value)[1:-1] for value in kept}
    return tuple(sorted(written, key=lambda value: (-len(value), value)))


def _without(text: str, values: Iterable[str]) -> str:
    for value in values:
        if value in text:
            text = text.replace(value, MARK)
    return text
