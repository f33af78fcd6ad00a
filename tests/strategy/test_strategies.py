"""Properties of every strategy: nothing hidden leaves, everything is paid and counted, the choice is public."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from proceval.errors import ProviderError
from proceval.model.mock import Mock
from proceval.protocols import Check
from proceval.schema import Completion, Message, Response
from proceval.strategy.best_of_n import BestOfN
from proceval.strategy.flat import Flat
from proceval.strategy.sequential_repair import SequentialRepair
from sandbox.process import Process
from tests.arena import Endpoint, evaluate, http_model, problem, solve

ALL = {"flat": Flat(), "best_of_n": BestOfN(candidates=3), "sequential_repair": SequentialRepair(max_turns=3)}
PROBLEMS = [problem(n) for n in range(4)]

WRONG_FIRST = [
    "```python\ndef scaled_sum(values, factor):\n    return 0\n```",
    "```python\ndef scaled_sum(values, factor):\n    return values[5]\n```",
    "I do not know.",
]


def hidden_texts() -> list[str]:
    """Every hidden expected value and argument that is long enough to mean something, in both notations."""
    found = set()
    for asked in PROBLEMS:
        for test in asked.tests:
            found |= {str(test.expected), repr(test.arguments["values"])}
    return [text for text in found if len(text) > 4]


def requests_of(folder: Path) -> list[Response]:
    return [Response.model_validate_json(line) for line in (folder / "records.jsonl").open()]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("mode", ["code", "answer"])
def test_no_hidden_value_is_ever_in_a_request(
    box: Process, endpoint: Endpoint, tmp_path: Path, name: str, mode: Any
) -> None:
    endpoint.script(reply=WRONG_FIRST)
    track = solve(mode, system_prompt="Be brief.")
    model = http_model(endpoint.base_url)
    evaluate(PROBLEMS, tmp_path, model=model, strategy=ALL[name], track=track, scorer=track.scorer(box), samples=2)
    bodies = endpoint.stats()["bodies"]
    assert len(bodies) >= 8
    for body in bodies:
        assert body["messages"][0] == {"role": "system", "content": "Be brief."}
        text = "\n".join(message["content"] for message in body["messages"])
        shown = PROBLEMS[0].statement
        assert shown in text
        for hidden in hidden_texts():
            if mode == "answer" and re.search(rf"values = {re.escape(hidden)}\n", text):
                continue  # the instance itself is the question
            assert hidden not in text, f"{hidden} was sent"


@pytest.mark.parametrize("name", ALL)
def test_every_token_is_counted_and_requests_stay_within_what_was_announced(
    box: Process, endpoint: Endpoint, tmp_path: Path, name: str
) -> None:
    endpoint.script(reply=WRONG_FIRST, keep=False)
    track = solve("code")
    report = evaluate(
        PROBLEMS,
        tmp_path,
        model=http_model(endpoint.base_url),
        strategy=ALL[name],
        track=track,
        scorer=track.scorer(box),
    )
    answered = endpoint.stats()["answered"]
    fewest, most = ALL[name].requests
    for verdict in report.verdicts:
        assert fewest <= verdict.turns <= most
        assert verdict.completion_tokens == 5 * verdict.turns
    assert sum(verdict.turns for verdict in report.verdicts) == report.requests == answered
    assert report.completion_tokens == 5 * answered


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("mode", ["code", "answer"])
def test_a_run_repeats_byte_for_byte_and_resumes_from_any_prefix(
    box: Process, tmp_path: Path, name: str, mode: Any
) -> None:
    track = solve(mode)
    mock = Mock(id="mock", skill={"easy": 0.4}, latency_s=0.0)
    scorer = track.scorer(box)
    parts: dict[str, Any] = {"strategy": ALL[name], "track": track, "scorer": scorer, "samples": 2}
    whole = evaluate(PROBLEMS, tmp_path / "whole", model=mock, **parts)
    lines = (tmp_path / "whole" / "records.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "records.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]) + lines[-1][:40])
    part = evaluate(PROBLEMS, tmp_path / "part", model=mock, **parts)
    assert part.requests == whole.requests - len(lines) // 2
    assert (tmp_path / "part" / "verdicts.jsonl").read_bytes() == (tmp_path / "whole" / "verdicts.jsonl").read_bytes()
    assert part.outcomes == whole.outcomes


def answer(text: str) -> Completion:
    return Completion(text=text, finish_reason="stop", prompt_tokens=1, completion_tokens=1, cost_usd=0.0, latency_s=0)


def run(strategy: Any, replies: list[Any], checks: dict[str, Check]) -> tuple[Any, list[tuple[Message, ...]]]:
    asked: list[tuple[Message, ...]] = []

    async def respond(messages: tuple[Message, ...]) -> Completion:
        asked.append(messages)
        reply = replies[len(asked) - 1]
        if isinstance(reply, Exception):
            raise reply
        return answer(reply)

    async def check(text: str) -> Check:
        return checks[text]

    return asyncio.run(strategy.run(respond, check)), asked


def score(value: float, vote: str | None = None) -> Check:
    return Check(value == 1, f"scored {value}", score=value, vote=vote)


def test_best_of_n_takes_the_first_with_the_best_public_score() -> None:
    checks = {"c1": score(1), "c2": score(1), "c3": score(0.5)}
    chosen, asked = run(BestOfN(candidates=3), ["c3", "c1", "c2"], checks)
    assert chosen.text == "c1"
    assert asked == [(), (), ()]


def test_best_of_n_votes_where_answers_can_be_counted() -> None:
    checks = {"a": score(1, "7"), "b": score(1, "8"), "c": score(1, "8"), "d": score(0)}
    assert run(BestOfN(candidates=4), ["a", "b", "d", "c"], checks)[0].text == "b"
    assert run(BestOfN(candidates=2), ["a", "b"], checks)[0].text == "a", "the earliest of equals"
    assert run(BestOfN(candidates=2), ["d", "d"], checks)[0].text == "d"


def test_best_of_n_with_a_missing_candidate_is_not_best_of_fewer() -> None:
    with pytest.raises(ProviderError):
        run(BestOfN(candidates=2), ["c1", ProviderError("server", "down")], {"c1": score(1)})


def test_repair_hears_the_public_tests_and_stops_when_they_pass() -> None:
    checks = {"bad": score(0), "": score(0), "good": score(1)}
    chosen, asked = run(SequentialRepair(max_turns=5), ["bad", "", "good"], checks)
    assert chosen.text == "good"
    assert [len(messages) for messages in asked] == [0, 2, 4]
    assert [(m.role, m.content) for m in asked[2]] == [
        ("assistant", "bad"), ("user", "scored 0"), ("assistant", "(empty reply)"), ("user", "scored 0"),
    ]  # fmt: skip


def test_repair_submits_its_best_and_ends_where_the_context_does() -> None:
    checks = {"half": score(0.5), "bad": score(0)}
    assert run(SequentialRepair(max_turns=2), ["half", "bad"], checks)[0].text == "half"
    too_long = ProviderError("context_length", "too long")
    assert run(SequentialRepair(max_turns=3), ["half", too_long], checks)[0].text == "half"
    with pytest.raises(ProviderError):
        run(SequentialRepair(max_turns=3), [too_long], checks)
    with pytest.raises(ProviderError):
        run(SequentialRepair(max_turns=3), ["half", ProviderError("server", "down")], checks)
