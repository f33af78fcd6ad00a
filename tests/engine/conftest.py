"""A small dataset, real parts, and the engine with quick settings."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proceval.engine import Engine
from proceval.schema import Problem, Test
from sandbox.contract import Limits
from sandbox.process import Process

QUICK = {
    "concurrency": 16,
    "attempts": 4,
    "deadline_s": 30.0,
    "request_timeout_s": 10.0,
    "retry_cap_s": 1.0,
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
        examples=(test([1, 2], "example"), test([3], "example")),
        tests=hidden,
    )


@pytest.fixture(scope="session")
def box() -> Iterator[Process]:
    limits = Limits(cpu_s=1.0, wall_s=10.0, memory_bytes=1 << 28, output_bytes=1 << 18, file_bytes=1 << 18)
    sandbox = Process(workers=2, degraded="warn", limits=limits)
    sandbox.start()
    yield sandbox
    sandbox.close()


@pytest.fixture
def problems() -> list[Problem]:
    return [problem(n) for n in range(6)]


@pytest.fixture
def silent() -> Callable[[int, int], None]:
    return lambda done, total: None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"
