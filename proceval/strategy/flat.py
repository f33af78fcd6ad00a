"""One request, one submission."""

from proceval.protocols import CheckText, Respond
from proceval.schema import Completion


class Flat:
    """Submits the first answer."""

    name = "flat"
    requests = (1, 1)

    async def run(self, respond: Respond, check: CheckText) -> Completion:
        return await respond(())
