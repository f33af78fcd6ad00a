"""Sweeps: any model id, folders that tell jobs apart, failures shown at once and counted, nothing finished done twice."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from proceval import config, grammar, naming, sweeping
from proceval.errors import InputError
from proceval.model.providers import checked_id, providers
from proceval.words import literal
from tests.conftest import ROOT

SMALL = ("difficulty=easy", "count=1", "samples=2", "tracker=off", "figures=false", "domain=arrays")
MODELS = "model=mock,opnai/gpt-4o:x@1,gold"


def jobs(home: Path) -> dict[str, Path]:
    return {path.name.partition("-")[2]: path for path in home.glob("outputs/sweeps/*/[0-9]*")}


def end(job: Path) -> dict:
    return json.loads((job / "status.json").read_text())


@pytest.fixture(scope="module")
def swept(tmp_path_factory, run_proceval) -> tuple[Path, object]:
    """A sweep side by side in which one job has bad input."""
    home = tmp_path_factory.mktemp("swept")
    words = ("--multirun", *SMALL, MODELS, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    return home, run_proceval(home, *words)


def test_a_job_that_fails_is_shown_at_once_and_the_others_finish(swept):
    home, run = swept
    assert run.returncode == 2, run.stderr
    assert "Traceback" not in run.stderr + run.stdout
    (shown,) = [line for line in run.stderr.splitlines() if line.startswith("[") and ": fine" not in line]
    assert "bad input" in shown
    assert "litellm knows no provider 'opnai'; did you mean 'openai'?" in shown
    assert "log.txt" in shown
    assert "  | proceval: model.id=opnai/gpt-4o:x@1: litellm knows no provider" in run.stderr
    assert {name: end(job)["state"] for name, job in jobs(home).items()} == {
        "model=mock": "fine", "model=opnai_gpt-4o_x_1": "bad input", "model=gold": "fine",
    }  # fmt: skip


def test_the_table_of_the_sweep_names_jobs_by_what_differs_and_says_why_one_failed(swept):
    _, run = swept
    table = run.stdout[run.stdout.index("Jobs of the sweep") : run.stdout.index("Problems and proofs")]
    rows = [line.split() for line in table.splitlines() if line[:1].isdigit()]
    assert [row[1] for row in rows] == ["model=mock", "model=opnai/gpt-4o:x@1", "model=gold"]
    assert "1 of 3 jobs did not end fine" in table
    assert "knows no provider" in table


def test_the_parquet_file_holds_every_job_and_is_rebuilt_by_a_report(swept, run_proceval):
    home, _ = swept
    (sweep,) = home.glob("outputs/sweeps/*")
    before = (sweep / "multirun.parquet").read_bytes()
    rows = pq.read_table(sweep / "multirun.parquet").to_pylist()
    assert {row["state"] for row in rows} == {"fine", "bad input"}
    (sweep / "multirun.parquet").unlink()
    again = run_proceval(home, "stage=report", f"dataset={sweep.relative_to(home)}")
    assert again.returncode == 0, again.stderr
    assert (sweep / "multirun.parquet").read_bytes() == before


def test_each_job_keeps_its_own_log_and_the_dataset_is_proved_once(swept):
    home, _ = swept
    logs = {name: (job / "log.txt").read_text() for name, job in jobs(home).items()}
    assert sum("taken over from" in log for log in logs.values()) == 1
    assert "pass@1" in logs["model=gold"]
    assert "knows no provider" not in logs["model=gold"]


def test_the_same_sweep_again_runs_only_what_did_not_end_fine(swept, run_proceval, tmp_path):
    home = tmp_path / "again"
    shutil.copytree(swept[0], home, symlinks=True)
    before = {
        name: (job / "records.jsonl").stat().st_mtime_ns for name, job in jobs(home).items() if "opnai" not in name
    }
    run = run_proceval(home, "--multirun", *SMALL, MODELS)  # one by one this time: the launcher changes no folder
    assert run.returncode == 2
    assert run.stderr.count("this job stands already") == 2
    for name, job in jobs(home).items():
        if name in before:
            assert (job / "records.jsonl").stat().st_mtime_ns == before[name]


def test_a_job_that_raises_is_that_jobs_affair(tmp_path, capsys):
    with sweeping.Job(tmp_path / "0-a=1", ["a=1"], sweeping.ONE_BY_ONE) as one:
        print("so far so good")
        raise ZeroDivisionError("nobody expected this")
    assert one.status == 1
    found = end(tmp_path / "0-a=1")
    assert (found["exit_status"], found["state"], found["overrides"]) == (1, "raised", ["a=1"])
    assert found["reason"] == "ZeroDivisionError: nobody expected this"
    log = (tmp_path / "0-a=1" / "log.txt").read_text()
    assert "so far so good" in log
    assert "Traceback" in log
    assert "raised after" in capsys.readouterr().err
    assert sweeping.exit_statuses(tmp_path) == [1]


def test_a_job_that_was_killed_counts_as_died_even_where_it_once_was_fine(tmp_path):
    path = tmp_path / "0-a=1"
    with sweeping.Job(path, ["a=1"], sweeping.ONE_BY_ONE) as one:
        one.status = 0
    assert sweeping.exit_statuses(tmp_path) == [0]
    sweeping.Job(path, ["a=1"], sweeping.ONE_BY_ONE).__enter__()._stack.close()  # and then nothing more is heard of it
    assert sweeping.exit_statuses(tmp_path) == [1]


@contextmanager
def running(folder: Path, pid: int):
    """Some other process has the folder: a lock is of an open file, so another descriptor is another holder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write(f"{pid}\n")
        held.flush()
        yield


