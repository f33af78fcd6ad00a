"""What the engine costs above its client: CPU a sample, memory, and time, on a local endpoint.

    python scripts/bench_engine.py [--samples 1000] [--latency-s 0.05] [--rounds 3] [--inspect PYTHON] [--lm-eval PYTHON]
    python scripts/bench_engine.py --memory 1000 10000 30000    peak memory of the engine at so many samples
    python scripts/bench_engine.py --instructions               user-space instructions a sample, which no load changes

Every row is a process of its own against the same scripted endpoint (tests/engine/server.py, which runs in another
process and is not counted). `client` asks through the same model class without the engine: the difference is what
durability, limits, keys and verdicts cost. Scoring is left out (a judge that looks at nothing): sandboxes have their own
benchmark. PYTHON is an interpreter that has inspect-ai (and openai) or lm-eval installed, in an environment of its own;
these harnesses score by comparing two strings, and stand beside the client that they ask through. A row is a figure only
if the endpoint answered every sample once and the row's own records hold every answer; else it says why it failed.
"""

import argparse
import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.rival_harnesses import HEAD, OF_INSPECT, OF_LM_EVAL, TAIL, Rival  # noqa: E402

Row = dict[str, float]
WARM = 50  # samples that a row runs before it is measured


class Failed(Exception):
    """A row that has no figure, with the reason."""


def client(base_url: str, samples: int, flight: int, kind: str) -> None:
    """The model class alone, `flight` requests at once."""
    from proceval.protocols import Request
    from tests.arena import problem, solve

    model = made(kind, base_url)
    track = solve("code")

    async def worker(numbers: Any) -> None:
        for n in numbers:
            asked = problem(n)
            await model.complete(Request(track.prompt(asked), asked.id, 0, 0))

    async def main() -> None:
        numbers = iter(range(samples))
        await asyncio.gather(*(worker(numbers) for _ in range(flight)))
        await model.close()

    asyncio.run(main())


def engine(base_url: str, samples: int, flight: int, kind: str) -> None:
    """The engine with the flat strategy and a judge that looks at nothing."""
    from tests.arena import evaluate, problem, quick

    with tempfile.TemporaryDirectory() as folder:
        problems = [problem(n) for n in range(samples)]
        patient = quick(concurrency=flight, request_timeout_s=600.0, deadline_s=900.0)
        report = evaluate(problems, Path(folder), model=made(kind, base_url), engine=patient)
        assert report.requests == samples, report


def memory(base_url: str, samples: int, flight: int, kind: str) -> None:
    """The engine on 100 problems, so that only what it keeps of samples can grow; resumed once, from all its records."""
    from tests.arena import evaluate, problem, quick

    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            patient = quick(concurrency=flight, request_timeout_s=600.0, deadline_s=900.0)
            problems = [problem(n) for n in range(min(100, samples))]
            each = samples // len(problems)
            evaluate(problems, Path(folder), model=made(kind, base_url), engine=patient, samples=each)


def made(kind: str, base_url: str) -> Any:
    from proceval.model.litellm import LiteLLM
    from tests.arena import SAMPLING, http_model

    if kind == "litellm":
        return LiteLLM(**{**SAMPLING, "id": "openai/scripted", "base_url": base_url})
    return http_model(base_url)


def one(function: str, base_url: str, samples: int, flight: int, kind: str) -> None:
    """Run one row in this process and print what it took."""
    rows = {"client": client, "engine": engine, "memory": memory}
    rows[function](base_url, min(WARM, samples), min(WARM, flight), kind)  # imports, pools
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.monotonic()
    rows[function](base_url, samples, flight, kind)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu_s": cpu, "wall_s": time.monotonic() - started, "rss_mb": after.ru_maxrss / 1024}))


def foreign(python: str, rival: Rival, options: argparse.Namespace, served: Any, flight: int) -> Row:
    """What `samples` more cost another harness in one process, once warm, so that its start-up and set-up cancel.

    Raises `Failed` unless the endpoint and the harness's own records both count every sample.
    """
    samples, total = options.samples, options.samples + 3 * WARM
    served.script(latency_s=options.latency_s, keep=False)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": folder}
        words = [python, "-c", HEAD + rival.once + TAIL, served.base_url, str(samples), str(WARM), str(flight), folder]
        finished(words, folder, environment)
        found = json.loads(finished([python, "-c", rival.tally, folder], folder, environment).splitlines()[-1])
        if found["error"] or found["rows"] != total:
            raise Failed(f"its records hold {found['rows']} of {total} answers; {found['error'] or 'no error'}")
        _, less, more = json.loads((Path(folder) / "used.json").read_text())
    gone = {name: more[name] - less[name] for name in ("cpu_s", "wall_s")}
    return {**more, **gone, "peak": answered(served, total)}


def finished(words: list[str], folder: str, environment: dict[str, str]) -> str:
    """What a program printed; `Failed` with the last line of its complaint if it did not end well."""
    try:
        ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment)
    except OSError as error:
        raise Failed(str(error)) from None
    if ended.returncode:
        raise Failed((ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1])
    return ended.stdout


