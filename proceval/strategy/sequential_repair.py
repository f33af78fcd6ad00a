"""Answer, hear what the public tests say, answer again (self-repair: Chen et al., 2023; Olausson et al., 2023)."""

from typing import Annotated

from pydantic import Field

from proceval.errors import ProviderError
from proceval.protocols import CheckText, Respond
from proceval.schema import Completion, Message


class SequentialRepair:
    """Up to `max_turns` answers in one conversation; submits the best by public score, the latest of equals.

    Stops at the first answer that passes the public tests. A conversation that outgrows the model's context ends with
    what it has.
    """

    name = "sequential_repair"

    def __init__(self, *, max_turns: Annotated[int, Field(ge=1, le=100)]):
        self._max_turns = max_turns
        self.requests = (1, max_turns)

    async def run(self, respond: Respond, check: CheckText) -> Completion:
        conversation: tuple[Message, ...] = ()
        best: Completion | None = None
        best_score = -1.0
        for turn in range(self._max_turns):
            try:
                answer = await respond(conversation)
            except ProviderError as error:
                if error.kind == "context_length" and best is not None:
                    return best
                raise
            said = await check(answer.text)
            if said.score >= best_score:
                best, best_score = answer, said.score
            if said.passed or turn == self._max_turns - 1:
                break
            reply = answer.text if answer.text.strip() else "(empty reply)"
            conversation += (Message(role="assistant", content=reply), Message(role="user", content=said.feedback))
        assert best is not None
        return best
