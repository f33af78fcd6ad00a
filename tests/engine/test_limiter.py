"""The bounds by themselves: order, cancellation, and what is waited for."""

import asyncio
from random import Random
from typing import Any

import pytest

from proceval.engine.limiter import Budget, Exhausted, Gate, Window
from proceval.engine.requests import backoff_s
from proceval.errors import InputError
from proceval.model.gold import Gold
from proceval.protocols import Judgement
from proceval.schema import Message
from proceval.track.solve import Solve
from tests.arena import evaluate, problem, quick, solve


def test_waiting_is_first_come_first_served_and_retries_go_first() -> None:
    async def main() -> list[str]:
        gate, order = Gate(1), []

        async def pass_through(name: str, retry: bool) -> None:
            await gate.enter(retry=retry)
            order.append(name)
            await asyncio.sleep(0)
            gate.leave()

        await gate.enter(retry=False)
        waiting = [asyncio.ensure_future(pass_through(n, r)) for n, r in [("a", False), ("b", False), ("again", True)]]
        await asyncio.sleep(0)
        gate.leave()
        await asyncio.gather(*waiting)
        assert gate.active == 0
        return order

    assert asyncio.run(main()) == ["again", "a", "b"]


def test_a_cancelled_waiter_loses_no_place() -> None:
    async def main() -> None:
        gate = Gate(1)
        await gate.enter(retry=False)
        waiting = [asyncio.ensure_future(gate.enter(retry=False)) for _ in range(3)]
        await asyncio.sleep(0)
        gate.leave()  # the first waiter has its place, and is cancelled before it runs
        waiting[0].cancel()
        waiting[1].cancel()
        await asyncio.wait_for(waiting[2], 1)
        assert gate.active == 1

    asyncio.run(main())


def test_one_burst_of_429_cuts_once_and_success_grows_back() -> None:
    gate = Gate(16)
    sent = gate._cut + 1e-9  # all sent before the first refusal came back
    for _ in range(5):
        gate.throttled(sent)
    assert gate.limit == 8
    assert [limit for _, limit in gate.history] == [8]
    for _ in range(1000):
        gate.succeeded()
    assert gate.limit == 16
    for _ in range(20):
        gate.throttled(float("inf"))
    assert gate.limit == 1, "never cut to nothing"


def test_a_request_larger_than_the_whole_token_limit_still_goes_alone() -> None:
    async def main() -> None:
        window = Window(requests=None, tokens=10, window_s=60.0)
        entry = await asyncio.wait_for(window.admit(500), 1)
        window.settle(entry, 3)
        await asyncio.wait_for(window.admit(7), 1)
        blocked = asyncio.ensure_future(window.admit(1))
        await asyncio.sleep(0.05)
        assert not blocked.done()
        window.close()
        await asyncio.wait_for(blocked, 1)

    asyncio.run(main())


def test_backoff_grows_with_jitter_follows_advice_and_never_beyond_the_cap() -> None:
    random = Random(1)

    def waits(failures: int, advice: float | None) -> list[float]:
        return [backoff_s(failures, advice, cap_s=60.0, random=random) for _ in range(200)]

    for failures, most in [(1, 1), (2, 2), (3, 4), (7, 60), (5000, 60)]:
        found = waits(failures, None)
        assert most / 2 <= min(found) < max(found) <= most
    assert all(7 < wait < 7.5 for wait in waits(1, 7.0)), "advice is not undercut, and not everybody comes back at once"
    for absurd in (251606347199.0, 3600.0, float("inf")):
        assert all(60 < wait < 61 for wait in waits(1, absurd))
    assert all(0 < wait < 1 for wait in waits(9, -3.0))


def test_a_budget_admits_one_until_it_knows_what_one_costs() -> None:
    async def main() -> None:
        budget = Budget(usd=None, tokens=100)
        first = await budget.reserve(10, None)
        second = asyncio.ensure_future(budget.reserve(10, None))
        await asyncio.sleep(0.01)
        assert not second.done()
        budget.spend(40, None)
        budget.release(first)
        hold = await second
        assert hold.tokens == 40, "the longest answer so far is held, not the estimate"
        budget.spend(40, None)
        budget.release(hold)
        with pytest.raises(Exhausted, match="80 spent"):
            await budget.reserve(10, None)

    asyncio.run(main())