def test_a_job_that_another_process_works_at_is_left_alone(tmp_path, capsys):
    path = tmp_path / "0-a=1"
    with sweeping.Job(path, ["a=1"], sweeping.ONE_BY_ONE) as one:
        print("working")
        one.status = 0
    before = {file.name: file.read_bytes() for file in path.iterdir() if file.name != "lock"}
    with running(path, 4711), sweeping.Job(path, ["a=1"], sweeping.ONE_BY_ONE) as other:
        print("not working")
        assert other.refused
    assert other.status == 2
    assert "job 0-a=1 is being run by process 4711" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in path.iterdir() if file.name != "lock"} == before
    with sweeping.Job(path, ["a=1"], sweeping.ONE_BY_ONE) as again:  # once that process is dead
        assert not again.refused


def test_a_sweep_that_another_process_runs_is_refused_as_a_whole(tmp_path):
    sweep = tmp_path / "outputs" / "sweeps" / "s"
    with running(sweep, 4711), pytest.raises(InputError, match="is being run by process 4711"):
        sweeping.Launch(sweep, (InputError,)).__enter__()
    assert [path.name for path in sweep.iterdir()] == ["lock"]
    with sweeping.Launch(sweep, (InputError,)):
        pass
    assert not sweep.exists(), "nothing was started, nothing is left"


def test_the_same_sweep_twice_at_once_runs_once(run_proceval, tmp_path):
    words = (*SMALL, "model=mock,gold", "model.latency_s=0", "--multirun")
    sweep = sweeping.folder(words, grammar.read(words))
    with running(tmp_path / sweep, 4711):
        run = run_proceval(tmp_path, *words)
    assert run.returncode == 2
    assert run.stderr.count("4711") == 1
    assert run.stderr.startswith("proceval: this sweep is being run by process 4711; its table will stand in ")
    assert [path.name for path in (tmp_path / sweep).iterdir()] == ["lock"]


