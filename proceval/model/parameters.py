"""What every client is configured with: where the endpoint is, whose key it gets, and how it samples."""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from proceval.errors import InputError
from proceval.schema import Json

_ENGINE = (
    "model",
    "messages",
    "stream",
    "n",
    "api_key",
    "api_base",
    "base_url",
    "num_retries",
    "max_retries",
    "timeout",
)


def key_from(variable: str) -> str:
    """A credential from the environment. Raises InputError naming the variable, never its value."""
    complaint = missing(variable)
    if complaint:
        raise InputError(complaint)
    return os.environ[variable]


def missing(variable: str) -> str | None:
    """One sentence where the environment variable is not set, or None."""
    return None if os.environ.get(variable) else f"model.key_variable={variable}: this environment variable is not set"


def checked_url(url: str) -> str:
    """A base URL without a trailing slash. Raises InputError for other schemes and for credentials inside."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("model.base_url: must be http://HOST[:PORT]/PATH or https://...")
    if parts.username or parts.password or parts.query:
        raise InputError("model.base_url: must hold no credentials and no query; keys come from the environment")
    return url.rstrip("/")


def sampling(*, extra: Mapping[str, Any], **parameters: Json) -> dict[str, Json]:
    """The parameters that are set, and `extra` as it is. Raises InputError where `extra` would hide another key."""
    for name in extra:
        if name in parameters:
            raise InputError(f"model.extra.{name}: it is a key of its own, model.{name}")
        if name in _ENGINE:
            raise InputError(f"model.extra.{name}: the engine sets it")
    return {name: value for name, value in parameters.items() if value is not None} | dict(extra)
