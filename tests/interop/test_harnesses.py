"""Each harness, the real library, on a small release: the same verdicts as proceval itself on every kind of completion."""

import asyncio
from typing import Any

import pytest

from tests.interop.cases import KINDS
from tests.interop.needed import needs

pytestmark = pytest.mark.slow
MODES = pytest.mark.parametrize("mode", ["code", "answer"])


def texts_of(published: dict[str, Any], column: dict[str, str], mode: str) -> dict[str, str]:
    """Problem id -> the completion that this column has for it."""
    return {row["id"]: KINDS[mode](row)[column[family]] for family, row in published.items()}


@MODES
def test_inspect_ai_gives_our_verdicts(exported, published, columns, verdicts, mode, tmp_path):
    inspect_ai = needs("inspect_ai")
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import solver

    from proceval.interop.inspect_ai import proceval

    names = {row["id"]: family for family, row in published.items()}
    for column, verdict in zip(columns[mode], verdicts[mode], strict=True):
        held = texts_of(published, column, mode)

        @solver
        def told(texts: dict[str, str] = held) -> Any:
            async def solve(state: Any, generate: Any) -> Any:
                output = ModelOutput.from_content("mockllm/model", texts[state.sample_id])
                output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
                model = get_model("mockllm/model", custom_outputs=[output])
                state.output = await model.generate(state.messages)
                return state

            return solve

        task = proceval(str(exported), mode=mode)
        (log,) = inspect_ai.eval(task, solver=told(), model="mockllm/model", log_dir=str(tmp_path), display="none")
        assert log.status == "success", log.error
        assert {names[s.id]: s.scores[f"proceval_{mode}"].value == "C" for s in log.samples} == verdict, column
        accuracy = log.results.scores[0].metrics["accuracy"].value
        assert accuracy == pytest.approx(sum(verdict.values()) / len(verdict))


def test_inspect_ai_asks_the_prompt_of_the_row_and_calls_a_fault_an_error(exported, published, monkeypatch, tmp_path):
    inspect_ai = needs("inspect_ai")
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from proceval.errors import Unscored
    from proceval.interop import judge
    from proceval.interop.inspect_ai import proceval

    asked: list[str] = []

    def reply(messages: Any, *_: Any) -> Any:
        asked.append(messages[-1].text)
        output = ModelOutput.from_content("mockllm/model", "no program")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    async def failing(self: Any, problem: Any, completion: Any) -> Any:
        raise Unscored("sandbox fault: gone")

    monkeypatch.setattr(judge.Judge, "_score", failing)
    model = get_model("mockllm/model", custom_outputs=reply)
    (log,) = inspect_ai.eval(proceval(str(exported), limit=1), model=model, log_dir=str(tmp_path), display="none")
    assert asked[0].startswith("Write a Python function")
    assert log.status == "error"
    assert "sandbox fault: gone" in log.samples[0].error.message
    assert not log.samples[0].scores


@MODES
def test_lm_eval_gives_our_verdicts(exported, published, columns, verdicts, mode):
    lm_eval = needs("lm_eval")
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    from proceval.interop.lm_eval import TASKS

    class Told(LM):
        """Answers each request with the present column's text; what it is asked is kept."""

        def __init__(self, texts: dict[str, str]) -> None:
            super().__init__()
            self.texts, self.asked = texts, {}

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            self.asked |= {request.doc["id"]: request.args[0] for request in requests}
            return [self.texts[request.doc["id"]] for request in requests]

        def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
            raise AssertionError("our tasks ask for text alone")

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=TASKS, include_defaults=False, metadata={"release": str(exported)})
    name = f"proceval_{mode}"
    for column, verdict in zip(columns[mode], verdicts[mode], strict=True):
        model = Told(texts_of(published, column, mode))
        words = {"model": model, "tasks": [name], "task_manager": manager, "bootstrap_iters": 0, "log_samples": True}
        out = lm_eval.simple_evaluate(**words)
        assert {s["doc"]["family"]: bool(s["passed"]) for s in out["samples"][name]} == verdict, column
        assert out["results"][name]["passed,none"] == pytest.approx(sum(verdict.values()) / len(verdict))
        assert model.asked == {row["id"]: row[f"prompt_{mode}"] for row in published.values()}


def test_lm_eval_without_a_release_says_what_to_give():
    needs("lm_eval")
    from lm_eval.tasks import TaskManager

    from proceval.errors import InputError
    from proceval.interop.lm_eval import TASKS

    with pytest.raises(InputError, match="--metadata"):
        TaskManager(include_path=TASKS, include_defaults=False).load(["proceval_code"])


