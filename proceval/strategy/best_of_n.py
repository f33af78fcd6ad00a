"""Several independent answers, one submission (best-of-n; in answer mode a majority vote: Wang et al., 2022)."""

import asyncio
from collections import Counter
from typing import Annotated

from pydantic import Field

from proceval.protocols import Check, CheckText, Respond
from proceval.schema import Completion


class BestOfN:
    """Submits the candidate with the best public score, the earliest of equals; in answer mode the commonest answer.

    All candidates are asked for and paid for, whatever the first ones score. A candidate that no provider answers
    leaves the whole sample unscored: fewer candidates would be another strategy.
    """

    name = "best_of_n"

    def __init__(self, *, candidates: Annotated[int, Field(ge=1, le=1000)]):
        self._candidates = candidates
        self.requests = (candidates, candidates)

    async def run(self, respond: Respond, check: CheckText) -> Completion:
        answers = await asyncio.gather(*(respond(()) for _ in range(self._candidates)), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        candidates = [answer for answer in answers if isinstance(answer, Completion)]
        checks: dict[str, Check] = {}
        for candidate in candidates:
            if candidate.text not in checks:
                checks[candidate.text] = await check(candidate.text)
        votes = Counter(checks[c.text].vote for c in candidates)
        votes.pop(None, None)
        return max(candidates, key=lambda c: (votes[checks[c.text].vote], checks[c.text].score))
