"""What the engine costs above its client: CPU a sample, memory, and time, on a local endpoint.

    python scripts/bench_engine.py [--samples 1000] [--latency-s 0.05] [--rounds 3] [--inspect PYTHON] [--lm-eval PYTHON]
    python scripts/bench_engine.py --memory 1000 10000 30000    peak memory of the engine at so many samples

Every row is a process of its own against the same scripted endpoint (tests/engine/server.py, which runs in another
process and is not counted). `client` asks through the same model class without the engine: the difference is what
durability, limits, keys and verdicts cost. Scoring is left out (a judge that looks at nothing): sandboxes have their own
benchmark. PYTHON is an interpreter that has inspect-ai or lm-eval installed, in an environment of its own.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

INSPECT = """
import sys
from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate
base_url, samples, flight, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
model = get_model("openai/scripted", base_url=base_url, api_key="none",
                  config=GenerateConfig(max_connections=flight, max_tokens=256))
data = MemoryDataset([Sample(input=f"problem {n}", target="x") for n in range(samples)])
eval(Task(dataset=data, solver=generate(), scorer=match()), model=model, log_dir=folder, display="none", max_samples=flight)
"""

LM_EVAL = """
import json, os, sys
base_url, samples, flight, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
os.environ["OPENAI_API_KEY"] = "none"
data = os.path.join(folder, "data.jsonl")
with open(data, "w") as out:
    for n in range(samples):
        out.write(json.dumps({"q": f"problem {n}", "a": "x"}) + "\\n")
import lm_eval
task = {"task": "bench", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": data}}, "test_split": "test",
        "output_type": "generate_until", "doc_to_text": "{{q}}", "doc_to_target": "{{a}}",
        "generation_kwargs": {"max_gen_toks": 256, "until": []}, "metric_list": [{"metric": "exact_match"}]}
lm_eval.simple_evaluate(model="local-chat-completions", tasks=[task], apply_chat_template=True, log_samples=True,
    model_args=f"model=scripted,base_url={base_url}/chat/completions,num_concurrent={flight},tokenized_requests=False")
"""


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
    rows[function](base_url, min(50, samples), min(50, flight), kind)  # imports, pools
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.monotonic()
    rows[function](base_url, samples, flight, kind)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu_s": cpu, "wall_s": time.monotonic() - started, "rss_mb": after.ru_maxrss / 1024}))


def foreign(python: str, program: str, base_url: str, samples: int, flight: int) -> dict[str, float]:
    """CPU of two runs of another harness, so that its start-up cancels: the larger minus a small one, once warm."""
    found: list[tuple[float, float, float]] = []
    for count in (50, 50, 50 + samples):
        with tempfile.TemporaryDirectory() as folder:
            before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            command = [python, "-c", program, base_url, str(count), str(flight), folder]
            subprocess.run(
                command, check=True, cwd=folder, capture_output=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found.append((cpu, time.monotonic() - started, after.ru_maxrss / 1024))
    _, small, large = found
    return {"cpu_s": large[0] - small[0], "wall_s": large[1] - small[1], "rss_mb": large[2]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--latency-s", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=3, help="the cheapest of so many runs is shown: noise only adds")
    parser.add_argument("--inspect", metavar="PYTHON")
    parser.add_argument("--lm-eval", metavar="PYTHON")
    parser.add_argument("--skip-litellm", action="store_true")
    parser.add_argument("--memory", type=int, nargs="+", metavar="SAMPLES")
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
    if options.memory:
        return served.close()
    print(f"{options.samples} samples, {options.latency_s * 1000:g} ms latency")
    print(f"{'what':28s}{'in flight':>10s}{'ms CPU a sample':>18s}{'wall s':>9s}{'RSS MB':>9s}")
    kinds = ["openai_http"] + ([] if options.skip_litellm else ["litellm"])
    for flight in (50, 500):
        for kind in kinds:
            rows: dict[str, dict[str, float]] = {}
            for _ in range(options.rounds):
                for function in ("client", "engine"):
                    found = row(function, served.base_url, options.samples, flight, kind)
                    rows[function] = min(found, rows.get(function, found), key=lambda r: r["cpu_s"])
            cost = {function: found["cpu_s"] for function, found in rows.items()}
            for function, found in rows.items():
                show(f"{function} {kind}", flight, options.samples, found)
            above = (cost["engine"] - cost["client"]) / options.samples * 1000
            print(f"{'  engine above its client':28s}{flight:10d}{above:18.3f}")
        for name, python, program in (("inspect", options.inspect, INSPECT), ("lm-eval", options.lm_eval, LM_EVAL)):
            if python:
                show(name, flight, options.samples, foreign(python, program, served.base_url, options.samples, flight))
    served.close()


def row(function: str, base_url: str, samples: int, flight: int, kind: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", function, base_url, str(samples), str(flight), kind]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def show(what: str, flight: int, samples: int, found: dict[str, float]) -> None:
    each = found["cpu_s"] / samples * 1000
    print(f"{what:28s}{flight:10d}{each:18.3f}{found['wall_s']:9.2f}{found['rss_mb']:9.0f}", flush=True)


if __name__ == "__main__":
    main()
