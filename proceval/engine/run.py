"""One pass over a plan: replay what is on disk, ask for the rest, judge everything."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from proceval.credentials import hidden
from proceval.engine.asking import Asking, Desk
from proceval.engine.plan import Plan, Sample
from proceval.engine.report import EngineReport
from proceval.engine.requests import Requests
from proceval.engine.responses import Responses, prompt_digest
from proceval.engine.verdicts import Verdicts, total
from proceval.errors import InputError, ProcevalError, ProviderError, Unscored
from proceval.protocols import Check, Judgement, Model, Scorer, Strategy, Submission, Task, Track
from proceval.schema import Completion, Message, Verdict

T = TypeVar("T")


@dataclass
class Asked:
    """A sample on its way from the model to the judge."""

    sample: Sample
    prompt: tuple[Message, ...]
    prompt_sha256: str
    completions: list[Completion] = field(default_factory=list)
    judging: list[Completion] = field(default_factory=list)
    """What the judges of this sample answered."""
    submitted: Submission | None = None
    judgement: Judgement | None = None


@dataclass(frozen=True)
class Probe:
    """Stands for a case where the model is asked outside any sample."""

    id: str = "probe"
    family: str = "probe"
    domain: str = "probe"
    difficulty: str = "probe"


class Run:
    """State of one pass; lives in one event loop."""

    def __init__(
        self,
        *,
        plan: Plan,
        model: Model,
        strategy: Strategy,
        track: Track,
        scorer: Scorer,
        responses: Responses,
        requests: Requests,
        judges: Sequence[tuple[Model, Requests]],
        folder: Path,
        progress: Callable[[int, int], None],
        samples_at_once: int,
        scoring_workers: int,
        scoring_queue: int,
        fsync_s: float,
    ):
        self._plan, self._model, self._strategy, self._track, self._scorer = plan, model, strategy, track, scorer
        self._responses, self._requests, self._folder, self._progress = responses, requests, folder, progress
        self._judges = judges
        self._samples_at_once, self._scoring_workers = samples_at_once, scoring_workers
        self._queue: asyncio.Queue[Asked | None] = asyncio.Queue(scoring_queue)
        self._desk = Desk(responses, folder / "faults.jsonl", mode=track.mode, fsync_s=fsync_s)
        self._verdicts = Verdicts(folder, planned=len(plan))

    async def evaluate(self) -> EngineReport:
        if len(self._responses) < len(self._plan):
            self._desk.warm = asyncio.create_task(asyncio.to_thread(self._model.warm))
        try:
            await self._ready(asking=True)
            deferred = await self._go_through(iter(range(len(self._plan))), asking=True)
            self._desk.second = True
            if deferred:
                await self._go_through(iter(deferred), asking=False)
        finally:
            if self._desk.warm is not None:
                await asyncio.gather(self._desk.warm, return_exceptions=True)
            for model in (self._model, *(judge for judge, _ in self._judges)):
                await model.close()
        return self._finish()

    async def rescore(self) -> EngineReport:
        await self._ready(asking=False)
        await self._go_through(iter(range(len(self._plan))), asking=False)
        if not self._desk.resumed:  # or a wrong model= would replace good verdicts by nothing
            whose = f"model {self._model.id} with strategy {self._strategy.name}"
            raise InputError(
                f"{self._folder}: no recorded answer of {whose} and these parameters{self._others()}; nothing was changed"
            )
        return self._finish()

    def _others(self) -> str:
        """Whose answers there are instead, or which parameters they were given with."""
        known = self._responses.whose
        here = known.get((self._model.id, self._strategy.name))
        if here is None:
            said = [
                f"model {model} with strategy {strategy}"
                for model, strategy in known
                if not strategy.startswith("judge:")
            ]
            return f"; there are those of {', '.join(said[:3])}" if said else ""
        asked = hidden(self._model.parameters)
        named = [n for n in dict.fromkeys([*here, *asked]) if here.get(n) != asked.get(n)]
        return "".join(f"; there {name} was {here.get(name)!r} instead of {asked.get(name)!r}" for name in named[:3])

    async def _ready(self, *, asking: bool) -> None:
        """The scorer's own test, then whatever the track wants to hold before the first sample."""
        self._desk.open = asking
        await self._scorer.ready()
        turns = itertools.count()

        async def ask(arm: str, messages: tuple[Message, ...], workspace: Any = None) -> Completion:
            sample = Sample(-1, Probe(), arm, 0)
            asked = Asked(sample, messages, prompt_digest(messages))
            return await self._desk.answer(self._by_model(asked, next(turns), (), (), workspace), asked.completions)

        await self._track.ready(ask)

    def close(self) -> None:
        self._verdicts.close()
        self._desk.close()

    # -------------------------------------------------------------------------------------- the two belts

    async def _go_through(self, indices: Iterator[int], *, asking: bool) -> list[int]:
        """Ask and judge; returns the samples that were asked but found the scoring queue full."""
        self._desk.open = asking
        deferred: list[int] = []
        try:
            async with asyncio.TaskGroup() as judges:
                for _ in range(self._scoring_workers):
                    judges.create_task(self._judge())
                async with asyncio.TaskGroup() as workers:
                    for _ in range(min(self._samples_at_once, len(self._plan))):
                        workers.create_task(self._work(indices, deferred))
                for _ in range(self._scoring_workers):
                    await self._queue.put(None)
        except BaseExceptionGroup as group:
            raise _first(group) from None
        return deferred

    async def _work(self, indices: Iterator[int], deferred: list[int]) -> None:
        for index in indices:
            asked = await self._ask(self._plan[index])
            if asked.judgement is not None:
                self._record(asked, asked.judgement)
            elif not self._desk.open:
                await self._queue.put(asked)
            elif self._queue.full() and self._cheap(asked):
                deferred.append(index)
            else:
                await self._queue.put(asked)
            await asyncio.sleep(0)  # a replayed sample waits for nothing: let the others breathe

    def _cheap(self, asked: Asked) -> bool:
        """Whether the work is quickly done again from the record, and judged without asking anybody."""
        return not self._judges and (asked.submitted is None or asked.submitted.workspace is None)

    async def _judge(self) -> None:
        while (asked := await self._queue.get()) is not None:
            assert asked.submitted is not None

            async def ask(
                number: int, messages: tuple[Message, ...], attempt: int, workspace: Any = None, *, asked: Asked = asked
            ) -> Completion:
                judge, requests = self._judges[number]
                prompt = prompt_digest(messages)
                whose = f"judge:{number}"
                asking = Asking(judge, requests, whose, asked.sample, attempt, prompt, messages, workspace=workspace)
                return await self._desk.answer(asking, asked.judging)

            judging = self._track.judge(self._task(asked.sample), asked.submitted, self._scorer, ask)
            self._record(asked, await _owned(judging, "judge_fault"))

    # -------------------------------------------------------------------------------------- one sample

    async def _ask(self, sample: Sample) -> Asked:
        prompt = self._track.prompt(sample.problem, sample.arm)
        asked = Asked(sample, prompt, prompt_digest(prompt))
        turns = itertools.count()

        def respond(
            messages: tuple[Message, ...] = (), *, tools: tuple[Mapping[str, Any], ...] = (), workspace: Any = None
        ) -> "asyncio.Future[Completion]":
            asking = self._by_model(asked, next(turns), messages, tools, workspace)
            return asyncio.ensure_future(self._desk.answer(asking, asked.completions))

        async def check(text: str) -> Check:
            return await self._scorer.check(sample.problem, text)

        work = self._track.work(self._task(sample), self._strategy, respond, check)
        found = await _owned(work, "provider_fault")
        if isinstance(found, Judgement):
            asked.judgement = found
        else:
            asked.submitted = found
        return asked

    def _task(self, sample: Sample) -> Task:
        return Task(sample.problem, sample.arm, sample.number, self._folder)

    def _by_model(
        self,
        asked: Asked,
        turn: int,
        messages: tuple[Message, ...],
        tools: tuple[Mapping[str, Any], ...],
        workspace: Any,
    ) -> Asking:
        return Asking(
            self._model,
            self._requests,
            self._strategy.name,
            asked.sample,
            turn,
            asked.prompt_sha256,
            asked.prompt + messages,
            tools,
            workspace,
        )

    # -------------------------------------------------------------------------------------- records

    def _record(self, asked: Asked, judgement: Judgement) -> None:
        problem, completions = asked.sample.problem, asked.completions
        verdict = Verdict(
            model=self._model.id,
            base_url=self._model.base_url,
            arm=asked.sample.arm,
            strategy=self._strategy.name,
            mode=self._track.mode,
            problem_id=problem.id,
            family=problem.family,
            domain=problem.domain,
            difficulty=problem.difficulty,
            prompt_sha256=asked.prompt_sha256,
            sample=asked.sample.number,
            outcome=judgement.outcome,
            fault=judgement.fault,
            tests=judgement.tests,
            extraction=judgement.extraction,
            turns=len(completions),
            prompt_tokens=total([c.prompt_tokens for c in completions]),
            completion_tokens=total([c.completion_tokens for c in completions]),
            cost_usd=total([c.cost_usd for c in completions]),
            latency_s=total([c.latency_s for c in completions]),
            detail=judgement.detail,
            grades=judgement.grades,
            score=judgement.score,
            judge_cost_usd=total([c.cost_usd for c in asked.judging]) if asked.judging else 0.0,
        )
        self._verdicts.add(asked.sample.index, verdict)
        self._progress(self._verdicts.done, len(self._plan))

    def _finish(self) -> EngineReport:
        self._verdicts.publish(self._plan.report_order())
        asks = self._requests
        return EngineReport(
            folder=self._folder,
            planned=len(self._plan),
            outcomes=dict(self._verdicts.outcomes),
            requests=asks.paid,
            attempts=asks.sent,
            resumed=self._desk.resumed,
            faults=dict(sum((r.faults for _, r in self._judges), asks.faults)),
            prompt_tokens=self._verdicts.prompt_tokens,
            completion_tokens=self._verdicts.completion_tokens,
            cost_usd=None if asks.budget.unknown_usd else asks.budget.spent_usd,
            stopped=asks.stopped or next((r.stopped for _, r in self._judges if r.stopped), None),
            torn_bytes=self._responses.torn_bytes,
            duplicates=self._responses.duplicates,
            concurrency=tuple(asks.gate.history),
            judge_requests=sum(requests.paid for _, requests in self._judges),
        )


async def _owned(work: Awaitable[T], unanswered: str) -> T | Judgement:
    """What the work gives, or whose fault it is that it gives nothing: the others of a run go on.

    `unanswered` is the outcome where an endpoint gave up. Bad input and a refusing disk end the run and are raised.
    """
    try:
        return await work
    except ProviderError as error:
        return _fault("budget" if error.kind == "budget" else unanswered, f"{error.kind}: {error}")
    except Unscored as error:
        return _fault("sandbox_fault", str(error))
    except ProcevalError:
        raise
    except Exception as error:  # noqa: BLE001 - a broken part is nobody's wrong answer
        return _fault("judge_fault", f"{type(error).__name__}: {error}")


def _fault(outcome: str, detail: str) -> Judgement:
    fault = outcome.removesuffix("_fault")
    return Judgement(outcome, fault, "not_scored", detail=detail[:500])  # type: ignore[arg-type]


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one failure to report: TaskGroups nest, and all but the first are its consequences."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
