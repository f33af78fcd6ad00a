"""A hundred typical mistakes: each gets one clear sentence that names what is wrong, exit status 2, and no traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# One preloaded process forks a child for every command, since importing Hydra fifty times would take a minute.
RUNNER = """
import json, os, sys, time
import proceval.main
from proceval import config
for name, part in config.compose().items():  # imports whatever the children would
    if name in ("stage", "audit", "engine"):
        config.build(part, name)
cases = json.load(sys.stdin)
for number, words in enumerate(cases):
    pid = os.fork()
    if pid == 0:
        for descriptor, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{number}.{name}", os.O_WRONLY | os.O_CREAT, 0o600), descriptor)
        sys.argv = ["proceval", *words]
        from proceval.__main__ import main
        status = 0
        try:
            main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1 if end.code else 0
        except BaseException:
            import traceback
            traceback.print_exc()
            status = 99
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(status)
    _, ended = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(ended), flush=True)
"""

MISTAKES: dict[str, str] = {
    # command line -> words that its one sentence must hold
    "domian=graphs": "did you mean 'domain'",
    "domain=graph": "did you mean 'graphs'",
    "difficulty=[easy,hrad]": "did you mean 'hard'",
    "model=mokc": "did you mean 'mock'",
    "strategy=best_of_m": "best_of_n",
    "stage=benchmrk": "benchmark",
    "tracker=wandbb": "wandb",
    "sandbox=docker": "isolated",
    "experiment=smok": "smoke",
    "count=0": "count",
    "count=many": "count",
    "count=1.5": "count",
    "count=-3": "count",
    "samples=0": "samples",
    "samples=null": "samples",
    "pass_k=[]": "pass_k",
    "pass_k=[0]": "pass_k",
    "pass_k=3": "pass_k",
    "shard.count=2 shard.index=2": "shard.index",
    "shard.cuont=2": "cuont",
    "workers=0": "workers",
    "limit=0": "limit",
    "figures=perhaps": "figures",
    "dry_run=1": "dry_run",
    "seed=1.5": "seed",
    "seed=null": "seed",
    "port=99999": "port",
    "track.mode=essay": "track.mode",
    "track.template=nowhere.md": "nowhere.md",
    "strategy=best_of_n strategy.attempts=0": "attempts",
    "strategy.attempt=3": "attempt",
    "engine.concurrency=0": "concurrency",
    "engine.budget_usd=-1": "budget_usd",
    "sandbox.limits.cpu_s=-1": "cpu_s",
    "sandbox.limits.cpu_seconds=1": "cpu_seconds",
    "sandbox.degraded=maybe": "degraded",
    "difficulty.hard.graphs.vertices=[9,3] difficulty=hard": "vertices",
    "difficulty.hard.graphs.vertex=[3,9] difficulty=hard": "vertex",
    "domain.arrays.monotonic_split.length=[0,3] domain=arrays": "length",
    "audit.tiers=[gat] domain=arrays difficulty=easy": "gat",
    "model=openai_http model.base_url=not-a-url model.id=x": "base_url",
    "model=litellm model.id=null": "model.id",
    "model=gold model.temperature=0.5": "temperature",
    "stage=verify dataset=nowhere.jsonl": "nowhere.jsonl",
    "stage=evaluate dataset=empty.jsonl": "empty.jsonl",
    "stage=evaluate dataset=broken.jsonl": "broken.jsonl",
    "stage=evaluate dataset=foreign.jsonl": "foreign.jsonl",
    "stage=evaluate": "dataset",
    "stage=verify": "dataset",
    "stage=audit reference=nowhere.py tests=empty.jsonl": "nowhere.py",
    "stage=audit reference=own.py": "tests",
    "stage=show": "no dataset",
    "stage=show id=zzz dataset=empty.jsonl": "empty.jsonl",
    "stage=report dataset=plain": "plain",
    "stage=report compare=[plain]": "compare",
    "stage=report compare=[plain,elsewhere]": "plain",
    "stage=merge shard.count=2": "shard",
    "stage=push repo_id=nobody": "repo_id",
    "stage=generate dataset=own.py": "dataset",
    "_target_=os.getcwd": "_target_",
    "model._target_=os.getcwd": "_target_",
    "+extra=1": "extra",
    "seed": "seed",
    "=5": "=5",
    "outputs=own.py": "own.py",
    # words
    "--model=mock": "write model=mock",
    "--model mock": "write model=mock",
    "--dry-run": "write dry_run=true",
    "--frobnicate": "unknown option '--frobnicate'",
    "--cfg": "--cfg job",
    "doctor": "did you mean 'stage=doctor'?",
    "base_url=http://127.0.0.1:9": "did you mean 'model.base_url'?",
    "count=1 count=2": "count is given twice",
    "+track.judges.a=1 track.judges.a=2": "track.judges.a is given twice",
    "difficulty=[easy,easy]": "names easy twice",
    "domain=[graphs,graphs]": "names graphs twice",
    "--multirun model=mock,mock": "names mock twice",
    "--multirun seed=1,2,1": "seed",
    "model=openai/": "half a model id",
    "model=/gpt": "half a model id",
    "model=[mock,gold]": "one model at a time, model=mock; to compare several, --multirun model=mock,gold",
    "--multirun strategy=[flat,best_of_n]": "--multirun strategy=flat,best_of_n",
    "sandbox=[process]": "without brackets: sandbox=process",
    "stage=[generate,audit]": "one command after the other, or stage=benchmark",
    "track=review model@track.judges.first=[scripted_judge,openai/x]": "--multirun model@track.judges.first=",
    "model=openai/gpt-4o-mini model.max_token=3": "unknown key 'model.max_token'; did you mean 'max_tokens'?",
    "model=openai/gpt-4o-mini +model.max_token=3": "unknown key 'model.max_token'; did you mean 'max_tokens'?",
    "difficulty.hard.graph.vertices=[20,30]": "unknown key 'difficulty.hard.graph'; did you mean 'graphs'?",
    "difficulty.extreme.graphs.vertices=[20,30]": "write difficulty=[easy,medium,hard,extreme]",
    "model.base_url=http://127.0.0.1:9": "it is a key of model=command, litellm",
    "strategy=best_of_n strategy.max_turn=3": "did you mean 'max_turns' of strategy=sequential_repair?",
    "strategy.attempts=3": "'strategy' has no keys of its own",
    "model.extra={a:1}": "it is a key of model=litellm, openai_http",
    "track=review track.judges.second.extra={a:1}": "track.judges.second is no model",
    "count=dag_reachability:1 count=monotonic_split:2": "quotes around it: 'count={dag_reachability:1,monotonic_split:2}'",
    "model=openai/x model.extra=a:1 model.extra=b:{c:2}": "put quotes around it: 'model.extra={a:1,b:{c:2}}'",
    "seed=2026_11": """seed='"2026_11"'""",
    "--multirun seed=1,1e5": """1e5 needs quotes to be a name, seed='"1e5"'""",
    "seed=+5": "plain digits",
    "model=openai/x.yaml": "model=litellm model.id=openai/x.yaml",
    "--multirun model=mock,openai/x.yaml": "model=litellm model.id=openai/x.yaml",
    "model=gold --multirun --cfg job": "--cfg and --multirun do not go together",
    "count={monotonic_split:0}": "count.monotonic_split=0",
    "count={}": "names no family of domain=",
    "count={monotonic_spilt:3}": "monotonic_spilt is no family",
    "difficulty=[easy hard]": "'hard]' is no KEY=VALUE",
    "domain=dag_reachability": "it is a family of domain=graphs",
    "model=gpt-4o-mini": "as in openai/gpt-4o-mini",
    # what does not go together
    "track=agent stage=audit": "the stages of track=agent are benchmark, console",
    "track=review stage=verify dataset=plain": "the stages of track=review are",
    "track=review stage=demo": "stage=demo has no use for track=review",
    "stage=selftest": "stage=selftest has no use for track=solve",
    "model=scripted_reviewer": "made for track=review, not for track=solve",
    "model=scripted_agent": "made for track=agent, not for track=solve",
    "model=scripted_judge": "made for model@track.judges.NAME",
    "model=gold track=review": "made for track=solve, not for track=review",
    "model=mock track=agent": "made for track=solve, not for track=agent",
    "model=command model.argv=[x]": "not for track=solve",
    "model=command model.argv=[x] track=review": "track.files=workspace",
    "track=review track.files=workspace model=openai/gpt-4o-mini": "track.files=workspace",
    "track=review model@track.judges.first=gold": "not for model@track.judges.NAME",
    "track=review strategy=best_of_n": "strategy=flat",
    "track=agent strategy=sequential_repair": "strategy=flat",
    "model=local model.weights=nowhere.gguf": "nowhere.gguf",
    "samples=1 pass_k=[5]": "pass@5 takes 5 samples, and samples=1",
    "track=agent pass_k=[1,3]": "pass@3 takes 3 samples",
    "compare=[A,B]": "stage=report",
    "reference=own.py tests=empty.jsonl": "stage=audit",
    "stage=report compare=[plain,./plain]": "one run",
    # files
    "stage=export dataset=nowhere": "no such folder",
    "stage=export dataset=own.py": "give the folder",
    "stage=export dataset=plain": "plain",
    "stage=verify dataset=foreign.jsonl": "foreign.jsonl, line 1",
    "stage=plot dataset=nowhere": "nowhere",
    "stage=report dataset=nowhere": "nowhere",
    "stage=audit reference=broken.jsonl tests=foreign.jsonl": "reference=broken.jsonl: the reference is not Python",
    "stage=audit reference=nothing.py tests=foreign.jsonl": "nothing.py",
    "stage=generate track=review": "dataset=FOLDER",
    "track=review suite.dir=nowhere": "nowhere",
    "track=review cases=zzz*": "zzz*",
    "track=agent track.cases_dir=nowhere": "nowhere",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Command line -> (exit status, everything it printed)."""
    home = tmp_path_factory.mktemp("mistakes")
    (home / "empty.jsonl").write_text("")
    (home / "broken.jsonl").write_text('{"id": "a", "fam\n')
    (home / "foreign.jsonl").write_text('{"question": "1 + 1", "answer": 2}\n')
    (home / "own.py").write_text("def f(x):\n    return x\n")
    (home / "nothing.py").write_text("TABLE = {}\n")
    (home / "plain").mkdir()
    environment = {k: v for k, v in os.environ.items() if k not in ("HF_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")}
    run = subprocess.run(
        [sys.executable, "-c", RUNNER],
        cwd=home,
        env={**environment, "PYTHONPATH": str(ROOT)},
        input=json.dumps([line.split() for line in MISTAKES]),
        capture_output=True,
        text=True,
        timeout=1500,
        check=True,
    )
    statuses = [int(line) for line in run.stdout.split()]
    left = {path.name for path in home.iterdir()} - {
        f"{n}.{end}" for n in range(len(MISTAKES)) for end in ("out", "err")
    }
    assert left <= {"empty.jsonl", "broken.jsonl", "foreign.jsonl", "own.py", "nothing.py", "plain", "outputs"}
    assert [path for path in home.glob("outputs/**/*") if path.is_file()] == []
    return {
        line: (statuses[n], (home / f"{n}.out").read_text() + (home / f"{n}.err").read_text())
        for n, line in enumerate(MISTAKES)
    }


def test_there_are_a_hundred() -> None:
    assert len(MISTAKES) >= 100


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_gets_one_sentence_and_status_2(found: dict[str, tuple[int, str]], line: str) -> None:
    status, said = found[line]
    assert "Traceback" not in said
    assert status == 2, said
    assert MISTAKES[line] in said
    assert len(said.strip().splitlines()) <= 3, said
