"""The benchmark of the engine prints a figure only for a row in which every sample was answered."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import pytest

from scripts import bench_engine
from scripts.rival_harnesses import LINES, Rival
from tests.arena import Endpoint

OPTIONS = Namespace(samples=20, latency_s=0.0)
ASKS = """
from urllib.request import Request, urlopen

def once(samples, folder):
    with open(f"{folder}/answers.jsonl", "w") as out:
        for n in range(samples - SKIPPED):
            body = json.dumps({"model": "scripted", "messages": [{"role": "user", "content": str(n)}]}).encode()
            answer = urlopen(Request(f"{base_url}/chat/completions", body, {"Content-Type": "application/json"})).read()
            out.write(json.dumps({"resps": KEPT}) + "\\n")
    ENDING
"""


def rival(skipped: int = 0, kept: str = "answer.decode()", ending: str = "pass") -> Rival:
    asks = ASKS.replace("SKIPPED", str(skipped)).replace("KEPT", kept).replace("ENDING", ending)
    return Rival("rival", asks, LINES)


@pytest.fixture(scope="module")
def served() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.close()


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_engine, "WARM", 3)


def test_a_harness_that_asked_for_every_sample_has_a_figure(served: Any) -> None:
    found = bench_engine.foreign(sys.executable, rival(), OPTIONS, served, 1)
    assert set(found) == {"cpu_s", "wall_s", "rss_mb", "peak"}
    assert found["peak"] == 1


@pytest.mark.parametrize(
    ("harness", "reason"),
    [
        (rival(skipped=1), "its records hold 26 of 29 answers; no error"),
        (rival(kept="None"), "its records hold 0 of 29 answers; no error"),
        (rival(ending="out = urlopen(f'{base_url}/responses')"), "HTTP Error 404"),
        (rival(ending="urlopen(Request(f'{base_url}/chat/completions', body))"), "the server saw 32 requests"),
    ],
)
def test_a_harness_that_lost_a_sample_says_so_instead(served: Any, harness: Rival, reason: str) -> None:
    with pytest.raises(bench_engine.Failed, match=reason):
        bench_engine.foreign(sys.executable, harness, OPTIONS, served, 1)


def test_an_interpreter_that_is_not_there_is_a_reason(served: Any) -> None:
    with pytest.raises(bench_engine.Failed, match="no_such_interpreter"):
        bench_engine.foreign("no_such_interpreter", rival(), OPTIONS, served, 1)