def test_jobs_of_a_sweep_over_added_keys_are_named_as_they_were_written(tmp_path):
    typed = ["-m", "model=openai/x", "model.extra={a:1,b:2},{a:2}", "track.judges.first.extra.c=1,2"]
    found = grammar.read(grammar.legible(literal(typed)))
    assert sweeping.planned(found) == 4
    assert [v for v in found[1].sweep_string_iterator()] == ["{a:1,b:2}", "{a:2}"]
    assert naming.slug("++model.extra.a=1,seed=2,++model.extra.b=x") == "model.extra.a=1,seed=2,model.extra.b=x"
    with sweeping.Job(tmp_path / "0", ["++model.extra.a=1"], sweeping.ONE_BY_ONE) as job:
        job.status = 0
    assert end(tmp_path / "0")["overrides"] == ["model.extra.a=1"]


def test_a_launcher_that_breaks_is_one_sentence_and_bad_input_passes(tmp_path, capsys):
    with sweeping.Launch(tmp_path, (InputError,)) as launch:
        raise RuntimeError("a worker was killed\nwith details")
    assert launch.broken
    assert "the launcher broke, RuntimeError: a worker was killed; see" in capsys.readouterr().err
    assert "with details" in (tmp_path / "launcher.log").read_text()
    with pytest.raises(InputError), sweeping.Launch(tmp_path, (InputError,)):
        raise InputError("count=0")


@pytest.mark.parametrize(
    "identity",
    [
        "openai/gpt-4o-mini", "ollama/qwen2.5-coder:7b", "vertex_ai/claude-3@20240620", "bedrock/arn:aws:b:us:1:x/y",
        "openrouter/meta-llama/llama-3.1-8b-instruct:free", "huggingface/a/b+c",
    ],
)  # fmt: skip
def test_any_id_is_an_option_of_the_group_model(identity):
    settings = config.compose(f"model={identity}", "model.temperature=0.5")
    assert settings["model"]["id"] == identity
    assert settings["model"]["temperature"] == 0.5
    assert {k: v for k, v in settings["model"].items() if k not in ("id", "temperature")} == {
        k: v for k, v in config.compose("model=litellm")["model"].items() if k not in ("id", "temperature")
    }


def test_ids_that_litellm_does_not_know_are_refused_with_the_nearest_one():
    assert len(providers()) > 50
    for known in ("openai/anything", "ollama_chat/x:7b", "gpt-4o-mini", "ft:gpt-4o:me"):
        assert checked_id(known) == known
    for unknown, advice in (("opnai/gpt-4o", "'openai'"), ("lab/large", "PROVIDER/NAME"), ("gpt-0", "PROVIDER/NAME")):
        with pytest.raises(InputError, match=advice):
            checked_id(unknown)


@pytest.mark.parametrize(
    ("words", "swept_first", "count"),
    [
        (["-m", "model=a,b", "seed=1"], "model-a-b-seed-1", 2),
        (["-m", "seed=1", "model=a,b", "workers=2", "hydra/launcher=joblib", "tracker=off"], "model-a-b-seed-1", 2),
        (["-m", "shard.index=range(0,64)", "shard.count=64"], "shard.index-range-0-64-shard.count-64", 64),
        (["-m", "model=x/y:z,b", "strategy=flat,best_of_n"], "model-x-y-z-b-strategy-flat-best_of_n", 4),
    ],
)
def test_a_sweeps_folder_follows_from_its_words_the_swept_ones_first(words, swept_first, count):
    found = grammar.read(words)
    folder = sweeping.folder(words, found)
    assert folder.name.rpartition("-")[0] == swept_first
    assert sweeping.planned(found) == count
    same = [*words[:1], *reversed(words[1:])]
    assert sweeping.folder(same, grammar.read(same)) == folder
    assert sweeping.folder([*words, "limit=3"], grammar.read([*words, "limit=3"])) != folder


def test_a_folder_that_the_user_names_stands():
    words = ["-m", "model=a,b", "hydra.sweep.dir=my/sweep"]
    found = grammar.read(words)
    assert sweeping.folder(words, found) == Path("my/sweep")
    assert [word.partition("=")[0] for word in sweeping.added(Path("my/sweep"), found)] == [sweeping.EXCLUDED]