class Priced(Gold):
    """A dollar for every thousand tokens of an answer; the first answer is short, the others as long as they may be."""

    def __init__(self, *, max_tokens: int, usage: bool = True):
        super().__init__(id="priced")
        self.parameters = {"max_tokens": max_tokens}
        self._most, self._usage, self.asked = max_tokens, usage, 0

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return completion_tokens / 1000

    async def complete(self, request: Any) -> Any:
        self.asked += 1
        tokens = 1 if self.asked == 1 else self._most
        await asyncio.sleep(0.01)
        counts: dict[str, Any] = {"prompt_tokens": None, "completion_tokens": None, "cost_usd": None}
        if self._usage:
            counts = {"prompt_tokens": 1, "completion_tokens": tokens, "cost_usd": self.cost_usd(1, tokens)}
        return (await super().complete(request)).model_copy(update=counts)


def test_a_dollar_budget_holds_what_an_answer_may_cost_and_not_what_the_first_one_did(tmp_path: Any) -> None:
    problems, model = [problem(n) for n in range(30)], Priced(max_tokens=100)
    report = evaluate(problems, tmp_path / "a", model=model, engine=quick(budget_usd=1.0))
    assert report.requests == 10, "one of 0.001 and nine of 0.1; another could go beyond"
    assert report.cost_usd == pytest.approx(0.901)
    assert "budget_usd=1.0 has no room for another request: 0.901000 spent" in str(report.stopped)
    dear = Priced(max_tokens=1001)
    report = evaluate(problems, tmp_path / "b", model=dear, engine=quick(budget_usd=1.0))
    assert (dear.asked, report.outcomes, report.exit_status) == (0, {"budget": 30}, 3)
    assert {(v.fault, v.scored, v.detail[:11]) for v in report.verdicts} == {("budget", False, "budget: not")}
    assert "it may cost 1.001" in str(report.stopped)


def test_an_answer_without_usage_is_booked_as_what_was_reserved_for_it(tmp_path: Any) -> None:
    problems = [problem(n) for n in range(30)]
    for begun in range(2):
        model = Priced(max_tokens=1000, usage=False)
        report = evaluate(problems, tmp_path, model=model, engine=quick(budget_tokens=5000))
        assert model.asked == (0 if begun else 4), "a prompt and 1,000 tokens each; a resumed run knows of them"
        assert "budget_tokens=5000 has no room for another request: 4" in str(report.stopped)


class Breaks(Gold):
    async def complete(self, request: Any) -> Any:
        raise KeyError("a bug of the client")


def test_a_client_that_breaks_is_a_fault_and_not_a_wrong_answer(tmp_path: Any) -> None:
    report = evaluate([problem(0)], tmp_path, model=Breaks(id="x"))
    assert (report.outcomes, report.faults) == ({"provider_fault": 1}, {"client": 1})


def test_it_runs_where_a_loop_runs_already(tmp_path: Any) -> None:
    async def cell() -> Any:
        return evaluate([problem(0)], tmp_path, model=Gold(id="gold"), engine=quick())

    assert asyncio.run(cell()).requests == 1


def test_progress_counts_to_the_plan(tmp_path: Any) -> None:
    seen: list[tuple[int, int]] = []
    evaluate(
        [problem(n) for n in range(5)], tmp_path, model=Gold(id="g"), samples=2, progress=lambda *p: seen.append(p)
    )
    assert seen == [(n, 10) for n in range(1, 11)]


@pytest.mark.parametrize(
    ("budgets", "priced", "told"),
    [
        ({}, True, None),
        ({"budget_usd": 9.0}, True, "at most 3.0000 USD, budget_usd=9 holds it"),
        ({"budget_usd": 2.9}, True, "at most 3.0000 USD, budget_usd=2.9 may end it early"),
        ({"budget_tokens": 100_000}, False, "at most 3,000 completion tokens, an unknown price, budget_tokens=100000 holds"),
        ({"budget_tokens": 3_000}, True, "at most 3.0000 USD, budget_tokens=3000 may end it early"),
    ],
)  # fmt: skip
def test_a_run_with_a_budget_tells_its_forecast_before_it_asks(
    tmp_path: Any, budgets: dict[str, float], priced: bool, told: str | None
) -> None:
    said: list[str] = []
    model = Priced(max_tokens=100)
    if not priced:
        model.cost_usd = lambda prompt, completion: None  # type: ignore[method-assign]
    problems, engine = [problem(n) for n in range(30)], quick(**budgets, give_up_after=1)
    for problems_asked in (problems, problems[:1]):
        evaluate(problems_asked, tmp_path, model=model, engine=engine, say=said.append)
    assert len(said) == (told is not None), "once, and not where everything is on record"
    assert told is None or told in said[0]
    assert told is None or "at most 30 requests, about " in said[0]


