"""One answer to one request, whoever is asked: from the disk where it lies, else from the model and then on the disk."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proceval.credentials import hidden
from proceval.engine.plan import Sample
from proceval.engine.requests import Requests
from proceval.engine.responses import Responses, response_key
from proceval.errors import ProviderError
from proceval.protocols import Model, Request
from proceval.schema import Completion, Message, Mode, RequestFault, Response
from proceval.store import Log


@dataclass(frozen=True)
class Asking:
    """Whose answer is wanted, for which sample and turn."""

    model: Model
    requests: Requests
    strategy: str
    sample: Sample
    turn: int
    prompt_sha256: str
    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    workspace: Any = None


class Desk:
    """Where answers are asked for and found again; lives in one event loop."""

    def __init__(self, responses: Responses, faults: Path, *, mode: Mode, fsync_s: float):
        self._responses, self._faults_path, self._mode, self._fsync_s = responses, faults, mode, fsync_s
        self._faults: Log | None = None
        self.open = False
        """False while only recorded answers count."""
        self.second = False
        """True while samples that the scoring queue could not take are gone through again."""
        self.warm: asyncio.Task[None] | None = None
        """The model's loading, waited for before the first request."""
        self.resumed = 0
        """Answers found on the disk."""

    async def answer(self, asking: Asking, completions: list[Completion]) -> Completion:
        """The answer from the disk, or from the model and then the disk; it joins `completions` once it is durable."""
        sample, model = asking.sample, asking.model
        key = response_key(
            model=model.id,
            base_url=model.base_url,
            parameters=model.parameters,
            prompt_sha256=asking.prompt_sha256,
            arm=sample.arm,
            strategy=asking.strategy,
            problem_id=sample.problem.id,
            sample=sample.number,
            turn=asking.turn,
        )
        recorded = self._responses.find(key)
        if recorded is not None:
            completions.append(recorded.completion)
            self.resumed += not self.second
            return recorded.completion
        if not self.open:
            raise ProviderError("not_asked", "no recorded answer")
        if self.warm is not None:
            await asyncio.shield(self.warm)
        request = Request(
            messages=asking.messages,
            problem_id=sample.problem.id,
            sample=sample.number,
            turn=asking.turn,
            case=sample.problem if model.needs_key else None,
            mode=self._mode,
            arm=sample.arm,
            tools=asking.tools,
            workspace=asking.workspace,
        )

        def paid(completion: Completion, attempts: int) -> None:
            self._responses.add(self._response(asking, key, completion, attempts))
            completions.append(completion)

        try:
            return await asking.requests.ask(request, paid)
        except ProviderError as error:
            if error.kind not in ("not_asked", "budget"):
                self._record_fault(asking, key, error)
            raise

    def _response(self, asking: Asking, key: str, completion: Completion, attempts: int) -> Response:
        return Response(
            key=key,
            model=asking.model.id,
            base_url=asking.model.base_url,
            parameters=hidden(asking.model.parameters),
            arm=asking.sample.arm,
            strategy=asking.strategy,
            mode=self._mode,
            problem_id=asking.sample.problem.id,
            prompt_sha256=asking.prompt_sha256,
            sample=asking.sample.number,
            turn=asking.turn,
            messages=asking.messages,
            completion=completion,
            attempts=attempts,
        )

    def _record_fault(self, asking: Asking, key: str, error: ProviderError) -> None:
        if self._faults is None:
            self._faults = Log(self._faults_path, fsync_s=self._fsync_s)
        fault = RequestFault(
            key=key,
            model=asking.model.id,
            base_url=asking.model.base_url,
            arm=asking.sample.arm,
            strategy=asking.strategy,
            problem_id=asking.sample.problem.id,
            sample=asking.sample.number,
            turn=asking.turn,
            kind=error.kind,
            message=str(error),
            attempts=error.attempts,
        )
        self._faults.append(fault.model_dump_json(ensure_ascii=True))

    def close(self) -> None:
        if self._faults is not None:
            self._faults.close()
