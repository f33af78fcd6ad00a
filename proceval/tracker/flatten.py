"""A resolved configuration as flat keys without secrets, and the short name of each of its parts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

SECRET_KEY = re.compile(r"(?i)(^|[_.-])(api_?key|key|token|secret|password|passwd|authorization|bearer|credentials?)$")
"""The last word of a key: `api_key` and `access_token` are secrets, `max_tokens` and `tokens_per_minute` are not."""

SECRET_TEXT = re.compile(
    r"(?i)\b(sk|hf|ghp|xox[abp])[-_][a-z0-9_-]{16,}|(?<=://)[^/@\s]+:[^/@\s]+(?=@)|\bbearer\s+\S{8,}"
)
"""What gives a secret away inside any other text: well-known prefixes, and a user and password in an address."""

REMOVED = "removed"


def flatten(config: Mapping[str, Any]) -> dict[str, Any]:
    """`{"a": {"b": 1}}` as `{"a.b": 1}`; lists stay values, and secrets are replaced wherever they stand."""
    return {key: _clean(key, value) for key, value in _leaves(config, "")}


def parts(config: Mapping[str, Any]) -> dict[str, str]:
    """Short names of stage, model, domain and difficulty, as a person would write them on the command line."""
    model = config.get("model")
    return {
        "stage": _target(config.get("stage")),
        "model": str(model["id"]) if isinstance(model, Mapping) and model.get("id") else _target(model),
        "domain": _keys(config.get("domain")),
        "difficulty": _keys(config.get("difficulty")),
    }


def _leaves(node: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    elif path:
        yield path, node


def _clean(key: str, value: Any) -> Any:
    if value is not None and SECRET_KEY.search(key.rsplit(".", 1)[-1]):
        return REMOVED
    return _scrub(value)


def _scrub(value: Any) -> Any:
    if isinstance(value, str):
        return SECRET_TEXT.sub(REMOVED, value)
    if isinstance(value, Mapping):
        return {str(k): _clean(str(k), v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_scrub(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _target(node: Any) -> str:
    """`proceval.stage.report.Report` -> `report`."""
    if isinstance(node, Mapping):
        node = node.get("_target_", "")
        return str(node).rsplit(".", 1)[-1].lower() or "-"
    return str(node) if node else "-"


def _keys(node: Any) -> str:
    return "+".join(str(key) for key in node) or "-" if isinstance(node, Mapping) else str(node or "-")
