"""OpenAI-compatible endpoints without litellm: one HTTP request a completion, at a thirtieth of its CPU cost."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from proceval.errors import ProviderError
from proceval.model.faults import keyless, provider_error, redact
from proceval.model.parameters import checked_url, key_from, missing, sampling
from proceval.model.reading import body, completion_of
from proceval.protocols import Request
from proceval.schema import Completion, Json

if TYPE_CHECKING:
    import aiohttp


class OpenAIHttp:
    """`base_url`/chat/completions, with the key from the environment variable `key_variable` (null: none is sent).

    Sampling parameters that are null are not sent. `extra` goes into the request body as it is. Prices are in dollars a
    million tokens; null means unknown. An answer of more than `response_bytes`, unpacked, is not read. Redirects are not
    followed: prompts go where the configuration says and nowhere else.
    """

    needs_key = False

    def __init__(
        self,
        *,
        id: str,
        base_url: str,
        key_variable: str | None,
        temperature: Annotated[float, Field(ge=0)] | None,
        top_p: Annotated[float, Field(gt=0, le=1)] | None,
        max_tokens: Annotated[int, Field(ge=1)] | None,
        max_completion_tokens: Annotated[int, Field(ge=1)] | None,
        reasoning_effort: str | None,
        seed: int | None,
        stop: list[str] | None,
        extra: dict[str, Any],
        usd_per_million_prompt_tokens: Annotated[float, Field(ge=0)] | None,
        usd_per_million_completion_tokens: Annotated[float, Field(ge=0)] | None,
        response_bytes: Annotated[int, Field(ge=1024)],
        max_in_flight: Annotated[int, Field(ge=1)] | None,
    ):
        self.id = id
        self.base_url: str | None = checked_url(base_url)
        self.max_in_flight = max_in_flight
        self._response_bytes = response_bytes
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
        self._prices = (usd_per_million_prompt_tokens, usd_per_million_completion_tokens)
        self._session: aiohttp.ClientSession | None = None

    def warm(self) -> None:
        """Import the HTTP client."""
        import aiohttp  # noqa: F401

    def lacks(self) -> str | None:
        """One sentence where the key is missing, or None."""
        return None if self._key_variable is None else missing(self._key_variable)

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        prompt, completion = self._prices
        if prompt is None or completion is None:
            return None
        return (prompt_tokens * prompt + completion_tokens * completion) / 1e6

    async def complete(self, request: Request) -> Completion:
        """One HTTP request. Raises ProviderError; InputError when the key's variable is not set."""
        import aiohttp

        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0)
            self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None))
        content = {"model": self.id, **body(request), **self.parameters}
        started = time.monotonic()
        try:
            async with self._session.post(
                f"{self.base_url}/chat/completions", json=content, headers=self._headers(), allow_redirects=False
            ) as answer:
                text = await self._text(answer)
                status, headers = answer.status, answer.headers
        except aiohttp.ClientResponseError as error:  # it answered, though not in HTTP
            raise ProviderError("server", redact(f"unreadable answer: {error.message}")[:500]) from None
        except (aiohttp.ClientError, OSError) as error:
            raise ProviderError("connection", redact(f"{type(error).__name__}: {error}")[:500]) from None
        if 300 <= status < 400:
            raise ProviderError("bad_request", _redirected(status, headers))
        if status != 200:
            refused = provider_error(status, _message(text), headers)
            raise keyless(refused) if self._key_variable is None else refused
        try:
            return completion_of(json.loads(text), latency_s=time.monotonic() - started, price=self.cost_usd)
        except ValueError as error:
            raise ProviderError("server", redact(f"unreadable answer: {error}")[:500]) from None

    async def _text(self, answer: "aiohttp.ClientResponse") -> str:
        """The body of an answer that has begun: whoever breaks off here was reached."""
        import aiohttp

        held = bytearray()
        try:
            async for piece in answer.content.iter_any():
                held += piece
                if len(held) > self._response_bytes:
                    answer.close()
                    raise ProviderError(
                        "too_large", f"the answer is longer than model.response_bytes={self._response_bytes}"
                    )
        except (aiohttp.ClientError, OSError) as error:
            said = f"the answer broke off after {len(held)} bytes: {type(error).__name__}: {error}"
            raise ProviderError("server", redact(said)[:500]) from None
        try:
            return held.decode(answer.charset or "utf-8", "replace")
        except LookupError:  # a charset that nobody knows
            return held.decode("utf-8", "replace")

    async def close(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()
            await asyncio.sleep(0)

    def _headers(self) -> dict[str, str]:
        if self._key_variable is None:
            return {}
        return {"Authorization": f"Bearer {key_from(self._key_variable)}"}


def _redirected(status: int, headers: Mapping[str, str]) -> str:
    """What an endpoint says that is elsewhere; the query of an address may hold a credential."""
    where = headers.get("Location", "").partition("?")[0]
    return redact(f"redirected ({status}) to {where or 'nowhere'}, which is not followed: see model.base_url")[:500]


def _message(text: str) -> str:
    """The words of an error body: `error.message` and its codes where it has that shape, the body itself elsewhere."""
    try:
        error = json.loads(text)["error"]
        details = error.get("details")
        found = (error.get("code"), error.get("type"), details.get("error_code") if isinstance(details, dict) else None)
        codes = ", ".join(dict.fromkeys(str(code) for code in found if code))
        return str(error["message"]) + (f" ({codes})" if codes else "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return text[:2000]
