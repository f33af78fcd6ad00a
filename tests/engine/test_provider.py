"""A scripted endpoint that limits, fails and lies: nothing is lost, nothing is paid twice, and the limits are kept."""

import json
import os
from pathlib import Path

import pytest

from proceval.engine import loop
from proceval.engine.responses import Responses
from proceval.errors import InputError, ProviderError
from proceval.protocols import Request
from proceval.schema import Completion, Problem
from tests.arena import Endpoint, evaluate, http_model, problem, quick, solve


def many(count: int) -> list[Problem]:
    return [problem(n) for n in range(count)]


def keys(folder: Path) -> list[str]:
    return [json.loads(line)["key"] for line in (folder / "records.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(("share_429", "share_500"), [(0.1, 0.0), (0.0, 0.05), (0.1, 0.05)], ids=["429", "500", "both"])
def test_passing_faults_lose_nothing(endpoint: Endpoint, tmp_path: Path, share_429: float, share_500: float) -> None:
    endpoint.script(share_429=share_429, share_500=share_500, retry_after="0.2", keep=False)
    report = evaluate(many(120), tmp_path, model=http_model(endpoint.base_url), engine=quick(attempts=8))
    seen = endpoint.stats()
    assert report.outcomes == {"wrong_answer": 120}
    assert report.exit_status == 0
    assert len(set(keys(tmp_path))) == len(keys(tmp_path)) == report.requests == seen["answered"] == 120
    assert report.attempts == seen["requests"]
    assert report.faults.get("rate_limit", 0) == seen["429"]
    assert report.faults.get("server", 0) == seen["500"]
    assert seen["early"] == 0, "a retry came before the moment that Retry-After named"
    assert bool(report.concurrency) == bool(seen["429"]), "only a 429 cuts the number of requests in flight"
    assert not (tmp_path / "faults.jsonl").exists()


def test_requests_a_minute_are_kept_ahead_of_the_first_refusal(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """400 samples at 300 a window: one window must pass, a second must not. The window is shortened on both sides."""
    monkeypatch.setattr(loop, "MINUTE_S", 3.0)
    endpoint.script(per_window=300, window_s=3.0, keep=False)
    engine = quick(requests_per_minute=300, concurrency=50)
    report = evaluate(many(400), tmp_path, model=http_model(endpoint.base_url), engine=engine)
    seen = endpoint.stats()
    assert (seen["429"], seen["answered"], report.faults) == (0, 400, {})
    assert 3.0 <= seen["span_s"] < 30.0, "400 requests fit into two windows, however busy this machine is"


def test_a_window_goes_on_over_a_restart(endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five a window, in two passes of five: the second waits for the window of the first."""
    monkeypatch.setattr(loop, "MINUTE_S", 3.0)
    endpoint.script(per_window=5, window_s=3.0, keep=False)
    model = http_model(endpoint.base_url)
    for count in (5, 10):
        report = evaluate(many(count), tmp_path, model=model, engine=quick(requests_per_minute=5))
        assert (report.requests, report.faults) == (5, {})
    assert endpoint.stats()["429"] == 0
    monkeypatch.setattr(loop, "MINUTE_S", 60.0)
    os.utime(tmp_path / "records.jsonl", (0, 0))
    endpoint.script(keep=False)
    assert evaluate(many(11), tmp_path, model=model, engine=quick(requests_per_minute=1)).requests == 1


@pytest.mark.slow
def test_three_hundred_requests_a_real_minute(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(per_window=300, window_s=60.0, keep=False)
    engine = quick(requests_per_minute=300, concurrency=50, deadline_s=120.0)
    evaluate(many(400), tmp_path, model=http_model(endpoint.base_url), engine=engine)
    seen = endpoint.stats()
    assert (seen["429"], seen["answered"]) == (0, 400)
    assert 60.0 <= seen["span_s"] < 70.0


def test_tokens_a_minute_are_reserved_and_settled(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """25 tokens are used of about 400 reserved: settled reservations let more through within the window."""
    monkeypatch.setattr(loop, "MINUTE_S", 1.0)
    endpoint.script(keep=False)
    engine = quick(tokens_per_minute=1000)
    report = evaluate(many(30), tmp_path, model=http_model(endpoint.base_url), engine=engine)
    assert report.outcomes.get("wrong_answer") == 30
    assert endpoint.stats()["peak"] <= 3


def test_requests_in_flight_are_bounded(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(latency_s=0.02, keep=False)
    evaluate(many(60), tmp_path / "a", model=http_model(endpoint.base_url), engine=quick(concurrency=7))
    assert endpoint.stats()["peak"] == 7
    endpoint.script(latency_s=0.02, keep=False)
    evaluate(many(20), tmp_path / "b", model=http_model(endpoint.base_url, max_in_flight=2))
    assert endpoint.stats()["peak"] == 2


def test_an_endpoint_that_only_fails_ends_the_run(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(status=500)
    model = http_model(endpoint.base_url)
    report = evaluate(many(100), tmp_path, model=model, engine=quick(attempts=2, give_up_after=5))
    assert report.outcomes == {"provider_fault": 100}
    assert report.exit_status == 3
    assert report.stopped is not None
    assert "5 requests in a row" in report.stopped
    assert endpoint.stats()["requests"] < 100
    faults = [json.loads(line) for line in (tmp_path / "faults.jsonl").read_text().splitlines()]
    assert {fault["kind"] for fault in faults} == {"server"}
    endpoint.script()
    assert evaluate(many(100), tmp_path, model=model).outcomes == {"wrong_answer": 100}, "the next run asks again"


@pytest.mark.parametrize(
    ("status", "body", "kind", "requests"),
    [
        (401, "Incorrect API key provided", "authentication", 1),
        (429, "You exceeded your current quota: insufficient_quota", "quota", 1),
        (404, "no such model", "bad_request", 3),
        (400, "This model's maximum context length is 128 tokens", "context_length", 8),
        (400, "filtered by the content management policy", "content_filter", 8),
    ],
)
def test_permanent_errors_are_told_apart_and_not_retried(
    endpoint: Endpoint, tmp_path: Path, status: int, body: str, kind: str, requests: int
) -> None:
    endpoint.script(status=status, body=body)
    engine = quick(concurrency=1, give_up_after=3)
    report = evaluate(many(8), tmp_path, model=http_model(endpoint.base_url), engine=engine)
    assert report.faults == {kind: requests}
    assert endpoint.stats()["requests"] == requests
    assert report.unscored == 8
    assert (report.stopped is None) == (requests == 8)
    assert any(kind in verdict.detail for verdict in report.verdicts)


def test_an_endpoint_that_hangs_or_is_not_there_is_a_fault(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(hang=True)
    engine = quick(request_timeout_s=0.2, attempts=2)
    report = evaluate(many(3), tmp_path / "a", model=http_model(endpoint.base_url), engine=engine)
    assert report.faults == {"timeout": 6}


def test_an_endpoint_that_never_answers_the_door_ends_the_run_and_says_why_at_once(tmp_path: Path) -> None:
    """However many attempts a request has: knocking goes on for `unreachable_after_s` and no longer."""
    said: list[str] = []
    for attempts in (1, 50):
        engine = quick(attempts=attempts, unreachable_after_s=0.7, concurrency=4)
        model = http_model("http://127.0.0.1:9/v1")
        report = evaluate(many(200), tmp_path / str(attempts), model=model, engine=engine, say=said.append)
        assert report.outcomes == {"provider_fault": 200}
        assert set(report.faults) == {"connection"}
        assert report.stopped is not None
        assert "http://127.0.0.1:9/v1" in report.stopped
        assert "unreachable_after_s=0.7" in report.stopped
        assert report.attempts > 4, "a server may be starting: one refusal is not the end"
    assert len(said) == 2, "one line a run"
    assert "connection: " in said[0]


@pytest.mark.parametrize("cut", [0, 12])
def test_an_endpoint_that_breaks_off_was_reached_and_attempts_are_counted(
    endpoint: Endpoint, tmp_path: Path, cut: int
) -> None:
    endpoint.script(cut=cut)
    engine = quick(attempts=2, retry_cap_s=0.05, unreachable_after_s=20.0)
    report = evaluate(many(3), tmp_path, model=http_model(endpoint.base_url), engine=engine)
    assert (report.outcomes, report.faults, report.stopped) == ({"provider_fault": 3}, {"server": 6}, None)
    assert endpoint.stats()["requests"] == 6
    assert all("broke off" in verdict.detail for verdict in report.verdicts)


def test_a_server_that_is_starting_is_waited_for(endpoint: Endpoint, tmp_path: Path) -> None:
    """The door opens after the attempts of every request would be used up."""
    endpoint.script()
    inner, refusals = http_model(endpoint.base_url), iter(range(12))

    async def complete(request: Request) -> Completion:
        if next(refusals, None) is not None:
            raise ProviderError("connection", "refused")
        return await real(request)

    real, inner.complete = inner.complete, complete  # type: ignore[method-assign]
    report = evaluate(
        many(3), tmp_path, model=inner, engine=quick(attempts=2, retry_cap_s=0.05, unreachable_after_s=20)
    )
    assert report.outcomes == {"wrong_answer": 3}
    assert report.faults == {"connection": 12}


def test_the_deadline_ends_a_request_before_its_attempts_do(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(status=429, headers={})
    engine = quick(attempts=50, deadline_s=1.5, retry_cap_s=0.5)
    report = evaluate(many(2), tmp_path, model=http_model(endpoint.base_url), engine=engine)
    assert report.outcomes == {"provider_fault": 2}
    assert 2 <= endpoint.stats()["requests"] < 20


@pytest.mark.parametrize(
    "raw", ["not json", "{}", '{"choices": []}', '{"choices": [{"message": {"content": 5}}]}', "[1]"]
)
def test_an_unreadable_answer_is_a_fault_and_not_a_wrong_answer(endpoint: Endpoint, tmp_path: Path, raw: str) -> None:
    endpoint.script(raw=raw)
    report = evaluate(many(1), tmp_path, model=http_model(endpoint.base_url), engine=quick(attempts=2, retry_cap_s=0.1))
    assert report.outcomes == {"provider_fault": 1}
    assert report.faults == {"server": 2}


def test_a_token_budget_ends_the_run_and_a_larger_one_goes_on(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(keep=False)  # 25 tokens an answer
    model = http_model(endpoint.base_url, max_tokens=5)
    first = evaluate(many(40), tmp_path, model=model, engine=quick(budget_tokens=700))
    assert first.stopped is not None
    assert "budget_tokens=700" in first.stopped
    assert first.exit_status == 3
    assert 0 < first.requests * 25 <= 700
    assert first.outcomes == {"wrong_answer": first.requests, "budget": 40 - first.requests}
    again = evaluate(many(40), tmp_path, model=model, engine=quick(budget_tokens=700))
    assert again.requests == 0, "what a resumed run has spent before counts"
    last = evaluate(many(40), tmp_path, model=model, engine=quick(budget_tokens=10_000))
    assert (last.outcomes, last.requests) == ({"wrong_answer": 40}, 40 - first.requests)


def test_a_dollar_budget_is_kept_whatever_one_answer_costs(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(keep=False)
    prices = {"usd_per_million_prompt_tokens": 1000.0, "usd_per_million_completion_tokens": 4000.0}  # 0.04 an answer
    model = http_model(endpoint.base_url, max_tokens=5, **prices)
    report = evaluate(many(40), tmp_path / "a", model=model, engine=quick(budget_usd=0.5))
    assert report.cost_usd == pytest.approx(0.04 * report.requests)
    held = 0.02 + (len(solve("code").prompt(problem(0), "default")[0].content) // 4 + 4) / 1000
    assert 0.5 - held - 0.041 < report.cost_usd <= 0.5 - held + 0.04, "until the next one might not fit any more"
    unknown = evaluate(many(5), tmp_path / "b", model=http_model(endpoint.base_url), engine=quick(budget_usd=0.5))
    assert unknown.requests == 1
    assert unknown.cost_usd is None
    assert "price of this model is unknown" in str(unknown.stopped)


def test_unknown_usage_is_unknown_and_not_zero(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(usage=None)
    model = http_model(endpoint.base_url, usd_per_million_prompt_tokens=1.0, usd_per_million_completion_tokens=1.0)
    report = evaluate(many(1), tmp_path, model=model)
    verdict = next(report.verdicts)
    assert (verdict.prompt_tokens, verdict.completion_tokens, verdict.cost_usd) == (None, None, None)
    assert report.cost_usd is None


def test_a_key_reaches_the_endpoint_and_nothing_else(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "sk-very-secret-0123456789"
    monkeypatch.setenv("MY_ENDPOINT_KEY", secret)
    model = http_model(endpoint.base_url, key_variable="MY_ENDPOINT_KEY")
    endpoint.script()
    evaluate(many(2), tmp_path, model=model)
    assert endpoint.stats()["authorizations"] == [f"Bearer {secret}"]
    endpoint.script(status=401, body=f"Incorrect API key provided: {secret}")
    evaluate(many(4), tmp_path, model=model)
    for file in tmp_path.iterdir():
        assert secret not in file.read_text()
    assert secret not in "".join(capfd.readouterr())
    monkeypatch.delenv("MY_ENDPOINT_KEY")
    with pytest.raises(InputError, match="MY_ENDPOINT_KEY"):
        evaluate(many(5), tmp_path, model=model)


def test_two_models_in_one_folder_never_share_an_answer(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script()
    for changes in ({}, {"id": "other"}, {"temperature": 0.5}, {"max_tokens": 7}, {"seed": 1}, {"extra": {"top_k": 3}}):
        report = evaluate(many(2), tmp_path, model=http_model(endpoint.base_url, **changes))
        assert (report.requests, report.resumed) == (2, 0)
    assert evaluate(many(2), tmp_path, model=http_model(endpoint.base_url)).resumed == 2
    responses = Responses(tmp_path / "records.jsonl", fsync_s=1.0)
    assert (len(responses), responses.duplicates) == (12, 0)
    responses.close()
