"""The whole programme as a user runs it: main job, stages one by one, sweeps, mistakes, resuming."""

import json
import shutil
from pathlib import Path

import pytest

SMALL = ("difficulty=easy", "count=1", "samples=2", "tracker=off")


def _folder(tmp_path: Path, pattern: str = "outputs/[!.s]*") -> Path:
    found = [p for p in tmp_path.glob(pattern) if p.is_dir()]
    assert len(found) == 1, found
    return found[0]


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
    assert len({p["family"] for p in problems}) == 7
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["versions"]["proceval"]
    assert str(folder.name) in run.stderr.replace("\n", "")
    assert "Traceback" not in run.stderr


def test_stages_run_one_by_one_give_the_same_dataset_as_the_main_job(proceval, tmp_path):
    words = (*SMALL, "domain=graphs", "model=gold")
    for stage in ("generate", "audit", "evaluate", "report"):
        run = proceval(f"stage={stage}", *words)
        assert run.returncode == 0, (stage, run.stderr)
    stepwise = (_folder(tmp_path) / "dataset.jsonl").read_bytes()
    verdicts = [json.loads(line) for line in (_folder(tmp_path) / "verdicts.jsonl").read_text().splitlines()]
    assert verdicts
    assert all(v["outcome"] == "passed" for v in verdicts)
    shutil.rmtree(tmp_path / "outputs")
    assert proceval(*words).returncode == 0
    assert (_folder(tmp_path) / "dataset.jsonl").read_bytes() == stepwise


def test_a_stored_dataset_is_verified_from_another_place_and_tampering_is_named(proceval, tmp_path):
    assert proceval("stage=generate", *SMALL, "domain=arrays").returncode == 0
    moved = tmp_path / "elsewhere"
    shutil.move(str(_folder(tmp_path)), moved)
    assert proceval("stage=verify", *SMALL, "domain=arrays", f"dataset={moved}").returncode == 0
    lines = (moved / "dataset.jsonl").read_text().splitlines()
    row = json.loads(lines[0])
    row["expected"] += 1
    row["tests"][0]["expected"] += 1
    lines[0] = json.dumps(row)
    (moved / "dataset.jsonl").write_text("\n".join(lines) + "\n")
    run = proceval("stage=verify", *SMALL, "domain=arrays", f"dataset={moved}")
    assert run.returncode == 1
    assert "row 1, tests.0.expected" in run.stdout
    assert "row 1, id" in run.stdout


def test_the_same_command_resumes_and_fresh_starts_anew(proceval, tmp_path):
    words = (*SMALL, "domain=arrays")
    assert proceval(*words).returncode == 0
    records = _folder(tmp_path) / "records.jsonl"
    first = records.read_bytes()
    again = proceval(*words)
    assert again.returncode == 0
    assert records.read_bytes() == first
    assert "stands already" in again.stderr
    assert proceval(*words, "fresh=true").returncode == 0


def test_a_sweep_runs_every_job_in_a_folder_of_its_own_and_proves_its_dataset_once(proceval, tmp_path):
    run = proceval("--multirun", *SMALL, "domain=arrays", "model=mock,gold", "seed=1,2")
    assert run.returncode == 0, run.stderr
    jobs = [p for p in tmp_path.glob("outputs/sweeps/*/*") if p.is_dir() and p.name[0].isdigit()]
    assert len(jobs) == 4
    assert all((job / "summary.json").is_file() for job in jobs)
    assert run.stderr.count("taken over from") == 2


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["domian=graphs"], "did you mean 'domain'?"),
        (["model=mok"], "mock"),
        (["count=0"], "count"),
        (["stage=evaluate", "dataset=nowhere.jsonl"], "nowhere.jsonl"),
        (["stage=show"], "no dataset"),
        (["stage=verify"], "no dataset"),
        (["stage=generate", "dataset=x"], "dataset"),
        (["difficulty=[easy,impossible]"], "impossible"),
        (["seed={a: 1}"], "seed"),
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
    ("damage", "names"),
    [
        (lambda text: text[: len(text) // 2], "cut short"),
        (lambda text: "", "empty"),
        (lambda text: '{"prompt": "hello"}\n' + text, "line 1"),
        (lambda text: text.replace('"family_version":', '"family_revision":', 1), "line 1"),
        (lambda text: "not json\n" + text, "line 1"),
    ],
    ids=["truncated", "empty", "foreign", "other schema", "not json"],
)
def test_a_damaged_dataset_is_refused_by_line(proceval, tmp_path, damage, names):
    assert proceval("stage=generate", *SMALL, "domain=arrays").returncode == 0
    path = _folder(tmp_path) / "dataset.jsonl"
    path.write_text(damage(path.read_text()))
    for stage in ("verify", "audit", "evaluate"):
        run = proceval(f"stage={stage}", *SMALL, "domain=arrays", f"dataset={path}")
        assert run.returncode == 2, (stage, run.stderr)
        assert names in run.stderr
        assert "Traceback" not in run.stderr


def test_help_is_quick_to_import_and_lists_every_group(proceval):
    run = proceval("--help")
    assert run.returncode == 0
    for group in ("stage=", "domain=", "difficulty=", "model=", "strategy=", "count="):
        assert group in run.stdout
    loaded = proceval("--help", PYTHONPROFILEIMPORTTIME="1").stderr
    for heavy in ("hydra", "pydantic", "z3", "litellm", "wandb", "pyarrow"):
        assert f" {heavy}\n" not in loaded, heavy
