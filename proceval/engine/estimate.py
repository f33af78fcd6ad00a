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


def against(forecast: Mapping[str, float | None]) -> str:
    """One line of a forecast: what is asked for at most, and whether each budget that is set holds it."""
    requests, answers, usd = (
        forecast[name] for name in ("requests_most", "completion_tokens_at_most", "cost_usd_at_most")
    )
    prompts = forecast["prompt_tokens_most_estimate"] or 0
    told = [
        f"at most {requests:,.0f} requests",
        f"about {prompts:,.0f} prompt tokens",
        "answers of unknown length" if answers is None else f"at most {answers:,.0f} completion tokens",
        "an unknown price" if usd is None else f"at most {usd:.4f} USD",
    ]
    most = {"budget_usd": usd, "budget_tokens": None if answers is None else prompts + answers}
    told += [
        f"{name}={limit:.12g} {_holds(limit, most[name])}" for name in most if (limit := forecast.get(name)) is not None
    ]
    return ", ".join(told)


def _holds(limit: float, most: float | None) -> str:
    if most is None:
        return "may end it early: what it may take is unknown"
    return "holds it" if most <= limit else "may end it early"
