"""proceval's judge behind one call, from any thread or event loop.

A thread of its own holds the sandbox and its event loop: fork-servers must not be started by a thread that ends, and
trainers and harnesses bring loops and threads of their own.
"""

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from proceval import config
from proceval.conftree import config_dir
from proceval.errors import InputError, Unscored
from proceval.protocols import Judgement
from proceval.release import recheck, rows
from proceval.schema import Completion
from sandbox.conversation import SandboxFault

Mode = Literal["code", "answer"]
FinishReason = Literal["stop", "length", "content_filter", "refusal", "other"]
READY_S = 120.0


class Judge:
    """Judges completions of one mode; `sandbox` is an option of conf/sandbox. Raises Unscored when the judge is broken."""

    def __init__(self, mode: Mode, sandbox: str) -> None:
        self._owner = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._ready: Any = threading.Event()
        self._broken: BaseException | None = None
        self._scorer: Any = None
        self._thread = threading.Thread(target=self._live, args=(mode, sandbox), name=f"proceval-{mode}", daemon=True)
        self._thread.start()
        if not self._ready.wait(READY_S):
            raise Unscored(f"the judge did not start within {READY_S:.0f} s")
        if self._broken is not None:
            raise self._broken
        if self._scorer is None:
            raise Unscored("the judge died as it started; its traceback is above")

    def _live(self, mode: Mode, sandbox: str) -> None:
        asyncio.set_event_loop(self._loop)
        held: Any = None
        try:
            if mode == "code":
                held = _part("sandbox", sandbox)
                held.start()
            scorer = _part("track", "solve", mode=mode).scorer(held)
            self._loop.run_until_complete(scorer.ready())
            self._scorer = scorer
        except (Unscored, InputError) as error:
            self._broken = error
        except (SandboxFault, OSError, RuntimeError) as error:
            self._broken = Unscored(f"the sandbox does not start, nothing can be judged: {error}")
        finally:
            self._ready.set()
        if self._scorer is not None:
            self._loop.run_forever()

    @property
    def usable(self) -> bool:
        """False in a forked child, where the thread does not exist."""
        return self._owner == os.getpid()

    def ask(
        self, row: Mapping[str, Any], text: str, finish_reason: FinishReason = "stop"
    ) -> "asyncio.Future[Judgement]":
        """A concurrent future of the judgement. Raises InputError for a row that is no row of a release."""
        problem = rows.problem(row)
        completion = Completion(
            text=text,
            finish_reason=finish_reason,
            prompt_tokens=None,
            completion_tokens=None,
            cost_usd=None,
            latency_s=0.0,
        )
        return asyncio.run_coroutine_threadsafe(self._score(problem, completion), self._loop)  # type: ignore[return-value]

    async def _score(self, problem: Any, completion: Completion) -> Judgement:
        found: Judgement = await self._scorer.score(problem, completion)
        if found.fault not in ("none", "model"):
            raise Unscored(f"{problem.id} stays unscored: {found.fault} fault: {found.detail}")
        return found


_judges: dict[tuple[Mode, str], Judge] = {}
_making = threading.Lock()


def judge(mode: Mode, sandbox: str = "isolated") -> Judge:
    """The judge of this process. Raises InputError for an unknown mode or sandbox."""
    if mode not in ("code", "answer"):
        raise InputError(f"mode={mode!r}: allowed is code or answer")
    with _making:
        found = _judges.get((mode, sandbox))
        if found is None or not found.usable:
            found = _judges[mode, sandbox] = Judge(mode, sandbox)
        return found


def verdict(
    row: Mapping[str, Any], text: str, *, mode: Mode = "code", finish_reason: FinishReason = "stop"
) -> Judgement:
    """Judge one completion, blocking. Raises Unscored when the sandbox failed: that is never a wrong answer."""
    return judge(mode).ask(row, text, finish_reason).result()


async def averdict(
    row: Mapping[str, Any], text: str, *, mode: Mode = "code", finish_reason: FinishReason = "stop"
) -> Judgement:
    """The same on an event loop."""
    return await asyncio.wrap_future(judge(mode).ask(row, text, finish_reason))


def read(release: str) -> Iterator[dict[str, Any]]:
    """The rows of a release folder. Raises InputError where there is none."""
    try:
        yield from (row for _, row in recheck.rows(Path(release)))
    except ValueError as error:
        raise InputError(f"{error}; give the folder that stage=export wrote, or a downloaded copy of it") from error


def _part(group: str, option: str, **changes: Any) -> Any:
    """A part as its YAML describes it, without composing the whole configuration: a trainer may use Hydra itself."""
    from omegaconf import OmegaConf

    path = config_dir() / group / f"{option}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
        raise InputError(f"{group}={option}: no such option; known: {known}")
    node: Any = OmegaConf.to_container(OmegaConf.load(path))
    return config.build({**node, **changes}, group)