def answered(served: Any, samples: int) -> int:
    """The most requests the endpoint had at once; `Failed` unless it answered each sample exactly once."""
    seen = served.stats()
    if not seen["requests"] == seen["answered"] == samples:
        raise Failed(f"the server saw {seen['requests']} requests and gave {seen['answered']} of {samples} answers")
    return int(seen["peak"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--latency-s", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=3, help="the cheapest of so many runs is shown: noise only adds")
    parser.add_argument("--rival-rounds", type=int, default=1, help="the same for other harnesses, which take longer")
    parser.add_argument("--flight", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--inspect", metavar="PYTHON")
    parser.add_argument("--lm-eval", metavar="PYTHON")
    parser.add_argument("--kinds", nargs="*", default=["openai_http", "litellm"], help="the engine's own clients")
    parser.add_argument("--memory", type=int, nargs="+", metavar="SAMPLES")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        function, base_url, samples, flight, kind = options.one
        return one(function, base_url, int(samples), int(flight), kind)
    from tests.arena import Endpoint

    served = Endpoint(latency_s=0.0 if options.memory else options.latency_s, keep=False)
    for samples in options.memory or ():
        found = row("memory", served.base_url, samples, 50, "openai_http")
        print(f"{samples:7,} samples, then resumed: peak {found['rss_mb']:.1f} MB", flush=True)
    if options.instructions:
        counted(options, served)
    elif not options.memory:
        table(options, served)
    served.close()


def counted(options: argparse.Namespace, served: Any) -> None:
    """Instructions by valgrind: the difference of two lengths, so that imports and pools cancel."""
    print(f"{'what':30s}{'million instructions a sample':>32s}")
    for kind in options.kinds:
        each: dict[str, float] = {}
        for function in ("client", "engine"):
            few, many = (instructions(function, served.base_url, samples, 20, kind) for samples in (100, 300))
            each[function] = (many - few) / 200 / 1e6
            print(f"{f'{function} {kind}':30s}{each[function]:32.2f}", flush=True)
        print(f"{'  engine above its client':30s}{each['engine'] - each['client']:32.2f}", flush=True)


def instructions(function: str, base_url: str, samples: int, flight: int, kind: str) -> int:
    grind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command = [*grind, sys.executable, __file__, "--one", function, base_url, str(samples), str(flight), kind]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "0"}
    )
    count = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if count is None:
        raise SystemExit(f"valgrind gave no count: {done.stderr[-300:]}")
    return int(count[1].replace(",", ""))


def table(options: argparse.Namespace, served: Any) -> None:
    print(f"{options.samples} samples, {options.latency_s * 1000:g} ms latency, the cheapest of {options.rounds} runs")
    print(f"{'what':30s}{'in flight':>10s}{'peak':>6s}{'ms CPU a sample':>18s}{'wall s':>9s}{'RSS MB':>9s}")
    for flight in options.flight:
        for kind in options.kinds:
            ours(options, served, flight, kind)
        for python, rivals in ((options.inspect, OF_INSPECT), (options.lm_eval, OF_LM_EVAL)):
            for rival in rivals if python else ():
                try:
                    runs = [foreign(python, rival, options, served, flight) for _ in range(options.rival_rounds)]
                except Failed as error:
                    print(f"{rival.name:30s}{flight:10d}  failed: {error}", flush=True)
                else:
                    show(rival.name, flight, options.samples, min(runs, key=lambda r: r["cpu_s"]))


def ours(options: argparse.Namespace, served: Any, flight: int, kind: str) -> None:
    """The model class alone and under the engine, in turns, so that a busy moment of the machine meets both."""
    rows: dict[str, Row] = {}
    samples = options.samples
    for _ in range(options.rounds):
        for function in ("client", "engine"):
            served.script(latency_s=options.latency_s, keep=False)
            found = row(function, served.base_url, samples, flight, kind)
            try:
                found["peak"] = answered(served, samples + min(WARM, samples))
            except Failed as error:
                print(f"{f'{function} {kind}':30s}{flight:10d}  failed: {error}", flush=True)
                return
            rows[function] = min(found, rows.get(function, found), key=lambda r: r["cpu_s"])
    for function, found in rows.items():
        show(f"{function} {kind}", flight, samples, found)
    above = (rows["engine"]["cpu_s"] - rows["client"]["cpu_s"]) / samples * 1000
    print(f"{'  engine above its client':30s}{flight:10d}{'':6s}{above:18.3f}", flush=True)


def row(function: str, base_url: str, samples: int, flight: int, kind: str) -> Row:
    command = [sys.executable, __file__, "--one", function, base_url, str(samples), str(flight), kind]
    found: Row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


def show(what: str, flight: int, samples: int, found: Row) -> None:
    each = found["cpu_s"] / samples * 1000
    print(
        f"{what:30s}{flight:10d}{found['peak']:6.0f}{each:18.3f}{found['wall_s']:9.2f}{found['rss_mb']:9.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
