"""litellm and the lean client read one endpoint alike; advice, faults and prices mean the same through both."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from proceval.errors import InputError, ProviderError
from proceval.model.faults import duration_s, kind_of, redact, retry_after_s
from proceval.model.litellm import LiteLLM
from proceval.model.reading import completion_of
from proceval.protocols import Request
from proceval.schema import Completion, Message
from tests.arena import SAMPLING, Endpoint, evaluate, http_model, problem

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)
ASK = Request(messages=(Message(role="user", content="hi"),), problem_id="p", sample=0, turn=0)

ADVICE: list[tuple[dict[str, str], float | None]] = [
    ({"Retry-After": "7"}, 7.0),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ({"Retry-After": "Sun, 29 Nov 2026 12:00:45 GMT"}, 45.0),
    ({"Retry-After": "Sun, 29 Nov 2026 11:59:00 GMT"}, 0.0),
    ({"Retry-After": "-5"}, None),
    ({"Retry-After": "Fri, 31 Dec 99999 23:59:59 GMT"}, None),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": "nan"}, None),
    ({"Retry-After": "1e9"}, None),
    ({"Retry-After": "inf"}, None),
    ({"Retry-After": ""}, None),
    ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
    ({"x-ratelimit-reset-requests": "76ms"}, 0.076),
    ({"x-ratelimit-reset-requests": "1h2m3.5s"}, 3723.5),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "seconds"), ADVICE)
def test_advice_is_read_in_every_notation(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, now=NOW) == (None if seconds is None else pytest.approx(seconds))


def test_an_absurd_date_is_large_and_left_to_the_cap() -> None:
    seconds = retry_after_s({"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, now=NOW)
    assert seconds is not None
    assert seconds > 1e9


def test_durations() -> None:
    assert [duration_s(text) for text in ("6m0s", "76ms", "1h", "12", "", "x", "m")] == [
        360,
        0.076,
        3600,
        12,
        None,
        None,
        None,
    ]


def test_faults_are_told_apart_by_status_and_words() -> None:
    assert kind_of(400, "prompt of 300001 tokens is over this deployment's limit of 272000") == "context_length"
    assert kind_of(400, "Please reduce the length of the messages") == "context_length"
    assert kind_of(400, "temperature must be at most 2") == "bad_request"
    assert kind_of(429, "Rate limit reached: 200000 tokens per minute exceeded") == "rate_limit"
    assert kind_of(429, "insufficient_quota") == "quota"
    assert [kind_of(s, "") for s in (401, 403, 408, 429, 500, 502, 529, None)] == [
        "authentication", "authentication", "timeout", "rate_limit", "server", "server", "rate_limit", "connection",
    ]  # fmt: skip


def test_credentials_are_taken_out_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD_PROVIDER_API_KEY", "plainlooking-value")
    for text in ("key plainlooking-value", "sk-abcdef123456", "Authorization: Bearer abcdefghijk"):
        assert "[redacted]" in redact(text)
        assert "plainlooking" not in redact(text)


# ---------------------------------------------------------------------------------------------- parity

ANSWERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "cut": {"finish_reason": "length"},
    "filtered": {"finish_reason": "content_filter"},
    "refusal": {"message": {"content": None, "refusal": "no"}},
    "empty": {"reply": ""},
    "no usage": {"usage": None},
    "reasoning tokens": {
        "usage": {
            "prompt_tokens": 21, "completion_tokens": 500, "total_tokens": 521,
            "completion_tokens_details": {"reasoning_tokens": 460},
        }
    },
}  # fmt: skip

FAULTS: dict[str, dict[str, Any]] = {
    "429 with seconds": {"status": 429, "headers": {"Retry-After": "7"}},
    "429 with a negative": {"status": 429, "headers": {"Retry-After": "-5"}},
    "429 without": {"status": 429},
    "quota": {"status": 429, "body": "insufficient_quota"},
    "500": {"status": 500},
    "503 with seconds": {"status": 503, "headers": {"Retry-After": "3"}},
    "529": {"status": 529},
    "401": {"status": 401, "body": "Incorrect API key provided: sk-abcdefghijkl"},
    "404": {"status": 404},
    "context": {"status": 400, "body": "This model's maximum context length is 128 tokens"},
    "context by words": {"status": 400, "body": "prompt of 9 tokens is over this deployment's limit of 8"},
    "filter": {"status": 400, "body": "triggering the content management policy"},
    "not json": {"raw": "not json"},
    "breaks off": {"cut": 12},
    "no choices": {"raw": "{}"},
}


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        yield runner.get_loop()


def both(endpoint: Endpoint, loop: asyncio.AbstractEventLoop) -> list[Any]:
    async def one(model: Any) -> Any:
        try:
            found: Completion = await model.complete(ASK)
            return found.model_copy(update={"latency_s": 0.0, "cost_usd": None})
        except ProviderError as error:
            return error.kind, error.retry_after_s, "no key was sent" in str(error)
        finally:
            await model.close()

    lite = LiteLLM(**{**SAMPLING, "id": "openai/gpt-5-nano", "base_url": endpoint.base_url, "temperature": None})
    return [loop.run_until_complete(one(model)) for model in (lite, http_model(endpoint.base_url, temperature=None))]


@pytest.mark.parametrize("name", ANSWERS)
def test_both_clients_read_an_answer_alike(endpoint: Endpoint, loop: asyncio.AbstractEventLoop, name: str) -> None:
    endpoint.script(**ANSWERS[name])
    lite, lean = both(endpoint, loop)
    assert isinstance(lean, Completion)
    assert lite == lean
    first, second = endpoint.stats()["bodies"]
    assert first["messages"] == second["messages"] == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize("name", FAULTS)
def test_both_clients_blame_alike_and_neither_retries(
    endpoint: Endpoint, loop: asyncio.AbstractEventLoop, name: str
) -> None:
    endpoint.script(**FAULTS[name])
    lite, lean = both(endpoint, loop)
    assert lite == lean
    assert lean[2] is (lean[0] == "authentication")
    assert endpoint.stats()["requests"] == 2


@pytest.mark.parametrize("count", [10**30, 2**63, 10**9 + 1, -1, 1.5, "20", True, [1]])
def test_a_count_that_no_answer_has_is_unknown(count: Any) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": count}}
    answer = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    found = completion_of(answer, latency_s=0.0, price=lambda prompt, completion: 1.0)
    assert (found.prompt_tokens, found.completion_tokens, found.reasoning_tokens) == (None, 5, None)
    assert found.cost_usd is None


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_and_the_error_says_where_it_points(
    endpoint: Endpoint, loop: asyncio.AbstractEventLoop, status: int
) -> None:
    endpoint.script(status=status, headers={"Location": f"{endpoint.base_url}/elsewhere?key=secret"})
    model = http_model(endpoint.base_url)
    with pytest.raises(ProviderError, match=rf"redirected \({status}\) to {endpoint.base_url}/elsewhere, ") as refused:
        loop.run_until_complete(model.complete(ASK))
    loop.run_until_complete(model.close())
    assert (refused.value.kind, refused.value.transient) == ("bad_request", False)
    assert "secret" not in str(refused.value)
    assert endpoint.stats()["requests"] == 1


def test_an_answer_beyond_its_bound_is_not_read_and_is_the_providers_fault(
    endpoint: Endpoint, loop: asyncio.AbstractEventLoop
) -> None:
    endpoint.script(reply="x" * 3000)
    enough, few = (http_model(endpoint.base_url, response_bytes=most) for most in (4000, 2000))
    assert len(loop.run_until_complete(enough.complete(ASK)).text) == 3000
    with pytest.raises(ProviderError, match="longer than model.response_bytes=2000") as refused:
        loop.run_until_complete(few.complete(ASK))
    assert (refused.value.kind, refused.value.transient) == ("too_large", False)
    for model in (enough, few):
        loop.run_until_complete(model.close())


def test_reasoning_tokens_are_paid_once_and_an_unlisted_model_has_no_price(
    endpoint: Endpoint, loop: asyncio.AbstractEventLoop
) -> None:
    endpoint.script(**ANSWERS["reasoning tokens"])

    def cost(id: str) -> float | None:
        model = LiteLLM(**{**SAMPLING, "id": id, "base_url": endpoint.base_url, "temperature": None})
        found: Completion = loop.run_until_complete(model.complete(ASK))
        loop.run_until_complete(model.close())
        return found.cost_usd

    assert cost("openai/gpt-5-nano") == pytest.approx(0.00020105)
    assert cost("openai/not-in-any-table") is None


def test_parameters_reach_the_endpoint_and_null_ones_do_not(
    endpoint: Endpoint, loop: asyncio.AbstractEventLoop
) -> None:
    endpoint.script()
    reasoning = {
        **SAMPLING,
        "temperature": None,
        "max_tokens": None,
        "max_completion_tokens": 99,
        "reasoning_effort": "low",
    }
    models = (
        LiteLLM(**{**reasoning, "id": "openai/gpt-5-nano", "base_url": endpoint.base_url}),
        http_model(endpoint.base_url, **reasoning),
    )
    for model in models:
        loop.run_until_complete(model.complete(ASK))
        loop.run_until_complete(model.close())
    for body in endpoint.stats()["bodies"]:
        assert body["max_completion_tokens"] == 99
        assert body["reasoning_effort"] == "low"
        assert not {"temperature", "max_tokens", "seed", "top_p", "stop"} & set(body)


def test_an_own_endpoint_never_sees_a_providers_key(
    endpoint: Endpoint, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-belongs-to-somebody-else")
    endpoint.script()
    both(endpoint, loop)
    assert set(endpoint.stats()["authorizations"]) == {"", "Bearer none"}


@pytest.mark.parametrize(
    "url", ["ftp://x/v1", "127.0.0.1/v1", "http://user:pass@host/v1", "http://host/v1?key=abc", ""]
)
def test_a_base_url_that_is_none_or_holds_a_credential_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="base_url") as refused:
        http_model(url)
    assert "pass" not in str(refused.value)


@pytest.mark.parametrize("name", ["temperature", "messages", "api_key"])
def test_extra_may_not_hide_a_key(name: str) -> None:
    with pytest.raises(InputError, match=f"model.extra.{name}"):
        http_model("http://127.0.0.1:9/v1", extra={name: 1})


def test_runs_follow_each_other_in_one_process(endpoint: Endpoint, tmp_path: Path) -> None:
    """A sweep runs its jobs in one process, each with an event loop of its own."""
    endpoint.script()
    for name in ("a", "b"):
        model = LiteLLM(**{**SAMPLING, "id": "openai/x", "base_url": endpoint.base_url})
        report = evaluate([problem(n) for n in range(3)], tmp_path / name, model=model)
        assert (report.outcomes, report.requests) == ({"wrong_answer": 3}, 3)


# ------------------------------------------------------------------------------------------------ keys


def _lite(**changes: Any) -> LiteLLM:
    return LiteLLM(**{**SAMPLING, "base_url": None, **changes})


def test_a_key_that_is_missing_is_known_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "MY_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    assert "set OPENAI_API_KEY" in (_lite(id="openai/gpt-4o-mini").lacks() or "")
    assert "set GEMINI_API_KEY" in (_lite(id="gemini/gemini-2.5-pro").lacks() or "")
    assert _lite(id="ollama/qwen3").lacks() is None
    assert _lite(id="openai/own", base_url="http://127.0.0.1:9/v1").lacks() is None
    assert http_model("http://127.0.0.1:9/v1").lacks() is None
    for named in (
        _lite(id="openai/x", key_variable="MY_KEY"),
        http_model("http://127.0.0.1:9/v1", key_variable="MY_KEY"),
    ):
        assert "MY_KEY" in (named.lacks() or "")
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert _lite(id="gemini/gemini-2.5-pro").lacks() is None
    assert _lite(id="openai/gpt-4o-mini").lacks() is None


@pytest.mark.parametrize("stage", ["benchmark", "evaluate"])
def test_a_missing_key_ends_a_run_before_anything_is_made(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from proceval import config
    from proceval.folder import RunFolder

    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    folder = RunFolder(path=tmp_path / "run", settings={}, inputs="x", outputs=tmp_path, dataset=None)
    words = (f"stage={stage}", "model=openai", "domain=arrays", "difficulty=easy", "count=1", "tracker=off")
    made = config.build(config.compose(*words)["stage"], "stage")
    with pytest.raises(InputError, match="set OPENAI_API_KEY in the environment"):
        made.check(folder)
    assert not list(tmp_path.iterdir())
    if stage == "benchmark":
        config.build(config.compose(*words, "dry_run=true")["stage"], "stage").check(folder)
        assert "OPENAI_API_KEY" in "".join(capsys.readouterr())
