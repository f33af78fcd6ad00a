"""A deterministic offline judge that looks for phrases: it shows the machinery and judges nothing that a phrase does not."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from proceval.model.gold import offline
from proceval.protocols import Request
from proceval.schema import ABSENT, Completion, Json

Manner = Literal["exact", "lenient", "harsh", "stumbling", "broken"]


class ScriptedJudge:
    """Takes a paragraph that holds all signs of a criterion, or its id where it has none, for the claim in question.

    `manner`: `exact`; `lenient` passes and `harsh` fails everything; `stumbling` answers rightly at the second attempt;
    `broken` never keeps to the contract. Free and immediate.
    """

    base_url: str | None = None
    needs_key = True
    modes = ("judge",)
    max_in_flight: int | None = None

    def __init__(self, *, id: str, manner: Manner):
        self.id = id
        self._manner = manner
        self.parameters: Mapping[str, Json] = {"manner": manner}

    def warm(self) -> None:
        """Nothing to load."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0

    async def complete(self, request: Request) -> Completion:
        text = request.messages[0].content
        if self._manner == "broken":
            return offline("All in all a fine piece of work.", request)
        rows = [self._row(request, id, kind, _paragraphs(text)) for id, kind in _criteria(text)]
        if self._manner == "stumbling" and len(request.messages) == 1:
            rows[0]["evidence"] = "words that nobody has said"
        return offline(json.dumps(rows), request)

    async def close(self) -> None:
        """Nothing is open."""

    def _row(self, request: Request, id: str, kind: str, paragraphs: list[str]) -> dict[str, Any]:
        known = {criterion.id: criterion.signs for criterion in getattr(request.case, "criteria", ())}
        signs = [sign.casefold() for sign in known.get(id) or (id,)]
        claim = next((p for p in paragraphs if all(sign in p.casefold() for sign in signs)), None)
        if self._manner in ("lenient", "harsh"):
            claimed = (self._manner == "lenient") != (kind == "must_not_flag")
            claim = paragraphs[0] if claimed else None
        passed = (claim is None) == (kind == "must_not_flag")
        return {"id": id, "passed": passed, "evidence": ABSENT if claim is None else claim}


def _criteria(prompt: str) -> list[tuple[str, str]]:
    return re.findall(r"^- id: (\S+)\n  kind: (\S+)$", prompt, re.MULTILINE)


def _paragraphs(prompt: str) -> list[str]:
    """The transcript inside a judge's prompt, by paragraphs, each in one line."""
    transcript = re.split(r"^=====.*=====$", prompt, flags=re.MULTILINE)[-2]
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", transcript) if part.strip()]
