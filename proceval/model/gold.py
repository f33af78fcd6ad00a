"""The answer key as a model: its score must be 1, or the judge is broken."""

import json
from collections.abc import Mapping

from proceval.errors import InputError
from proceval.protocols import Request
from proceval.schema import Completion, Json, Problem


class Gold:
    """Answers with the reference (code) or the proved answer (answer mode); free and immediate."""

    base_url: str | None = None
    needs_key = True
    modes = ("code", "answer")
    max_in_flight: int | None = None

    def __init__(self, *, id: str):
        self.id = id
        self.parameters: Mapping[str, Json] = {}

    def warm(self) -> None:
        """Nothing to load."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0

    async def complete(self, request: Request) -> Completion:
        assert request.case is not None
        return offline(right(request), request)

    async def close(self) -> None:
        """Nothing is open."""


def problem_of(request: Request) -> Problem:
    """The proved problem that a request is about. Raises InputError for a case of another track."""
    if not isinstance(request.case, Problem):
        raise InputError("model=gold and model=mock answer proved problems: give track=solve, or another model")
    return request.case


def right(request: Request) -> str:
    """The right reply to a request that carries its key."""
    problem = problem_of(request)
    if request.mode == "answer":
        return f"ANSWER: {json.dumps(problem.expected)}"
    return f"```python\n{problem.reference.rstrip()}\n```\n"


def offline(text: str, request: Request, finish_reason: str = "stop") -> Completion:
    """A free reply with token counts of about four characters each."""
    return Completion(
        text=text,
        finish_reason=finish_reason,  # type: ignore[arg-type]
        prompt_tokens=sum(len(m.content) // 4 + 4 for m in request.messages),
        completion_tokens=len(text) // 4,
        cost_usd=0.0,
        latency_s=0.0,
    )
