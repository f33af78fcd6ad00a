"""One pass over a plan: replay what is on disk, ask for the rest, judge everything."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from proceval.engine.plan import Plan, Sample
from proceval.engine.report import EngineReport
from proceval.engine.requests import Requests
from proceval.engine.responses import Responses, prompt_digest, response_key
from proceval.engine.verdicts import Verdicts, total
from proceval.errors import InputError, ProcevalError, ProviderError, Unscored
from proceval.protocols import Check, Judgement, Model, Request, Scorer, Strategy, Track
from proceval.schema import Completion, Message, RequestFault, Response, Verdict
from proceval.store import Log


@dataclass
class Asked:
    """A sample on its way from the model to the judge."""

    sample: Sample
    prompt: tuple[Message, ...]
    prompt_sha256: str
    completions: list[Completion] = field(default_factory=list)
    submitted: Completion | None = None
    judgement: Judgement | None = None


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
        folder: Path,
        progress: Callable[[int, int], None],
        samples_at_once: int,
        scoring_workers: int,
        scoring_queue: int,
        fsync_s: float,
    ):
        self._plan, self._model, self._strategy, self._track, self._scorer = plan, model, strategy, track, scorer
        self._responses, self._requests, self._folder, self._progress = responses, requests, folder, progress
        self._samples_at_once, self._scoring_workers = samples_at_once, scoring_workers
        self._queue: asyncio.Queue[Asked | None] = asyncio.Queue(scoring_queue)
        self._fsync_s = fsync_s
        self._asking = False
        self._second = False
        """True while samples that the scoring queue could not take are gone through again."""
        self._warm: asyncio.Task[None] | None = None
        self._faults: Log | None = None
        self._verdicts = Verdicts(folder, planned=len(plan))
        self._resumed = 0

    async def evaluate(self) -> EngineReport:
        await self._scorer.ready()
        if len(self._responses) < len(self._plan):
            self._warm = asyncio.create_task(asyncio.to_thread(self._model.warm))
        try:
            deferred = await self._go_through(iter(range(len(self._plan))), asking=True)
            self._second = True
            if deferred:
                await self._go_through(iter(deferred), asking=False)
        finally:
            if self._warm is not None:
                await asyncio.gather(self._warm, return_exceptions=True)
            await self._model.close()
        return self._finish()

    async def rescore(self) -> EngineReport:
        await self._scorer.ready()
        await self._go_through(iter(range(len(self._plan))), asking=False)
        if not self._resumed:  # or a wrong model= would replace good verdicts by nothing
            whose = f"model {self._model.id} with strategy {self._strategy.name}"
            raise InputError(f"{self._folder}: no recorded answer of {whose} and these parameters; nothing was changed")
        return self._finish()

    def close(self) -> None:
        self._verdicts.close()
        if self._faults is not None:
            self._faults.close()

    # -------------------------------------------------------------------------------------- the two belts

    async def _go_through(self, indices: Iterator[int], *, asking: bool) -> list[int]:
        """Ask and judge; returns the samples that were asked but found the scoring queue full."""
        self._asking = asking
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
            elif not self._asking:
                await self._queue.put(asked)
            elif self._queue.full():
                deferred.append(index)
            else:
                self._queue.put_nowait(asked)
            await asyncio.sleep(0)  # a replayed sample waits for nothing: let the others breathe

    async def _judge(self) -> None:
        while (asked := await self._queue.get()) is not None:
            assert asked.submitted is not None
            try:
                judgement = await self._scorer.score(asked.sample.problem, asked.submitted)
            except ProcevalError:
                raise
            except Exception as error:  # noqa: BLE001 - a judge that breaks is nobody's wrong answer
                judgement = _fault("judge_fault", f"{type(error).__name__}: {error}")
            self._record(asked, judgement)

    # -------------------------------------------------------------------------------------- one sample

    async def _ask(self, sample: Sample) -> Asked:
        prompt = self._track.prompt(sample.problem, sample.arm)
        asked = Asked(sample, prompt, prompt_digest(prompt))
        turns = itertools.count()

        def respond(messages: tuple[Message, ...] = ()) -> "asyncio.Future[Completion]":
            return asyncio.ensure_future(self._respond(asked, next(turns), messages))

        async def check(text: str) -> Check:
            return await self._scorer.check(sample.problem, text)

        try:
            asked.submitted = await self._strategy.run(respond, check)
        except ProviderError as error:
            asked.judgement = _fault("provider_fault", f"{error.kind}: {error}")
        except Unscored as error:
            asked.judgement = _fault("sandbox_fault", str(error))
        except ProcevalError:
            raise
        except Exception as error:  # noqa: BLE001 - a broken part leaves its sample unscored and the others alone
            asked.judgement = _fault("judge_fault", f"{type(error).__name__}: {error}")
        return asked

    async def _respond(self, asked: Asked, turn: int, messages: tuple[Message, ...]) -> Completion:
        """The answer from the disk, or from the model and then the disk."""
        sample, model = asked.sample, self._model
        key = response_key(
            model=model.id,
            base_url=model.base_url,
            parameters=model.parameters,
            prompt_sha256=asked.prompt_sha256,
            arm=sample.arm,
            strategy=self._strategy.name,
            problem_id=sample.problem.id,
            sample=sample.number,
            turn=turn,
        )
        recorded = self._responses.find(key)
        if recorded is not None:
            asked.completions.append(recorded.completion)
            self._resumed += not self._second
            return recorded.completion
        if not self._asking:
            raise ProviderError("not_asked", "no recorded answer")
        if self._warm is not None:
            await asyncio.shield(self._warm)
        request = Request(
            messages=asked.prompt + messages,
            problem_id=sample.problem.id,
            sample=sample.number,
            turn=turn,
            case=sample.problem if model.needs_key else None,
            mode=self._track.mode,
        )

        def paid(completion: Completion, attempts: int) -> None:
            self._responses.add(self._response(asked, key, request, completion, attempts))
            asked.completions.append(completion)

        try:
            return await self._requests.ask(request, paid)
        except ProviderError as error:
            if error.kind != "not_asked":
                self._record_fault(asked, key, turn, error)
            raise

    def _response(self, asked: Asked, key: str, request: Request, completion: Completion, attempts: int) -> Response:
        return Response(
            key=key,
            model=self._model.id,
            base_url=self._model.base_url,
            parameters=dict(self._model.parameters),
            arm=asked.sample.arm,
            strategy=self._strategy.name,
            mode=self._track.mode,
            problem_id=request.problem_id,
            prompt_sha256=asked.prompt_sha256,
            sample=request.sample,
            turn=request.turn,
            messages=request.messages,
            completion=completion,
            attempts=attempts,
        )

    # -------------------------------------------------------------------------------------- records

    def _record_fault(self, asked: Asked, key: str, turn: int, error: ProviderError) -> None:
        if self._faults is None:
            self._faults = Log(self._folder / "faults.jsonl", fsync_s=self._fsync_s)
        fault = RequestFault(
            key=key,
            model=self._model.id,
            base_url=self._model.base_url,
            arm=asked.sample.arm,
            strategy=self._strategy.name,
            problem_id=asked.sample.problem.id,
            sample=asked.sample.number,
            turn=turn,
            kind=error.kind,
            message=str(error),
            attempts=error.attempts,
        )
        self._faults.append(fault.model_dump_json(ensure_ascii=True))

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
            resumed=self._resumed,
            faults=dict(asks.faults),
            prompt_tokens=self._verdicts.prompt_tokens,
            completion_tokens=self._verdicts.completion_tokens,
            cost_usd=None if asks.budget.unknown_usd else asks.budget.spent_usd,
            stopped=asks.stopped,
            torn_bytes=self._responses.torn_bytes,
            duplicates=self._responses.duplicates,
            concurrency=tuple(asks.gate.history),
        )


def _fault(outcome: str, detail: str) -> Judgement:
    fault = outcome.removesuffix("_fault")
    return Judgement(outcome, fault, "not_scored", detail=detail[:500])  # type: ignore[arg-type]


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one failure to report: TaskGroups nest, and all but the first are its consequences."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
