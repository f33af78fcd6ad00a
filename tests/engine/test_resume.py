"""Killed, torn, locked, out of disk: what was paid for stays, and is paid for once."""

import asyncio
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proceval.errors import InputError
from proceval.model.gold import Gold
from proceval.protocols import Judgement, Request
from proceval.schema import Completion, Problem, Response, Verdict
from proceval.store import lock
from proceval.strategy.flat import Flat
from tests.arena import Blind, Endpoint, evaluate, http_model, problem, quick, solve

ONCE = Path(__file__).parent / "once.py"
ROOT = Path(__file__).resolve().parents[2]


def start(endpoint: Endpoint, folder: Path, samples: int, *limit: int) -> "subprocess.Popen[str]":
    command = [sys.executable, str(ONCE), endpoint.base_url, str(folder), str(samples), *map(str, limit)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell ignores it for its background jobs
    )


def lines(folder: Path) -> list[bytes]:
    path = folder / "records.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def test_sigkill_at_any_moment_loses_and_repeats_nothing_but_what_was_in_flight(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """Sampled runs: 40 problems, 5 samples each, killed three times; the reply differs from answer to answer."""
    endpoint.script(latency_s=0.02, reply=[f"reply {n}" for n in range(1000)], keep=False)
    chance = random.Random(4)
    kept: list[bytes] = []
    for _ in range(3):
        process = start(endpoint, tmp_path, 5)
        target = len(kept) + chance.randint(8, 30)
        while len(lines(tmp_path)) < target and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        now = [line for line in lines(tmp_path) if line.endswith(b"\n")]
        assert now[: len(kept)] == kept, "an answer that was on disk before is gone or changed"
        kept = now
    last = start(endpoint, tmp_path, 5)
    output, _ = last.communicate()
    assert last.returncode == 0, output
    records = [Response.model_validate_json(line) for line in lines(tmp_path)]
    assert len(records) == len({record.key for record in records}) == 200
    assert f"{200 - len(kept)} {len(kept)}" in output, "paid now and found on disk"
    assert endpoint.stats()["answered"] - 200 <= 3 * 8, "no more is paid again than was in flight at each kill"
    verdicts = [Verdict.model_validate_json(line) for line in (tmp_path / "verdicts.jsonl").open()]
    assert len({(v.problem_id, v.sample) for v in verdicts}) == len(verdicts) == 200


@pytest.mark.parametrize("torn", [b'{"key": "ab', b'{"key": "ab", "x": "\xff', b"{", b"\x00\x00\x00"])
def test_a_torn_last_line_is_set_aside(endpoint: Endpoint, tmp_path: Path, torn: bytes) -> None:
    endpoint.script()
    model, problems = http_model(endpoint.base_url), [problem(n) for n in range(3)]
    evaluate(problems, tmp_path, model=model)
    whole = lines(tmp_path)
    (tmp_path / "records.jsonl").write_bytes(b"".join(whole[:2]) + torn)
    report = evaluate(problems, tmp_path, model=model)
    assert (report.requests, report.resumed, report.torn_bytes) == (1, 2, len(torn))
    assert (tmp_path / "records.jsonl.torn").read_bytes() == torn + b"\n"
    assert [json.loads(line)["sample"] for line in lines(tmp_path)] == [0, 0, 0]


def test_a_whole_line_that_only_lacks_its_end_is_kept(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script()
    model, problems = http_model(endpoint.base_url), [problem(n) for n in range(3)]
    evaluate(problems, tmp_path, model=model)
    (tmp_path / "records.jsonl").write_bytes(b"".join(lines(tmp_path))[:-1])
    report = evaluate(problems, tmp_path, model=model)
    assert (report.requests, report.torn_bytes) == (0, 0)


@pytest.mark.parametrize("broken", [b"not json\n", b'{"key": "zz"}\n', b'{"broken\n', b"\n"])
def test_a_broken_line_in_the_middle_stops_before_anything_is_asked(
    endpoint: Endpoint, tmp_path: Path, broken: bytes
) -> None:
    endpoint.script()
    model, problems = http_model(endpoint.base_url), [problem(n) for n in range(3)]
    evaluate(problems, tmp_path, model=model)
    first, *rest = lines(tmp_path)
    spoiled = first + broken + b"".join(rest)
    (tmp_path / "records.jsonl").write_bytes(spoiled)
    with pytest.raises(InputError, match=r"records\.jsonl, (line 2|byte)"):
        evaluate(problems, tmp_path, model=model)
    assert (tmp_path / "records.jsonl").read_bytes() == spoiled
    assert endpoint.stats()["requests"] == 3


def test_a_recorded_answer_that_occurs_twice_counts_once(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script()
    model = http_model(endpoint.base_url)
    evaluate([problem(0)], tmp_path, model=model, samples=2)
    (tmp_path / "records.jsonl").write_bytes(b"".join(lines(tmp_path) * 2))
    report = evaluate([problem(0)], tmp_path, model=model, samples=2)
    assert (report.requests, report.duplicates, sum(report.outcomes.values())) == (0, 2, 2)


def test_a_second_process_on_the_folder_is_refused_and_names_the_first(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(latency_s=0.5, keep=False)
    first = start(endpoint, tmp_path, 100)  # minutes of work, and killed long before
    while not lines(tmp_path):
        time.sleep(0.01)
    second = start(endpoint, tmp_path, 100)
    output, _ = second.communicate()
    assert second.returncode == 2
    assert f"in use by pid {first.pid}" in output
    first.kill()
    first.communicate()
    with lock(tmp_path):  # the dead hold nothing
        pass
    assert all(line.endswith(b"\n") for line in lines(tmp_path))


def test_a_lock_is_reentrant_here_refused_elsewhere_and_free_after_death(tmp_path: Path) -> None:
    with lock(tmp_path), lock(tmp_path):
        child = os.fork()
        if child == 0:  # a forked child holds nothing, so its survival keeps nobody out
            try:
                with lock(tmp_path):
                    os._exit(0)
            except InputError:
                os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    with (tmp_path / "lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="in use"), lock(tmp_path):
            pass
    with lock(tmp_path):
        pass


def test_a_full_disk_is_a_clear_stop_and_everything_before_it_is_kept(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(reply="x" * 500, keep=False)
    process = start(endpoint, tmp_path, 1, 30_000)
    output, _ = process.communicate()
    assert process.returncode == 3
    assert "StorageError" in output
    assert "File too large" in output
    kept = lines(tmp_path)
    assert kept
    assert all(line.endswith(b"\n") for line in kept), "a half-written line was left behind"
    process = start(endpoint, tmp_path, 1)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    assert lines(tmp_path)[: len(kept)] == kept
    assert len(lines(tmp_path)) == 40


def test_ctrl_c_keeps_what_was_answered(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(latency_s=0.1, keep=False)
    process = start(endpoint, tmp_path, 5)
    while len(lines(tmp_path)) < 10:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode in (-signal.SIGINT, 130, 1), output
    assert "KeyboardInterrupt" in output
    kept = len(lines(tmp_path))
    endpoint.script(keep=False)
    output, _ = start(endpoint, tmp_path, 5).communicate()
    assert f"{200 - kept} {kept}" in output


class Counting(Gold):
    """A model that knows how often it was asked."""

    asked = 0

    async def complete(self, request: Request) -> Completion:
        self.asked += 1
        return await super().complete(request)


def test_scoring_that_falls_behind_never_stalls_requests(tmp_path: Path) -> None:
    """A queue of two, and a judge that judges nothing before all requests were sent: what does not fit is judged later."""
    model = Counting(id="gold")
    judged: list[str] = []

    class Waits(Blind):
        async def score(self, problem: Problem, completion: Completion) -> Judgement:
            while model.asked < 60:
                await asyncio.sleep(0.001)
            judged.append(problem.id)
            return await super().score(problem, completion)

    engine = quick(concurrency=4, scoring_workers=1, scoring_queue=2)
    report = evaluate([problem(n) for n in range(60)], tmp_path, model=model, engine=engine, scorer=Waits())
    assert sorted(judged) == sorted(problem(n).id for n in range(60))
    assert (report.outcomes, report.requests, report.resumed) == ({"wrong_answer": 60}, 60, 0)


def test_a_judge_that_breaks_is_nobodys_wrong_answer_and_can_be_asked_again(endpoint: Endpoint, tmp_path: Path) -> None:
    class Breaks(Blind):
        async def score(self, problem: Problem, completion: Completion) -> Judgement:
            raise ZeroDivisionError("a bug of ours")

    endpoint.script()
    model, problems = http_model(endpoint.base_url), [problem(n) for n in range(3)]
    report = evaluate(problems, tmp_path, model=model, scorer=Breaks())
    assert (report.outcomes, report.exit_status) == ({"judge_fault": 3}, 3)
    assert "a bug of ours" in next(report.verdicts).detail
    again = quick().evaluate(
        problems,
        model=model,
        strategy=Flat(),
        track=solve("code"),
        scorer=Blind(),
        samples=2,
        folder=tmp_path,
        progress=lambda done, total: None,
        rescore=True,
    )
    assert again.outcomes == {"wrong_answer": 3, "provider_fault": 3}, "what was never answered stays unscored"
    assert endpoint.stats()["requests"] == 3, "judging again never calls a model"


def test_judging_again_for_a_model_that_never_answered_changes_nothing(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script()
    evaluate([problem(0)], tmp_path, model=http_model(endpoint.base_url))
    before = (tmp_path / "verdicts.jsonl").read_bytes()
    with pytest.raises(InputError, match="no recorded answer of model other"):
        quick().evaluate(
            [problem(0)],
            model=http_model(endpoint.base_url, id="other"),
            strategy=Flat(),
            track=solve("code"),
            scorer=Blind(),
            samples=1,
            folder=tmp_path,
            progress=lambda done, total: None,
            rescore=True,
        )
    assert (tmp_path / "verdicts.jsonl").read_bytes() == before


def test_the_same_problem_id_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="positions 1 and 3"):
        evaluate([problem(5), problem(1), problem(5)], tmp_path, model=http_model("http://127.0.0.1:9/v1"))
    with pytest.raises(InputError, match="no problem"):
        evaluate([], tmp_path, model=http_model("http://127.0.0.1:9/v1"))
