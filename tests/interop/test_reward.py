"""The plain reward and the trainers' signature: proceval's own verdicts, from any thread, and never a fault as a zero."""

import asyncio
import threading

import pytest

from proceval.errors import InputError, Unscored
from proceval.interop import judge as judges
from proceval.interop.reward import answer_reward, code_reward, reward
from proceval.protocols import Judgement
from proceval.release.rows import PROBLEM
from sandbox.conversation import SandboxFault
from tests.interop.cases import KINDS, PASSES


@pytest.mark.parametrize("mode", ["code", "answer"])
def test_the_reward_is_one_for_what_is_right_and_zero_for_all_else(published, mode):
    for row in published.values():
        told = {kind: reward(row, text, mode=mode) for kind, text in KINDS[mode](row).items()}
        assert told == {kind: float(kind in PASSES) for kind in told}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["code", "answer"])
def test_the_reward_is_the_verdict_of_proceval_itself(published, columns, verdicts, mode):
    for column, verdict in zip(columns[mode], verdicts[mode], strict=True):
        found = {name: reward(row, KINDS[mode](row)[column[name]], mode=mode) for name, row in published.items()}
        assert found == {name: float(passed) for name, passed in verdict.items()}, column


@pytest.mark.parametrize(("function", "mode"), [(code_reward, "code"), (answer_reward, "answer")])
def test_a_trainer_calls_with_lists_and_columns(published, function, mode):
    """As TRL's trainers do: prompts, completions, every other column, and some words of its own."""
    batch = [(row, kind, text) for row in published.values() for kind, text in KINDS[mode](row).items()][::5]
    columns = {name: [row[name] for row, _, _ in batch] for name in next(iter(published.values()))}
    expected = [float(kind in PASSES) for _, kind, _ in batch]
    words = {"completion_ids": [[1]] * len(batch), "trainer_state": None, **columns}
    prompts = [row[f"prompt_{mode}"] for row, _, _ in batch]
    assert function(prompts=prompts, completions=[text for _, _, text in batch], **words) == expected
    chats = [[{"role": "assistant", "content": text}] for _, _, text in batch]
    assert function(prompts=prompts, completions=chats, **words) == expected
    assert function.__name__ == f"{mode}_reward", "trainers log by this name"


def test_rows_of_parquet_are_judged_like_rows_of_json(exported):
    import pyarrow.parquet as pq

    row = pq.read_table(exported / "data/test-00000-of-00001.parquet").to_pylist()[0]
    assert reward(row, f"```python\n{row['reference']}\n```") == 1.0


def test_it_works_inside_a_running_event_loop_and_in_threads(published):
    row = published["equilibrium_index"]
    gold = KINDS["code"](row)["gold"]

    async def inside() -> float:
        return reward(row, gold) + float((await judges.averdict(row, gold)).outcome == "passed")

    assert asyncio.run(inside()) == 2.0
    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.append(reward(row, gold))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1.0] * 8


@pytest.mark.parametrize(("function", "mode"), [(code_reward, "code"), (answer_reward, "answer")])
def test_a_malformed_completion_is_a_zero_for_itself_alone(published, function, mode):
    row = published["equilibrium_index"]
    strange = [[], None, 7, {}, [{}], ["x"], [{"role": "assistant", "content": None}]]
    batch = [*strange, KINDS[mode](row)["gold"]]
    columns = {name: [row[name]] * len(batch) for name in PROBLEM}
    assert function(None, batch, **columns) == [0.0] * len(strange) + [1.0]


def test_a_broken_sandbox_is_no_zero(published, monkeypatch):
    row = published["equilibrium_index"]
    texts = [KINDS["code"](row)["gold"], KINDS["code"](row)["wrong"] + "\n# not seen before\n"]

    async def failing(self, problem, completion):
        raise Unscored(f"{problem.id} stays unscored: sandbox fault: gone")

    monkeypatch.setattr(judges.Judge, "_score", failing)
    with pytest.raises(Unscored, match="stays unscored"):
        reward(row, texts[0])
    assert code_reward(None, texts, **{name: [row[name]] * 2 for name in PROBLEM}) == [None, None]


@pytest.mark.parametrize(
    "failure", [SandboxFault("no namespaces here"), OSError("no room"), ValueError("a bug of ours")]
)
def test_a_judge_that_cannot_start_says_so_instead_of_waiting(published, monkeypatch, failure):
    class Dead:
        def start(self):
            raise failure

    part = judges._part
    monkeypatch.setattr(judges, "_judges", {})
    monkeypatch.setattr(judges, "_part", lambda group, *w, **k: Dead() if group == "sandbox" else part(group, *w, **k))
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    with pytest.raises(Unscored, match="nothing can be judged|died as it started"):
        reward(published["equilibrium_index"], "x")


def test_a_judgement_with_a_fault_raises(published, monkeypatch):
    class Faulty:
        async def score(self, problem, completion):
            return Judgement("sandbox_fault", "sandbox", "fenced", detail="the fork-server is gone")

    monkeypatch.setattr(judges.judge("code"), "_scorer", Faulty())
    with pytest.raises(Unscored, match="sandbox fault: the fork-server is gone"):
        reward(published["equilibrium_index"], KINDS["code"](published["equilibrium_index"])["gold"])


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda row: reward({}, "x"), "not a row of a proceval release"),
        (lambda row: reward(row, "x", mode="poem"), "allowed is code or answer"),
        (lambda row: reward(row, []), "a text or a list of messages"),
        (lambda row: code_reward([], ["x"]), "needs the columns of the release; missing: id"),
        (lambda row: judges.judge("code", "castle"), "no such option; known: isolated, process"),
        (lambda row: list(judges.read("/nonsense")), "the folder that stage=export wrote"),
    ],
)
def test_wrong_use_is_one_sentence(published, call, names):
    with pytest.raises(InputError, match=names) as caught:
        call(published["equilibrium_index"])
    assert "\n" not in str(caught.value)
