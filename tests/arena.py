"""A small dataset, the engine with quick settings, and the scripted endpoint: shared by the tests of evaluation."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from proceval.engine import Engine, EngineReport
from proceval.model.openai_http import OpenAIHttp
from proceval.protocols import Check, Judgement
from proceval.schema import Completion, Problem, Test
from proceval.strategy.flat import Flat
from proceval.track.solve import Solve
from sandbox.contract import Limits
from sandbox.process import Process

QUICK = {
    "concurrency": 16,
    "attempts": 4,
    "deadline_s": 30.0,
    "request_timeout_s": 10.0,
    "retry_cap_s": 1.0,
    "unreachable_after_s": 1.0,
    "give_up_after": 20,
    "requests_per_minute": None,
    "tokens_per_minute": None,
    "budget_usd": None,
    "budget_tokens": None,
    "scoring_workers": 2,
    "scoring_queue": 64,
    "fsync_s": 1.0,
}


def quick(**changes: Any) -> Engine:
    return Engine(**(QUICK | changes))


def problem(number: int, *, family: str = "scaled_sum", difficulty: str = "easy") -> Problem:
    """A problem whose hidden answers are large numbers that occur nowhere else."""

    def test(values: list[int], origin: Any) -> Test:
        arguments = {"values": values, "factor": number + 2}
        return Test(arguments=arguments, expected=sum(values) * (number + 2), origin=origin)

    hidden = (test([918_000 + number, 7], "main"), test([], "targeted"), test([-400_001, number], "targeted"))
    return Problem(
        id=f"{number:020x}",
        family=family,
        family_version=1,
        domain="arrays",
        difficulty=difficulty,
        statement="Return the sum of `values`, a list of integers, times the integer `factor`.",
        entry_point="scaled_sum",
        parameters=("values", "factor"),
        arguments=hidden[0].arguments,
        expected=hidden[0].expected,
        reference=(
            "def scaled_sum(values, factor):\n    total = 0\n    for value in values:\n"
            "        total += value\n    return total * factor\n"
        ),
        examples=(test([1, 2], "example"), test([4], "example")),
        tests=hidden,
    )


@pytest.fixture(scope="session")
def box() -> Iterator[Process]:
    limits = Limits(cpu_s=0.5, wall_s=60.0, memory_bytes=1 << 28, output_bytes=1 << 18, file_bytes=1 << 18)
    sandbox = Process(workers=2, degraded="warn", limits=limits)
    sandbox.start()
    yield sandbox
    sandbox.close()


class Endpoint:
    """The scripted endpoint of tests/engine/server.py in a process of its own."""

    def __init__(self, **settings: Any):
        script = Path(__file__).parent / "engine" / "server.py"
        self._process = subprocess.Popen(
            [sys.executable, str(script), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.root = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        self.base_url = f"{self.root}/v1"

    def script(self, **settings: Any) -> None:
        """Forget what was seen and go on with these settings."""
        body = json.dumps(settings).encode()
        urlopen(Request(f"{self.root}/settings", body, {"Content-Type": "application/json"})).read()

    def stats(self) -> dict[str, Any]:
        with urlopen(f"{self.root}/stats") as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Endpoint]:
    served = Endpoint()
    yield served
    served.close()


SAMPLING: dict[str, Any] = {
    "key_variable": None,
    "temperature": 1.0,
    "top_p": None,
    "max_tokens": 256,
    "max_completion_tokens": None,
    "reasoning_effort": None,
    "seed": None,
    "stop": None,
    "extra": {},
    "max_in_flight": None,
}


def http_model(base_url: str, **changes: Any) -> OpenAIHttp:
    prices = {"usd_per_million_prompt_tokens": None, "usd_per_million_completion_tokens": None}
    given = {"id": "scripted", "base_url": base_url, "response_bytes": 1 << 20, **SAMPLING, **prices, **changes}
    return OpenAIHttp(**given)


def solve(mode: Any, **changes: Any) -> Solve:
    return Solve(**{"mode": mode, "system_prompt": None, "messages": [], "template": None, **changes})


class Blind:
    """A judge that looks at nothing, for tests of everything before it."""

    mode = "code"

    async def ready(self) -> None:
        """Nothing to try."""

    async def check(self, problem: Problem, text: str) -> Check:
        return Check(True, "", score=1.0)

    async def score(self, problem: Problem, completion: Completion) -> Judgement:
        return Judgement("wrong_answer", "model", "blind")


def evaluate(
    problems: list[Problem], folder: Path, *, model: Any, engine: Engine | None = None, **parts: Any
) -> EngineReport:
    """One pass with the flat strategy and a blind judge, unless told otherwise."""
    given = {
        "strategy": Flat(),
        "track": solve("code"),
        "scorer": Blind(),
        "samples": 1,
        "progress": lambda done, total: None,
    } | parts
    return (engine or quick()).evaluate(problems, model=model, folder=folder, **given)
