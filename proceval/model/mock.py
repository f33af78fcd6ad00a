"""A deterministic offline model that fails in every way a real one does.

What it says follows from the problem's id, the sample and the turn alone. Its scores show the machinery; they say
nothing about how hard anything is, because its skill is a number in a YAML file.
"""

import asyncio
import json
from collections.abc import Mapping
from random import Random
from typing import Annotated

from pydantic import Field

from proceval.errors import InputError
from proceval.model.gold import offline, problem_of, right
from proceval.model.slips import slips
from proceval.protocols import Request
from proceval.schema import Completion, Json, Problem
from proceval.seeding import rng

Share = Annotated[float, Field(ge=0, le=1)]

FAILURES = (*["mutant"] * 4, "crash", "syntax", "loop", "hoard", "empty", "prose", "refusal", "truncation")
"""Ways to fail, with equal chances."""


class Mock:
    """Answers rightly with probability `skill[difficulty]`, otherwise in one of FAILURES; free."""

    base_url: str | None = None
    needs_key = True
    modes = ("code", "answer")
    max_in_flight: int | None = None

    def __init__(self, *, id: str, skill: dict[str, Share], latency_s: Annotated[float, Field(ge=0)]):
        self.id = id
        self._skill = skill
        self._latency_s = latency_s
        self.parameters: Mapping[str, Json] = {"skill": dict(skill)}

    def warm(self) -> None:
        """Nothing to load."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0

    async def complete(self, request: Request) -> Completion:
        """Raises InputError for a case of another track, and when no skill is set for the problem's difficulty."""
        tier = problem_of(request).difficulty
        if tier not in self._skill:
            raise InputError(f"model.skill.{tier}: missing; skills are set for {', '.join(self._skill) or 'nothing'}")
        if self._latency_s:
            await asyncio.sleep(self._latency_s)
        random = rng("mock", request.case.id, request.sample, request.turn)
        if random.random() < self._skill[tier]:
            return offline(right(request), request)
        failure = _order(request.case.id)[(request.sample + request.turn) % len(FAILURES)]
        if failure == "refusal":
            return offline("I'm sorry, but I can't help with that.", request, "refusal")
        if failure == "empty":
            return offline("", request)
        if failure == "prose":
            return offline("The task can be solved with a careful case analysis of its input.", request)
        if failure == "truncation":
            return offline(right(request)[: len(right(request)) // 2].removeprefix("ANSWER"), request, "length")
        if request.mode == "answer":
            return offline(_wrong_answer(request.case, random), request)
        return offline(f"```python\n{_wrong_program(request.case, failure, random).rstrip()}\n```\n", request)

    async def close(self) -> None:
        """Nothing is open."""


def _order(problem_id: str) -> list[str]:
    """The ways to fail in an order of the problem's own, so that a few samples already show many of them."""
    return rng("mock", problem_id).sample(FAILURES, len(FAILURES))


def _wrong_program(problem: Problem, failure: str, random: Random) -> str:
    header = f"def {problem.entry_point}({', '.join(problem.parameters)}):\n"
    if failure == "syntax":
        return problem.reference.replace(":\n", "\n", 1)
    if failure == "crash":
        return f"{header}    table = {{}}\n    return table[{problem.parameters[0]!r}]\n"
    if failure == "loop":
        return f"{header}    done = False\n    while not done:\n        pass\n    return 0\n"
    if failure == "hoard":
        return f"{header}    seen = []\n    while True:\n        seen.append([0] * 1_000_000)\n"
    edits = slips(problem.reference)
    return random.choice(edits) if edits else f"{header}    return None\n"


def _wrong_answer(problem: Problem, random: Random) -> str:
    return f"ANSWER: {json.dumps(_near(problem.expected, random))}"


def _near(value: Json, random: Random) -> Json:
    """A value of the same kind that differs in one place; something of another kind where there is none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + random.choice((-2, -1, 1, 2))
    if isinstance(value, dict) and value:
        key = random.choice(sorted(value))
        return value | {key: _near(value[key], random)}
    if isinstance(value, list) and value:
        return [*value[:-1], _near(value[-1], random)]
    return [value]