def test_answers_of_no_known_length_may_end_a_token_budget_early(tmp_path: Any) -> None:
    said: list[str] = []
    evaluate([problem(0)], tmp_path, model=Gold(id="g"), engine=quick(budget_tokens=10**9), say=said.append)
    assert (
        "answers of unknown length, at most 0.0000 USD, budget_tokens=1000000000 may end it early: what it" in said[0]
    )


def test_a_judge_that_the_budget_has_no_room_for_is_nobodys_fault(tmp_path: Any) -> None:
    class Judged(Solve):
        def judges(self) -> tuple[Any, ...]:
            return (dear,)

        async def judge(self, task: Any, submission: Any, scorer: Any, ask: Any) -> Judgement:
            await ask(0, (Message(role="user", content="good?"),), 0)
            raise AssertionError("the judge was paid")

    dear, said = Priced(max_tokens=2000), []
    track = Judged(mode="code", system_prompt=None, messages=[], template=None)
    report = evaluate(
        [problem(0)], tmp_path, model=Priced(max_tokens=10), track=track, engine=quick(budget_usd=1.0), say=said.append
    )
    assert (report.outcomes, report.requests, dear.asked) == ({"budget": 1}, 1, 0)
    assert said[0].endswith("; judges are not counted")


def test_where_the_provider_stopped_the_run_the_unasked_are_the_providers(endpoint: Any, tmp_path: Any) -> None:
    from tests.arena import http_model

    endpoint.script(status=401, body="no")
    engine = quick(concurrency=1, budget_tokens=10**9)
    report = evaluate([problem(n) for n in range(5)], tmp_path, model=http_model(endpoint.base_url), engine=engine)
    assert report.outcomes == {"provider_fault": 5}


def test_a_forecast_pays_nothing_and_says_what_it_does_not_know() -> None:
    from proceval.strategy.sequential_repair import SequentialRepair
    from tests.arena import http_model

    prices = {"usd_per_million_prompt_tokens": 1.0, "usd_per_million_completion_tokens": 2.0}
    track, problems = solve("code"), [problem(n) for n in range(3)]
    parts: dict[str, Any] = {"strategy": SequentialRepair(max_turns=4), "track": track, "samples": 5}
    known = quick().forecast(problems, model=http_model("http://127.0.0.1:9/v1", **prices), **parts)
    assert (known["samples"], known["requests_fewest"], known["requests_most"]) == (15, 15, 60)
    prompt = known["prompt_tokens_estimate"] / 15
    assert known["cost_usd_at_most"] == pytest.approx(60 * (prompt * 1 + 256 * 2) / 1e6)
    assert known["completion_tokens_at_most"] == 60 * 256
    unknown = quick().forecast(problems, model=http_model("http://127.0.0.1:9/v1"), **parts)
    assert unknown["cost_usd_at_most"] is None
    assert quick().forecast(problems, model=Gold(id="g"), **parts)["cost_usd_at_most"] == 0, "free, however long"


WORDS = ("model=openai_http", "model.id=m", "model.base_url=http://127.0.0.1:9/v1", "count=1", "engine.budget_usd=1")


def test_a_dollar_budget_without_a_price_is_refused_before_anything_is_made(proceval: Any, tmp_path: Any) -> None:
    run = proceval(*WORDS)
    assert run.returncode == 2
    assert run.stderr.startswith("proceval: engine.budget_usd=1 cannot be kept: the price of m is unknown; ")
    assert len(run.stderr.splitlines()) == 1
    assert not list(tmp_path.rglob("dataset.jsonl"))


@pytest.mark.parametrize(
    ("priced", "judge_priced", "budget", "refused"),
    [
        (1.0, 0.0, 1.0, None),
        (1.0, None, 1.0, "price of judge is"),
        (None, 0.0, 1.0, "price of m is"),
        (None, None, 0, None),
    ],
)
def test_a_judge_needs_a_price_too(priced: Any, judge_priced: Any, budget: float, refused: str | None) -> None:
    from proceval.stage.evaluate import Evaluate
    from tests.arena import http_model

    def model(price: Any, name: str) -> Any:
        prices = {"usd_per_million_prompt_tokens": price, "usd_per_million_completion_tokens": price}
        return http_model("http://127.0.0.1:9/v1", id=name, **prices)

    class Judged(Solve):
        def judges(self) -> tuple[Any, ...]:
            return (model(judge_priced, "judge"),)

    stage = Evaluate(
        engine=quick(budget_usd=budget or None),
        track=Judged(mode="code", system_prompt=None, messages=[], template=None),
        model=model(priced, "m"), strategy=None, sandbox=None, samples=1, limit=None, dry_run=False, rescore=False,
    )  # fmt: skip
    if refused is None:
        stage.check_models()
        return
    with pytest.raises(InputError, match=refused):
        stage.check_models()
