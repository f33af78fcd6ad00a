"""Reading a chat completion in the OpenAI shape: text, why it ended, usage, cost; unknown is None and never zero."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from proceval.protocols import Request
from proceval.schema import Completion, Message, ToolCall

Price = Callable[[int, int], float | None]
"""(prompt tokens, completion tokens) -> dollars, or None where unknown."""

MOST_TOKENS = 10**9
"""No answer has more: what says so is no count, and would not fit into the tables that counts go to."""

FinishReason = Literal["stop", "length", "content_filter", "refusal", "other"]

_FINISH: dict[str, FinishReason] = {
    "tool_calls": "stop", "function_call": "stop", "tool_use": "stop",
    "stop": "stop", "end_turn": "stop", "stop_sequence": "stop", "eos": "stop", "length": "length",
    "max_tokens": "length", "content_filter": "content_filter", "content_filtered": "content_filter",
    "safety": "content_filter", "refusal": "refusal",
}  # fmt: skip


def chat(message: Message) -> dict[str, Any]:
    """A message in the shape of the OpenAI chat interface."""
    found: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        found["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        found["tool_call_id"] = message.tool_call_id
    return found


def body(request: Request) -> dict[str, Any]:
    """Messages, and tools where there are any."""
    found: dict[str, Any] = {"messages": [chat(message) for message in request.messages]}
    return found | ({"tools": [dict(tool) for tool in request.tools]} if request.tools else {})


def completion_of(answer: Any, *, latency_s: float, price: Price) -> Completion:
    """The first choice of an answer. Raises ValueError when it is not a chat completion.

    Reasoning tokens are part of the completion tokens, as they are billed. An empty text is a text; a missing one with
    a refusal beside it is a refusal.
    """
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        finish = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"no choices[0].message ({error!r})") from None
    if isinstance(text, list):
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, Mapping))
    if text is not None and not isinstance(text, str):
        raise ValueError("choices[0].message.content is not text")
    usage = answer.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    details = usage.get("completion_tokens_details")
    reasoning = _count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else None
    if not prompt and not completion:  # no prompt has no tokens: some clients write zeros where nothing was said
        prompt = completion = None
    return Completion(
        text=_clean(text if text else str(refusal or "")),
        finish_reason="refusal" if refusal and not text else _FINISH.get(str(finish).lower(), "other"),
        prompt_tokens=prompt,
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        cost_usd=None if prompt is None or completion is None else price(prompt, completion),
        latency_s=latency_s,
        tool_calls=_calls(message.get("tool_calls")),
    )


def _calls(given: Any) -> tuple[ToolCall, ...]:
    """Tool calls as the model wrote them; one without a name is kept with an empty one, so that it can be answered."""
    if not isinstance(given, list):
        return ()
    found = []
    for place, call in enumerate(given):
        function = call.get("function") if isinstance(call, Mapping) else None
        function = function if isinstance(function, Mapping) else {}
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments if arguments is not None else {})
        identity = str((call.get("id") if isinstance(call, Mapping) else None) or f"call_{place}")
        found.append(
            ToolCall(id=_clean(identity), name=_clean(str(function.get("name") or "")), arguments=_clean(text))
        )
    return tuple(found)


def _count(value: Any) -> int | None:
    """A token count; a negative, impossible or odd one is unknown."""
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def _clean(text: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
