"""Any model that litellm reaches: `model=litellm model.id=provider/name`. Its own retries and telemetry are off."""

import os
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from proceval.errors import ProviderError
from proceval.model.faults import keyless, provider_error, redact
from proceval.model.parameters import checked_url, key_from, missing, sampling
from proceval.model.providers import checked_id, missing_key
from proceval.model.reading import body, completion_of
from proceval.protocols import Request
from proceval.schema import Completion, Json


class LiteLLM:
    """A litellm model id, e.g. `openai/gpt-4o-mini`, with chat and sampling parameters; null ones are not sent.

    Keys come from the environment: the provider's own variable, or `key_variable`. An own `base_url` gets no key unless
    `key_variable` names one, so that a provider's key never goes elsewhere. Redirects are followed and answers have no
    bound in bytes here, since litellm offers neither setting for all providers: `openai_http` has both.
    """

    needs_key = False

    def __init__(
        self,
        *,
        id: Annotated[str, Field(min_length=1)],
        base_url: str | None,
        key_variable: str | None,
        temperature: Annotated[float, Field(ge=0)] | None,
        top_p: Annotated[float, Field(gt=0, le=1)] | None,
        max_tokens: Annotated[int, Field(ge=1)] | None,
        max_completion_tokens: Annotated[int, Field(ge=1)] | None,
        reasoning_effort: str | None,
        seed: int | None,
        stop: list[str] | None,
        extra: dict[str, Any],
        max_in_flight: Annotated[int, Field(ge=1)] | None,
    ):
        self.id = checked_id(id) if base_url is None else id
        self.base_url = None if base_url is None else checked_url(base_url)
        self.max_in_flight = max_in_flight
        self._key_variable = key_variable
        self.parameters: Mapping[str, Json] = sampling(
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            max_completion_tokens=max_completion_tokens,
            reasoning_effort=reasoning_effort,
            seed=seed,
            stop=stop,
            extra=extra,
        )

    def warm(self) -> None:
        """Import litellm, which takes seconds."""
        _litellm()

    def lacks(self) -> str | None:
        """One sentence where the provider's key is known to be missing, without importing litellm."""
        if self._key_variable is not None:
            return missing(self._key_variable)
        return missing_key(self.id) if self.base_url is None else None

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """By litellm's own table of prices; None for a model that is not in it."""
        table = _litellm().model_cost
        row = table.get(self.id) or table.get(self.id.partition("/")[2])
        try:
            return float(prompt_tokens * row["input_cost_per_token"] + completion_tokens * row["output_cost_per_token"])
        except (KeyError, TypeError):
            return None

    async def complete(self, request: Request) -> Completion:
        """One attempt. Raises ProviderError; InputError when the key's variable is not set."""
        litellm = _litellm()
        from openai import OpenAIError

        started = time.monotonic()
        try:
            answer = await litellm.acompletion(
                model=self.id,
                num_retries=0,
                max_retries=0,
                timeout=3600,  # the engine's own limit comes first
                **body(request),
                **self._endpoint(),
                **self.parameters,
            )
        except OpenAIError as error:
            told = _translated(error)
            sent = self._key_variable is not None or self.base_url is None
            raise (told if sent else keyless(told)) from None
        try:
            return completion_of(answer.model_dump(), latency_s=time.monotonic() - started, price=self.cost_usd)
        except ValueError as error:
            raise ProviderError("server", redact(f"unreadable answer: {error}")[:500]) from None

    async def close(self) -> None:
        """Close litellm's cached clients, which belong to this event loop."""
        import sys

        if "litellm" in sys.modules:
            litellm = _litellm()
            await litellm.close_litellm_async_clients()
            litellm.in_memory_llm_clients_cache.flush_cache()  # or the next run in this process gets the closed ones

    def _endpoint(self) -> dict[str, str]:
        given = {} if self.base_url is None else {"api_base": self.base_url}
        if self._key_variable is not None:
            return given | {"api_key": key_from(self._key_variable)}
        return given | ({"api_key": "none"} if self.base_url is not None else {})


def _litellm() -> Any:
    """litellm, told before its import to stay off the network and to keep quiet."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


def _translated(error: Any) -> ProviderError:
    """Our error for one of litellm's, which all derive from the openai package's."""
    import litellm
    import openai

    message = str(getattr(error, "message", None) or error)
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    if isinstance(error, litellm.exceptions.ContextWindowExceededError):
        return ProviderError("context_length", redact(message)[:500])
    if isinstance(error, litellm.exceptions.ContentPolicyViolationError):
        return ProviderError("content_filter", redact(message)[:500])
    broke_off = next((cause for cause in _causes(error) if _reached(cause)), None)
    if broke_off is not None:
        said = f"the answer broke off: {type(broke_off).__name__}: {broke_off}"
        return ProviderError("server", redact(said)[:500])
    if isinstance(error, openai.APITimeoutError):
        return ProviderError("timeout", redact(message)[:500])
    if isinstance(error, openai.APIConnectionError):
        return ProviderError("connection", redact(message)[:500])
    status = getattr(error, "status_code", None)
    return provider_error(status if isinstance(status, int) else 500, message, headers)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it was raised for; litellm hides the transport's own below two of its own."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def _reached(error: BaseException) -> bool:
    """Whether the endpoint had begun to answer, so that it is not one that nobody can connect to."""
    import aiohttp

    return isinstance(error, aiohttp.ClientPayloadError | aiohttp.ClientResponseError)