def test_words_with_signs_of_their_own_are_read_and_odd_ones_refused_in_one_sentence():
    read = grammar.legible(["dataset=outputs/a=b (2)", "model=azure/my(x)", "seed=3"])
    assert [one.value() for one in grammar.read(read)] == ["outputs/a=b (2)", "azure/my(x)", 3]
    many = grammar.legible(["-m", "dataset=x=1,y=2"])
    assert [str(value.text) for one in grammar.read(many) for value in one.sweep_iterator()] == ["x=1", "y=2"]
    listed = grammar.legible(['a=["U={b},x",K=none]', "a=[tool,--x=y,{prompt}]", "a=[build/*,[b],1]"])
    assert [one.value() for one in grammar.read(listed)] == [
        ["U={b},x", "K=none"],
        ["tool", "--x=y", "{prompt}"],
        ["build/*", ["b"], 1],
    ]
    with pytest.raises(InputError, match="several values; add --multirun"):
        grammar.read(["model=mock,gold"])
    with pytest.raises(InputError, match="cannot read 'model'"):
        grammar.read(["model"])


def test_run_folders_are_named_by_what_differs_from_the_defaults():
    def name(*words: str) -> str:
        settings = config.compose(*words)
        return Path(config.naming.run_folder(settings, config.identity(settings))).name.rpartition("-")[0]

    assert name() == "all-easy+medium+hard-mock"
    assert name("model=mock", "strategy=flat", "seed=0") == name()
    assert (
        name("domain=arrays", "strategy=best_of_n", "track.mode=answer")
        == "arrays-easy+medium+hard-mock-best_of_n-answer"
    )
    assert "sandbox" not in name("sandbox=process")
    assert "process" in name("sandbox=process")
    assert "seed_7" in name("seed=7")


@pytest.mark.slow
@pytest.mark.parametrize(
    "launcher", [(), ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")], ids=["basic", "joblib"]
)
def test_a_killed_sweep_runs_only_what_is_missing(run_proceval, tmp_path, launcher):
    words = ("--multirun", *SMALL, "model=mock,gold", "seed=1,2", *launcher)
    process = subprocess.Popen(
        [sys.executable, "-m", "proceval", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 200
    while not any(end(job)["exit_status"] == 0 for job in jobs(tmp_path).values() if (job / "status.json").is_file()):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = {name: job for name, job in jobs(tmp_path).items() if end(job)["exit_status"] == 0}
    assert 0 < len(done) < 4
    paid = {name: (job / "records.jsonl").read_bytes() for name, job in done.items()}
    times = {name: (job / "summary.json").stat().st_mtime_ns for name, job in done.items()}
    again = run_proceval(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert len(jobs(tmp_path)) == 4
    logs = "".join((job / "log.txt").read_text() for job in jobs(tmp_path).values())
    assert logs.count("this job stands already") == len(done)
    for name, job in done.items():
        assert (job / "records.jsonl").read_bytes() == paid[name]
        assert (job / "summary.json").stat().st_mtime_ns == times[name]
    fresh = run_proceval(tmp_path / "outputs", *words)  # undisturbed, elsewhere: the same bytes
    assert fresh.returncode == 0
    for name, job in jobs(tmp_path / "outputs").items():
        assert (job / "dataset.jsonl").read_bytes() == (jobs(tmp_path)[name] / "dataset.jsonl").read_bytes()


def test_the_official_release_is_pinned_a_sample_of_it(run_script):
    run_script("official.py", "--check", "domain=arrays", "difficulty=easy")


@pytest.mark.slow
def test_the_official_release_is_pinned_whole(run_script):
    run_script("official.py", "--check")


@pytest.fixture
def run_script():
    def run(script: str, *arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts" / script), *arguments],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=900,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    return run
