"""A deterministic offline reviewer that is handed the rubric: it shows the machinery and reviews nothing."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from proceval.errors import InputError
from proceval.model.gold import offline
from proceval.protocols import Request
from proceval.schema import Completion, Criterion, Json, ToolCall
from proceval.seeding import rng

Share = Annotated[float, Field(ge=0, le=1)]
Manner = Literal["plain", "rewriting", "empty", "refusing", "blind"]


class ScriptedReviewer:
    """Gets each criterion right with probability `skill[arm]`, by the same dice in every arm.

    `manner`: `plain`; `rewriting` edits the first file where it has a workspace; `empty` says nothing; `refusing`
    declines; `blind` sees no skill. `says` is put before every review. Free and immediate.
    """

    base_url: str | None = None
    needs_key = True
    modes = ("review",)
    max_in_flight: int | None = None

    def __init__(self, *, id: str, skill: dict[str, Share], manner: Manner, says: str | None):
        self.id = id
        self._skill, self._manner, self._says = skill, manner, says
        self.parameters: Mapping[str, Json] = {"skill": dict(skill), "manner": manner, "says": says}

    def warm(self) -> None:
        """Nothing to load."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0

    async def complete(self, request: Request) -> Completion:
        """Raises InputError for a case that is no review, and for an arm without a skill of its own."""
        place = request.workspace
        if not hasattr(request.case, "criteria"):
            if request.case is not None and request.case.id != "probe":
                raise InputError("model=scripted_reviewer reviews: give track=review")
            return self._kept(offline(self._skills(request), request), place)
        if request.arm not in self._skill:
            raise InputError(f"model.skill.{request.arm}: missing; skills are set for {', '.join(self._skill)}")
        if request.tools and not any(message.role == "tool" for message in request.messages):
            calls = [ToolCall(id="list", name="list_files", arguments="{}")]
            for number, file in enumerate(request.case.files):
                calls.append(ToolCall(id=f"{number}", name="read_file", arguments=json.dumps({"path": file.path})))
            return offline("", request).model_copy(update={"tool_calls": tuple(calls)})
        if self._manner == "rewriting" and place is not None:
            file = request.case.files[0]
            place.workspace.write(file.path, place.workspace.read(file.path) + b"\n")
        if self._manner == "refusing":
            return self._kept(offline("", request, "refusal"), place)
        text = "" if self._manner == "empty" else "\n\n".join(self._review(request)) + "\n"
        return self._kept(offline(text, request), place)

    async def close(self) -> None:
        """Nothing is open."""

    def _kept(self, completion: Completion, place: Any) -> Completion:
        return completion if place is None else completion.model_copy(update={"workspace_sha256": place.keep()[0]})

    def _skills(self, request: Request) -> str:
        """The skills it was really given: named in its messages, or lying in its workspace."""
        if self._manner == "blind":
            return "none"
        texts = [message.content for message in request.messages if message.role == "system"]
        found = [name for text in texts for name in re.findall(r"You have a skill, `([^`]+)`", text)]
        if request.workspace is not None:
            found += [path.split("/")[-2] for path in request.workspace.workspace.list() if path.endswith("/SKILL.md")]
        return "\n".join(found) or "none"

    def _review(self, request: Request) -> Iterator[str]:
        case, share = request.case, self._skill[request.arm]
        if self._says:
            yield self._says
        yield f"I have read {', '.join(f'`{file.path}`' for file in case.files)}."
        whole = rng("scripted_reviewer", case.id, request.sample).random()
        for criterion in case.criteria:
            own = rng("scripted_reviewer", case.id, request.sample, criterion.id).random()
            right = (own if case.key is None else whole) < share
            if right != (criterion.kind == "must_not_flag"):
                yield claim(criterion)
        if case.key is not None:
            yield _finding(case.key, whole < share)


def claim(criterion: Criterion) -> str:
    """A paragraph that flags what a criterion is about."""
    signs = " and ".join(f"`{sign}`" for sign in criterion.signs or (criterion.id,))
    return f"{signs}: this is a problem and should be changed, as {criterion.id} says."


def _finding(key: Any, right: bool) -> str:
    """The end of a review of a case with a key: its witness, or null."""
    nothing_wrong = (key.get("truth") == "harmless") == right
    made_up = {"line": 1, "input": {}, "expected": 0, "actual": 1}
    found = None if nothing_wrong else key.get("witness") or made_up
    return f"```json\n{json.dumps(found)}\n```"