@pytest.fixture
def taskset(exported, tmp_path, monkeypatch) -> Any:
    """A function: mode -> the taskset, found by its name as verifiers finds it."""
    needs("verifiers.v1")
    import verifiers.v1 as vf

    (tmp_path / "proceval_problems.py").write_text(
        'from proceval.interop.verifiers import Problems\n\n__all__ = ["Problems"]\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    def load(mode: str) -> Any:
        kind = vf.taskset_config_type("proceval-problems")
        return vf.load_taskset(kind(id="proceval-problems", release=str(exported), mode=mode))

    return load


def trace_of(task: Any, text: str) -> Any:
    """What a rollout leaves: the prompt and one sampled message."""
    import verifiers.v1 as vf

    said = [vf.UserMessage(content=task.data.prompt), vf.AssistantMessage(content=text)]
    return vf.Trace(
        task=vf.TraceTask(type="ProblemTask", data=task.data),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        nodes=[vf.MessageNode(message=said[0]), vf.MessageNode(parent=0, sampled=True, message=said[1])],
    )


@MODES
def test_verifiers_gives_our_verdicts(published, columns, verdicts, taskset, mode):
    tasks = {task.data.row["family"]: task for task in taskset(mode)}
    assert {name: task.key for name, task in tasks.items()} == {
        n: f"{row['id']}-{mode}" for n, row in published.items()
    }
    assert all(task.data.prompt == published[name][f"prompt_{mode}"] for name, task in tasks.items())

    async def scored(task: Any, text: str) -> float:
        trace = trace_of(task, text)
        await task.score(trace)
        return float(trace.reward)

    for column, verdict in zip(columns[mode], verdicts[mode], strict=True):
        texts = texts_of(published, column, mode)
        found = {name: asyncio.run(scored(task, texts[task.data.id])) for name, task in tasks.items()}
        assert found == {name: float(passed) for name, passed in verdict.items()}, column


def test_verifiers_builds_an_environment_and_leaves_a_fault_unscored(exported, taskset, monkeypatch):
    import verifiers.v1 as vf

    from proceval.errors import Unscored
    from proceval.interop import judge

    taskset("code")
    config = vf.resolve_env_config({"taskset": {"id": "proceval-problems", "release": str(exported)}})
    environment = vf.load_environment(config)
    task = next(iter(environment.taskset))
    again = vf.WireTaskData.model_validate_json(task.data.model_dump_json())
    assert again.row == task.data.row, "a row survives the wire"

    async def failing(self: Any, problem: Any, completion: Any) -> Any:
        raise Unscored("sandbox fault: gone")

    monkeypatch.setattr(judge.Judge, "_score", failing)
    trace = trace_of(task, "anything")
    with pytest.raises(vf.TaskError, match="sandbox fault: gone"):
        asyncio.run(task.score(trace))
    assert trace.rewards == {"passed": None}


def test_datasets_loads_a_release_with_its_types(exported, tmp_path, monkeypatch):
    """From the folder, from Parquet alone and from JSON Lines: the same rows, the same types."""
    datasets = needs("datasets")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path)
    from proceval.release import recheck
    from proceval.release.rows import COLUMNS, card_features, features

    words = {"cache_dir": str(tmp_path), "split": "test"}
    whole = datasets.load_dataset(str(exported), **words)
    files = {kind: {"test": str(exported / "data" / f"*.{kind}")} for kind in ("parquet", "jsonl")}
    alone = datasets.load_dataset("parquet", data_files=files["parquet"], **words)
    lines = datasets.load_dataset("json", data_files=files["jsonl"], features=whole.features, **words)
    assert whole.features == alone.features == lines.features == datasets.Features.from_dict(features(COLUMNS))
    assert whole.features._to_yaml_list() == card_features(COLUMNS)
    expected = [row for _, row in recheck.rows(exported)]
    assert list(whole) == list(alone) == list(lines) == expected


def test_datasets_loads_what_was_pushed(exported, tmp_path, monkeypatch):
    """Through the hub's own protocol, in a process of its own: the endpoint is read when the library is imported."""
    needs("datasets")
    import subprocess
    import sys

    from proceval.release import hub
    from tests.release.fake_hub import FakeHub

    code = (
        "import datasets, sys\n"
        "found = datasets.load_dataset('me/set', split='test')\n"
        "print(len(found), found[0]['id'], found.features['evidence'].feature['reason'])\n"
    )
    with FakeHub(tmp_path / "hub") as server:
        import os

        own = {**os.environ, "HF_ENDPOINT": server.url, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path / "home")}
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        hub.upload(exported, repo_id="me/set", private=True, token="hf_test")
        ran = subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, text=True, timeout=120)
    first = (exported / "data/test.jsonl").read_text().split('"', 4)[3]
    held = (exported / "data/test.jsonl").read_text().splitlines()
    assert ran.stdout.split() == [str(len(held)), first, "Value('string')"], ran
