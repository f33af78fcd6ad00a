"""What a request may take before it is answered: tokens of its prompt, and of the longest answer it allows."""

from collections.abc import Iterable, Mapping

from proceval.schema import Json

GUESSED_COMPLETION_TOKENS = 1024
"""Tokens reserved for an answer when the model's parameters set no bound."""


def prompt_tokens(contents: Iterable[str]) -> int:
    """About four characters a token and four tokens a message: an estimate, settled by the usage reported."""
    return sum(len(content) // 4 + 4 for content in contents)


def completion_bound(parameters: Mapping[str, Json]) -> int | None:
    """The longest answer that a model's own parameters allow, in tokens, or None."""
    for name in ("max_tokens", "max_completion_tokens"):
        bound = parameters.get(name)
        if isinstance(bound, int):
            return bound
    return None


def request_tokens(contents: Iterable[str], parameters: Mapping[str, Json]) -> int:
    """Tokens of a prompt and of the longest answer to it."""
    return prompt_tokens(contents) + (completion_bound(parameters) or GUESSED_COMPLETION_TOKENS)
