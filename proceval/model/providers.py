"""Which providers litellm knows, read from its files without importing it, which takes seconds."""

import difflib
import json
import os
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from proceval.errors import InputError

KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_API_KEY"),
    "xai": ("XAI_API_KEY",),
}
"""Providers that answer nobody without a key -> the variables that litellm reads it from. Of others the first request tells."""


def missing_key(identity: str) -> str | None:
    """One sentence where a model's provider needs a key and none is in the environment, or None."""
    variables = KEYS.get(identity.partition("/")[0], ())
    if not variables or any(os.environ.get(name) for name in variables):
        return None
    return f"model.id={identity}: its key is missing; set {variables[0]} in the environment"


def checked_id(identity: str) -> str:
    """The id of a model. Raises InputError for one whose provider litellm does not know, with the nearest one.

    Where another release of litellm keeps its lists elsewhere nothing is refused: the first request will tell.
    """
    provider, slash, _ = identity.partition("/")
    known = providers()
    if not known or provider in known or identity in (prices := _prices()):
        return identity
    if not slash and (identity.startswith("ft:") or not prices):
        return identity
    near = difflib.get_close_matches(provider, sorted(known), 1, 0.6)
    if not slash:
        near = [f"{name}/{identity}" for name in sorted(known) if f"{name}/{identity}" in prices][:1]
    advice = f"did you mean '{near[0]}'?" if near else "write PROVIDER/NAME, as in openai/gpt-4o-mini"
    said = f"litellm knows no provider '{provider}'" if slash else "litellm knows no model of that name"
    raise InputError(f"model.id={identity}: {said}; {advice}")


@cache
def providers() -> frozenset[str]:
    """Names that may stand before the slash; none where litellm's lists are not found."""
    home = _home()
    try:
        text = (home / "types" / "utils.py").read_text(encoding="utf-8")
        more = json.loads((home / "llms" / "openai_like" / "providers.json").read_bytes())
    except (OSError, ValueError):
        return frozenset()
    body = re.search(r"^class LlmProviders\(.*?\):\n(.*?)(?=^\S)", text, re.MULTILINE | re.DOTALL)
    named = re.findall(r'^    [A-Z0-9_]+ = "([^"]+)"', body[1], re.MULTILINE) if body else []
    return frozenset([*named, *more]) if named else frozenset()


@cache
def _prices() -> frozenset[str]:
    try:
        return frozenset(json.loads((_home() / "model_prices_and_context_window_backup.json").read_bytes()))
    except (OSError, ValueError):
        return frozenset()


def _home() -> Path:
    spec = find_spec("litellm")
    return Path(spec.origin).parent if spec is not None and spec.origin else Path()
