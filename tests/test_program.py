"""The whole programme as a user runs it: main job, stages one by one, sweeps, mistakes, resuming."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from proceval import config, naming
from proceval.conftree import config_dir, groups
from tests.conftest import ROOT

SMALL = ("difficulty=easy", "count=1", "samples=2", "tracker=off", "figures=false", "domain=arrays")


def _folder(tmp_path: Path) -> Path:
    (found,) = (p for p in tmp_path.glob("outputs/[!.s]*") if p.is_dir())
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory, run_proceval) -> Path:
    """A small audited run folder with verdicts, made once."""
    home = tmp_path_factory.mktemp("made")
    run = run_proceval(home, *SMALL)
    assert run.returncode == 0, run.stderr
    return _folder(home)


def test_the_main_job_runs_end_to_end_and_leaves_a_whole_run_folder(proceval, tmp_path):
    run = proceval("difficulty=easy", "count=1", "samples=3")
    assert run.returncode == 0, run.stderr
    folder = _folder(tmp_path)
    for name in (
        "config.yaml", "dataset.jsonl", "dataset.parquet", "certificates/index.jsonl", "audit.jsonl", "audit.parquet",
        "records.jsonl", "records.parquet", "verdicts.jsonl", "summary.json", "report.md", "generation.json", "wandb",
    ):  # fmt: skip
        assert (folder / name).exists(), name
    problems = [json.loads(line) for line in (folder / "dataset.jsonl").read_text().splitlines()]
    assert {p["domain"] for p in problems} == {"arrays", "graphs", "automata"}
    named = {name for group in config.compose()["domain"].values() for name in group}
    assert {p["family"] for p in problems} == named
    assert json.loads((folder / "summary.json").read_text())["versions"]["proceval"]
    assert folder.name in run.stderr
    assert "Traceback" not in run.stderr


def test_stages_run_one_by_one_give_the_same_dataset_as_the_main_job(proceval, tmp_path, made):
    for stage in ("generate", "audit", "evaluate", "report"):
        run = proceval(f"stage={stage}", *SMALL)
        assert run.returncode == 0, (stage, run.stderr)
    for name in ("dataset.jsonl", "audit.jsonl", "certificates/index.jsonl"):
        assert (_folder(tmp_path) / name).read_bytes() == (made / name).read_bytes(), name


def test_a_folder_of_another_configuration_is_never_written_into(proceval, tmp_path, made):
    """A name holds the first 32 bits of an identity: two configurations that share them meet once in a lifetime."""
    shutil.copytree(made, tmp_path / "outputs" / made.name)
    folder = _folder(tmp_path)
    written = (folder / "config.yaml").read_text()
    identity = yaml.safe_load(written)["identity"]
    assert folder.name.endswith(f"-{identity[:8]}")
    (folder / "config.yaml").write_text(written.replace(identity, identity[:8] + "0" * 56))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    run = proceval("stage=report", "fresh=true", *SMALL)
    assert run.returncode == 2
    assert "holds a run of another configuration" in run.stderr
    assert "give another outputs=" in run.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_the_gold_model_passes_everything(proceval, tmp_path):
    run = proceval("difficulty=medium", "count=1", "samples=1", "tracker=off", "figures=false", "model=gold")
    assert run.returncode == 0, run.stderr
    verdicts = [json.loads(line) for line in (_folder(tmp_path) / "verdicts.jsonl").read_text().splitlines()]
    assert len(verdicts) == 7
    assert {v["outcome"] for v in verdicts} == {"passed"}


def test_a_stored_dataset_is_verified_from_another_place_and_tampering_is_named(proceval, tmp_path, made):
    moved = tmp_path / "elsewhere"
    shutil.copytree(made, moved)
    assert proceval("stage=verify", *SMALL, f"dataset={moved}").returncode == 0
    lines = (moved / "dataset.jsonl").read_text().splitlines()
    row = json.loads(lines[0])
    row["expected"] += 1
    row["tests"][0]["expected"] += 1
    lines[0] = json.dumps(row)
    (moved / "dataset.jsonl").write_text("\n".join(lines) + "\n")
    run = proceval("stage=verify", *SMALL, f"dataset={moved}")
    assert run.returncode == 1
    assert "row 1, tests.0.expected" in run.stdout
    assert "row 1, id" in run.stdout


def test_the_same_command_resumes_and_fresh_starts_anew(proceval, tmp_path, made):
    target = tmp_path / "outputs" / made.name
    shutil.copytree(made, target)
    first = (target / "records.jsonl").read_bytes()
    again = proceval(*SMALL)
    assert again.returncode == 0, again.stderr
    assert (target / "records.jsonl").read_bytes() == first
    assert "stands already" in again.stderr
    anew = proceval(*SMALL, "fresh=true")
    assert anew.returncode == 0
    assert "stands already" not in anew.stderr


def test_shards_joined_give_the_bytes_of_one_run(proceval, tmp_path):
    words = ("stage=generate", "difficulty=easy", "domain=[arrays,graphs]", "count=4")
    assert proceval(*words).returncode == 0
    names = ("dataset.jsonl", "generation.json", "rejections.jsonl", "certificates/index.jsonl")
    whole = [(_folder(tmp_path) / name).read_bytes() for name in names]
    shutil.rmtree(tmp_path / "outputs")
    lacking = proceval("stage=merge", *words[1:], "shard.count=2")
    assert lacking.returncode == 2
    assert "shard.index=0, 1" in lacking.stderr
    assert proceval(*words, "--multirun", "shard.count=2", "shard.index=0,1").returncode == 0
    assert proceval("stage=merge", *words[1:], "shard.count=2").returncode == 0
    assert [(_folder(tmp_path) / name).read_bytes() for name in names] == whole


def test_a_space_too_small_for_what_is_asked_is_said_and_not_padded(proceval, tmp_path):
    run = proceval(
        "stage=generate", "domain=graphs", "difficulty=easy", "count=40", "difficulty.easy.graphs.vertices=[3,3]"
    )
    assert run.returncode == 0, run.stderr
    assert "distinct problems" in run.stderr
    lines = (_folder(tmp_path) / "dataset.jsonl").read_text().splitlines()
    assert len({json.loads(line)["id"] for line in lines}) == len(lines)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["domian=graphs"], "did you mean 'domain'?"),
        (["model=mok"], "mock"),
        (["count=0"], "count"),
        (["stage=evaluate", "dataset=nowhere.jsonl"], "nowhere.jsonl"),
        (["stage=show"], "no dataset"),
        (["stage=generate", "dataset=x"], "dataset"),
        (["stage=merge"], "shard.count"),
        (["shard.count=2", "shard.index=2"], "shard.index"),
        (["sandbox.limits.cpu_s=0"], "sandbox.limits.cpu_s"),
        (["prover.limits.memory_bytes=1"], "prover.limits.memory_bytes"),
        (["sandbox.workers=0"], "workers"),
        (["difficulty.easy.arrays.lenght=[3,5]"], "difficulty.easy.arrays.lenght"),
        (["outputs=/dev/null/x"], "/dev/null/x"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else None,
)
def test_bad_input_ends_with_status_two_one_sentence_and_nothing_written(proceval, tmp_path, words, names):
    run = proceval(*words)
    assert run.returncode == 2, run.stderr
    assert names in run.stderr
    assert "Traceback" not in run.stderr
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


@pytest.mark.parametrize(
    ("stage", "damage", "names"),
    [
        ("verify", lambda text: text[:100], "cut short"),
        ("audit", lambda text: "", "empty"),
        ("evaluate", lambda text: '{"prompt": "hello"}\n' + text, "line 1"),
        ("verify", lambda text: text.replace('"family_version":', '"family_revision":'), "line 1"),
        ("audit", lambda text: "not json\n" + text, "line 1"),
    ],
    ids=["truncated", "empty", "foreign", "other schema", "not json"],
)
def test_a_damaged_dataset_is_refused_by_line(proceval, tmp_path, made, stage, damage, names):
    shutil.copytree(made, tmp_path / "damaged")
    path = tmp_path / "damaged" / "dataset.jsonl"
    path.write_text(damage(path.read_text()))
    run = proceval(f"stage={stage}", *SMALL, f"dataset={path}")
    assert run.returncode == 2, (stage, run.stderr)
    assert names in run.stderr
    assert "Traceback" not in run.stderr


def test_show_prints_one_problem_whole(proceval, made):
    identity = json.loads((made / "dataset.jsonl").read_text().splitlines()[0])["id"]
    run = proceval("stage=show", *SMALL, f"dataset={made}", f"id={identity[:8]}")
    assert run.returncode == 0, run.stderr
    for part in (identity, "== prompt", "== tests", "== certificate", "unsat", "== audit"):
        assert part in run.stdout, part


def test_doctor_names_versions_layers_and_keys(proceval):
    run = proceval("stage=doctor", OPENAI_API_KEY="s3cret-value")
    assert run.returncode == 0, run.stderr + run.stdout
    assert "z3 " in run.stdout
    assert "OPENAI_API_KEY" in run.stdout
    assert "s3cret-value" not in run.stdout + run.stderr


def test_help_is_quick_to_import_and_lists_every_group(proceval):
    run = proceval("--help")
    assert run.returncode == 0
    for group in groups(config_dir()):
        assert f"{group}=" in run.stdout
    loaded = proceval("--help", PYTHONPROFILEIMPORTTIME="1").stderr
    for heavy in ("hydra", "pydantic", "z3", "litellm", "wandb", "pyarrow"):
        assert f" {heavy}\n" not in loaded, heavy


def test_somebodys_own_function_is_audited_with_their_tests(proceval, tmp_path):
    (tmp_path / "clip.py").write_text("def clip(x, high):\n    if x > high:\n        return high\n    return x\n")
    (tmp_path / "one.jsonl").write_text('{"arguments": {"x": 5, "high": 3}, "expected": 3}\n')
    run = proceval("stage=audit", "reference=clip.py", "tests=one.jsonl")
    assert run.returncode == 1, run.stderr
    assert "survives: line 4" in run.stdout
    cases = [(5, 3, 3), (2, 3, 2), (3, 3, 3), (-4, -2, -4), (1, -2, -2), (0, 7, 0)]
    lines = [json.dumps({"arguments": {"x": x, "high": high}, "expected": value}) for x, high, value in cases]
    (tmp_path / "many.jsonl").write_text("\n".join(lines) + "\n")
    better = proceval("stage=audit", "reference=clip.py", "tests=many.jsonl")
    assert better.stdout.count("survives") < run.stdout.count("survives")
    (tmp_path / "wrong.jsonl").write_text("\n".join([*lines[:2], lines[2].replace('"expected": 3', '"expected": 4')]))
    wrong = proceval("stage=audit", "reference=clip.py", "tests=wrong.jsonl")
    assert wrong.returncode == 1
    assert wrong.stdout.startswith("the reference fails test 3: returned 3, expected 4\n")
    assert "survives" not in wrong.stdout
    for words in (
        ["reference=clip.py"],
        ["reference=nowhere.py", "tests=one.jsonl"],
        ["reference=clip.py", "tests=clip.py"],
    ):
        refused = proceval("stage=audit", *words)
        assert refused.returncode == 2, words
        assert "Traceback" not in refused.stderr
    assert not any(path.is_file() for path in (tmp_path / "outputs").rglob("*"))


def test_two_runs_are_compared_on_the_samples_both_scored(proceval, tmp_path, made):
    shutil.copytree(made, tmp_path / "copy")
    run = proceval("stage=report", f"compare=[{made},copy]")
    assert run.returncode == 0, run.stderr
    assert "difference +0.0%" in run.stdout
    refused = proceval("stage=report", f"compare=[{made},{tmp_path}]")
    assert refused.returncode == 2
    assert str(tmp_path) in refused.stderr


def test_a_dry_run_forecasts_and_asks_nothing(proceval, tmp_path):
    run = proceval("stage=generate", *SMALL, "model=litellm", "model.id=openai/some-model")
    assert run.returncode == 0, run.stderr
    run = proceval("stage=evaluate", *SMALL, "model=litellm", "model.id=openai/some-model", "dry_run=true")
    assert run.returncode == 0, run.stderr
    assert "forecast" in run.stderr
    assert not (_folder(tmp_path) / "records.jsonl").exists()


def test_a_dataset_that_was_edited_after_it_was_proved_is_not_used(proceval, tmp_path, made):
    target = tmp_path / "outputs" / made.name
    shutil.copytree(made, target)
    path = target / "dataset.jsonl"
    path.write_text(path.read_text().replace('"expected":', '"expected": ', 1))
    for stage in ("generate", "evaluate", "benchmark"):
        run = proceval(f"stage={stage}", *SMALL)
        assert run.returncode == 1, (stage, run.stderr)
        assert "not what was generated" in run.stderr


def test_hydras_own_options_are_not_taken_for_keys(proceval):
    run = proceval("--cfg", "job", *SMALL)
    assert run.returncode == 0, run.stderr
    assert "count: 1" in run.stdout


def test_what_is_not_there_is_told_with_the_nearest_run_and_the_words_that_differ(proceval, tmp_path, made):
    shutil.copytree(made, tmp_path / "outputs" / made.name)
    other = [*SMALL, "seed=2", "count=3"]
    for stage in ("audit", "evaluate", "report", "show"):
        run = proceval(f"stage={stage}", *[w for w in other if w != "count=1"])
        assert run.returncode == 2, (stage, run.stderr)
        for part in ("-seed_2-", f"outputs/{made.name}", "seed=0 instead of seed=2", "count=1 instead of count=3"):
            assert part in run.stderr, (stage, part, run.stderr)
    run = proceval("stage=evaluate", "rescore=true", *SMALL, "model=gold")
    assert run.returncode == 2
    assert f"outputs/{made.name}, made with model=mock instead of model=gold" in run.stderr
    run = proceval("stage=evaluate", "rescore=true", *SMALL, "model=gold", f"dataset=outputs/{made.name}")
    assert run.returncode == 2
    assert "there are those of model mock with strategy flat" in run.stderr
    run = proceval("stage=evaluate", "rescore=true", *SMALL, "model.skill.easy=1", f"dataset=outputs/{made.name}")
    assert "there skill was" in run.stderr
    assert (tmp_path / "outputs" / made.name / "verdicts.jsonl").read_bytes() == (made / "verdicts.jsonl").read_bytes()


def _next_command(run) -> list[str]:
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("next ")]
    return shlex.split(line.removeprefix("next"))


def test_the_next_command_works_as_it_is_pasted_and_keeps_the_words(proceval, tmp_path):
    first = proceval(*SMALL, "outputs=an öd place", "model.skill.easy=1")
    assert first.returncode == 0, first.stderr
    assert str(tmp_path) not in first.stderr, "paths below the working directory are relative"
    assert not [line for line in first.stdout.splitlines() if line != line.rstrip()]
    assert "1 problems" not in first.stdout + first.stderr
    export = _next_command(first)  # own parameters fit no other model, and the tier was chosen: nothing to sweep over
    assert export[:3] == ["python", "-m", "proceval"]
    assert {*SMALL, "outputs=an öd place", "model.skill.easy=1", "stage=export"} <= {*export}
    second = proceval(*export[3:])
    assert second.returncode == 0, second.stderr
    recheck = _next_command(second)
    assert recheck[1] == "-I"
    assert (tmp_path / recheck[2]).is_file()
    assert f"results  {Path(recheck[2]).parent}\n" in second.stderr
    third = proceval("stage=report", *SMALL, "outputs=an öd place", "model.skill.easy=1", "domain=arrays")
    sweep = _next_command(proceval(*SMALL, "outputs=an öd place"))
    assert sweep[3] == "--multirun"
    assert {*SMALL, "outputs=an öd place", "model=mock,gold"} <= {*sweep}
    assert third.returncode == 0
    swept = proceval(*sweep[3:])
    assert swept.returncode == 0, swept.stderr
    assert "gold" in swept.stdout


def test_folders_of_cases_are_named_by_what_was_chosen() -> None:
    def name(*words: str) -> str:
        settings = config.compose(*words)
        return naming.run_folder(settings, "0" * 64)

    assert name("track=agent") == "outputs/scripted_agent_gold-agent-00000000"
    assert (
        name("track=agent", "samples=2", "count=9", "seed=3") == "outputs/scripted_agent_gold-agent-samples_2-00000000"
    )
    assert name("track=review", "difficulty=hard", "domain=graphs") == "outputs/scripted_reviewer-review-00000000"
    assert "count_9" in name("track=review", "count=9", "stage=generate")


def test_a_pipe_that_is_closed_is_no_traceback(tmp_path):
    command = f"{sys.executable} -m proceval --cfg job | head -n 1"
    run = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True
    )
    assert b"Traceback" not in run.stderr


def test_a_damaged_pointer_or_record_is_no_traceback(proceval, tmp_path, made):
    target = tmp_path / "outputs" / made.name
    shutil.copytree(made, target)
    (target / "generation.json").write_text("{")
    run = proceval("stage=generate", *SMALL)
    assert run.returncode == 2
    assert "generation.json" in run.stderr
    assert "Traceback" not in run.stderr
    shutil.rmtree(target)
    (tmp_path / "outputs" / ".datasets").mkdir()
    name = config.generation_identity(config.compose("stage=generate", *SMALL))
    (tmp_path / "outputs" / ".datasets" / f"{name}.json").write_text("{}")
    assert proceval("stage=generate", *SMALL).returncode == 0


def test_an_older_run_is_reported_and_shown_as_what_it_was(proceval, tmp_path, made):
    """Whatever the words of today's command line are: the run's own configuration names its parts, its verdicts are shown."""
    run = tmp_path / "an=older, run"
    shutil.copytree(made, run)
    report = proceval("stage=report", f"dataset={run}", "model=gold", "tracker=off", "figures=false")
    assert report.returncode == 0, report.stderr
    assert "model mock" in " ".join(report.stdout.split())
    assert "model gold" not in " ".join(report.stdout.split())
    first = json.loads((run / "dataset.jsonl").read_text().splitlines()[0])["id"]
    assert "== verdicts" in proceval("stage=show", f"dataset={run}", f"id={first}").stdout
    pair = proceval("stage=report", f"compare=[{run},{made}]")
    assert pair.returncode == 0, pair.stderr
