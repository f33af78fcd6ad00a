"""Programs that ask an endpoint through another harness, or the client below it, for the benchmark of the engine.

Each runs in an interpreter of its own, named on the command line: no harness is a dependency of this project.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rival:
    """A harness, or the client below one, that runs in an interpreter of its own.

    `once` defines a function of that name (samples, an empty folder) and finds `base_url` and `flight`; `tally` gets the
    folder afterwards, outside what is measured, and prints how many answers the records hold and the error they name.
    """

    name: str
    once: str
    tally: str


HEAD = """
import json, os, resource, sys, time
base_url, samples, warm, flight, top = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
"""

TAIL = """
used = []
for part, count in enumerate((warm, warm, warm + samples)):
    folder = os.path.join(top, str(part))
    os.mkdir(folder)
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    once(count, folder)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    used.append({"cpu_s": cpu_s, "wall_s": time.monotonic() - started, "rss_mb": after.ru_maxrss / 1024})
with open(os.path.join(top, "used.json"), "w") as out:
    json.dump(used, out)
"""

LINES = """
import glob, json, sys
rows = [json.loads(line) for path in glob.glob(f"{sys.argv[1]}/**/*.jsonl", recursive=True) for line in open(path)]
print(json.dumps({"rows": sum(bool(row.get("resps")) for row in rows), "error": ""}))
"""

INSPECT = """
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

def once(samples, folder):
    # openai-api: chat completions of any server; the provider "openai" would ask for /responses
    model = get_model("openai-api/bench/scripted", base_url=base_url, api_key="none",
                      config=GenerateConfig(max_connections=flight, max_tokens=256))
    data = MemoryDataset([Sample(input=f"problem {n}", target="x") for n in range(samples)])
    eval(Task(dataset=data, solver=generate(), scorer=match()), model=model, log_dir=folder, display="none",
         max_samples=flight, log_realtime=REALTIME)
"""

INSPECT_TALLY = """
import glob, json, sys
from inspect_ai.log import read_eval_log
rows, error = 0, ""
for path in glob.glob(f"{sys.argv[1]}/*/*.eval"):
    log = read_eval_log(path)
    error = log.error.message if log.error else error
    rows += sum(bool(sample.output.completion and sample.scores) for sample in log.samples or ())
print(json.dumps({"rows": rows, "error": error}))
"""

OPENAI = """
import asyncio
from openai import AsyncOpenAI

async def asked(samples, answers):
    client, numbers = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=600), iter(range(samples))

    async def worker():
        for n in numbers:
            messages = [{"role": "user", "content": f"problem {n}"}]
            answer = await client.chat.completions.create(model="scripted", messages=messages, max_tokens=256)
            answers.append(answer.choices[0].message.content)

    await asyncio.gather(*(worker() for _ in range(flight)))
    await client.close()
"""

AIOHTTP = """
import asyncio
import aiohttp

async def asked(samples, answers):
    numbers = iter(range(samples))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=flight)) as session:

        async def worker():
            for n in numbers:
                body = {"model": "scripted", "messages": [{"role": "user", "content": f"problem {n}"}], "max_tokens": 256}
                async with session.post(f"{base_url}/chat/completions", json=body) as answer:
                    answers.append((await answer.json())["choices"][0]["message"]["content"])

        await asyncio.gather(*(worker() for _ in range(flight)))
"""

KEPT = """
def once(samples, folder):
    answers = []
    asyncio.run(asked(samples, answers))
    with open(f"{folder}/answers.jsonl", "w") as out:
        out.writelines(json.dumps({"resps": answer}) + "\\n" for answer in answers)
"""

LM_EVAL = """
os.environ["OPENAI_API_KEY"] = "none"
import lm_eval
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

manager = TaskManager()  # reads thousands of files: set-up, not a cost of samples

def once(samples, folder):
    data = os.path.join(folder, "questions.json")
    with open(data, "w") as out:
        for n in range(samples):
            out.write(json.dumps({"q": f"problem {n}", "a": "x"}) + "\\n")
    task = {"task": "bench", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": data}},
            "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{q}}", "doc_to_target": "{{a}}",
            "generation_kwargs": {"max_gen_toks": 256, "until": []}, "metric_list": [{"metric": "exact_match"}]}
    tracker = EvaluationTracker(output_path=os.path.join(folder, "out"))
    url = f"{base_url}/chat/completions"
    found = lm_eval.simple_evaluate(
        model="local-chat-completions", tasks=[task], apply_chat_template=True, log_samples=True,
        evaluation_tracker=tracker, task_manager=manager,
        model_args=f"model=scripted,base_url={url},num_concurrent={flight},tokenized_requests=False")
    rows = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=rows)
    tracker.save_results_samples(task_name="bench", samples=rows["bench"])
"""

OF_INSPECT = (
    Rival("client openai SDK", OPENAI + KEPT, LINES),
    Rival("inspect", INSPECT.replace("REALTIME", "True"), INSPECT_TALLY),
    Rival("inspect, no realtime log", INSPECT.replace("REALTIME", "False"), INSPECT_TALLY),
)
OF_LM_EVAL = (Rival("client aiohttp", AIOHTTP + KEPT, LINES), Rival("lm-eval", LM_EVAL, LINES))
