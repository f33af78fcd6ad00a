"""Samples in, verdicts out: asked beside being scored, durable in between.

Every answer is on disk before anything looks at it. A sample holds a request slot only while its request is in flight,
so neither public checks nor scoring stall requests: what the bounded scoring queue cannot take is scored afterwards,
from the record. Running the same folder again asks only for what has no answer yet.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field

from proceval.engine.estimate import against, completion_bound, prompt_tokens
from proceval.engine.limiter import Budget, Gate, Window
from proceval.engine.plan import Plan
from proceval.engine.report import EngineReport
from proceval.engine.requests import Requests, Say
from proceval.engine.responses import Responses
from proceval.engine.run import Run
from proceval.errors import InputError
from proceval.protocols import Case, Model, Scorer, Strategy, Track
from proceval.store import lock

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Called with (samples judged, samples planned)."""

MINUTE_S = 60.0

Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class Engine:
    """The evaluation loop with its bounds; one engine serves any number of runs, one after another."""

    def __init__(
        self,
        *,
        concurrency: Positive,
        attempts: Positive,
        deadline_s: Seconds,
        request_timeout_s: Seconds,
        retry_cap_s: Seconds,
        unreachable_after_s: Seconds,
        give_up_after: Positive,
        requests_per_minute: Positive | None,
        tokens_per_minute: Positive | None,
        budget_usd: Seconds | None,
        budget_tokens: Positive | None,
        scoring_workers: Positive,
        scoring_queue: Positive,
        fsync_s: Annotated[float, Field(ge=0)],
    ):
        self._concurrency = concurrency
        self._retry: dict[str, Any] = {
            "attempts": attempts,
            "deadline_s": deadline_s,
            "request_timeout_s": request_timeout_s,
            "retry_cap_s": retry_cap_s,
            "unreachable_after_s": unreachable_after_s,
            "give_up_after": give_up_after,
        }
        self._requests_per_minute, self._tokens_per_minute = requests_per_minute, tokens_per_minute
        self.budget_usd, self.budget_tokens = budget_usd, budget_tokens
        self._scoring_workers, self._scoring_queue = scoring_workers, scoring_queue
        self._fsync_s = fsync_s

    def evaluate(
        self,
        problems: Sequence[Case],
        *,
        model: Model,
        strategy: Strategy,
        track: Track,
        scorer: Scorer,
        samples: int,
        folder: Path,
        progress: Progress,
        rescore: bool = False,
        say: Say = lambda line: None,
    ) -> EngineReport:
        """Ask for every sample that has no answer in `folder` yet, score all, and write verdicts.jsonl.

        With `rescore` only recorded answers are judged: `model` and `strategy` say whose are meant, the model is never
        called, and a sample without an answer stays unscored. `say` is given single lines: the forecast where there is a
        budget, and the first failed request. Start the sandbox on the main thread before. Raises InputError when another
        process holds the folder, two problems share an id, or there is nothing to judge again; StorageError when the disk
        refuses a record; Unscored when the scorer fails its canary.
        """
        plan = Plan(problems, arms=track.arms, samples=samples)
        if track.mode != scorer.mode:
            raise InputError(f"the track asks for {track.mode} and the scorer judges {scorer.mode}")
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            stack.enter_context(lock(folder))
            responses = Responses(folder / "records.jsonl", fsync_s=self._fsync_s)
            stack.callback(responses.close)
            budget = self._budget(responses)
            if not rescore and len(responses) < len(plan):
                self._tell(problems, model, strategy, track, samples, say)
            run = Run(
                plan=plan,
                model=model,
                strategy=strategy,
                track=track,
                scorer=scorer,
                responses=responses,
                requests=self._requests(model, budget, responses, say),
                judges=[(judge, self._requests(judge, budget, responses, say)) for judge in track.judges()],
                folder=folder,
                progress=progress,
                samples_at_once=2 * self._concurrency,
                scoring_workers=self._scoring_workers,
                scoring_queue=self._scoring_queue,
                fsync_s=self._fsync_s,
            )
            stack.callback(run.close)
            return run_to_end(run.rescore() if rescore else run.evaluate())

    def unpriced(self, model: Model) -> str | None:
        """One sentence where a budget in dollars cannot be kept since this model's price is not known, or None."""
        if self.budget_usd is None or model.cost_usd(1, 1) is not None:
            return None
        return (
            f"engine.budget_usd={self.budget_usd:g} cannot be kept: the price of {model.id} is unknown; openai_http and "
            "command take prices (model.usd_per_million_prompt_tokens, model.usd_per_million_completion_tokens), and "
            "engine.budget_tokens needs none"
        )

    def forecast(
        self, problems: Sequence[Case], *, model: Model, strategy: Strategy, track: Track, samples: int
    ) -> dict[str, float | None]:
        """What a run from nothing asks for: samples, requests, tokens of first prompts (about) and answers, cost, budget.

        `cost_usd_at_most` prices every request with its first prompt and the longest answer the parameters allow; later
        turns of a repair carry longer prompts, which it does not foresee. null where price or bound is unknown. Budgets
        are there where they are set. Judges are not counted.
        """
        plan = Plan(problems, arms=track.arms, samples=samples)
        fewest, most = getattr(track, "requests", None) or strategy.requests
        free = model.cost_usd(1_000_000, 1_000_000) == 0  # however long
        longest = completion_bound(model.parameters)
        bound = 0 if free else longest
        tokens, cost = 0, None if bound is None else 0.0
        for problem in problems:
            for arm in track.arms:
                prompt = prompt_tokens(message.content for message in track.prompt(problem, arm))
                tokens += prompt
                price = None if bound is None else model.cost_usd(prompt, bound)
                cost = None if cost is None or price is None else cost + price
        return {
            "samples": len(plan),
            "requests_fewest": len(plan) * fewest,
            "requests_most": len(plan) * most,
            "prompt_tokens_estimate": tokens * samples * fewest,
            "prompt_tokens_most_estimate": tokens * samples * most,
            "completion_tokens_at_most": None if longest is None else len(plan) * most * longest,
            "cost_usd_at_most": None if cost is None else cost * samples * most,
            **{name: limit for name, limit in self._budgets().items() if limit is not None},
        }

    def _budgets(self) -> dict[str, float | None]:
        return {"budget_usd": self.budget_usd, "budget_tokens": self.budget_tokens}

    def _tell(
        self, problems: Sequence[Case], model: Model, strategy: Strategy, track: Track, samples: int, say: Say
    ) -> None:
        """The forecast beside the budget, before the first request; a run without a budget says nothing."""
        if any(limit is not None for limit in self._budgets().values()):
            found = self.forecast(problems, model=model, strategy=strategy, track=track, samples=samples)
            say(f"forecast {against(found)}" + ("; judges are not counted" if track.judges() else ""))

    def _budget(self, responses: Responses) -> Budget:
        """The whole run's, judges included."""
        budget = Budget(usd=self.budget_usd, tokens=self.budget_tokens)
        for tokens, cost_usd in responses.spent:
            budget.spend(tokens, cost_usd)
        return budget

    def _requests(self, model: Model, budget: Budget, responses: Responses, say: Say) -> Requests:
        most = min(self._concurrency, model.max_in_flight or self._concurrency)
        window = Window(requests=self._requests_per_minute, tokens=self._tokens_per_minute, window_s=MINUTE_S)
        if responses.written_s_ago < MINUTE_S:
            window.sent_before([tokens for tokens, _ in responses.spent], responses.written_s_ago)
        return Requests(
            model,
            gate=Gate(most),
            window=window,
            budget=budget,
            say=say,
            **self._retry,
        )


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code, also where a loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1, thread_name_prefix="proceval-engine") as beside:
        return beside.submit(asyncio.run, work).result()
