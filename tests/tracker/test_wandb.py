"""What W&B is told, read back from offline runs; and that nothing it does reaches the job or the records."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from proceval.config import compose
from proceval.folder import RunFolder
from proceval.report import parquet, summary
from proceval.stage.report import Untold
from proceval.tracker.wandb import Wandb
from proceval.tracker.wandb_run import Session
from tests.report import builder
from tests.tracker.offline import OfflineRun, runs

SECRET = "sk-0123456789abcdefghij"
CONFIG: dict[str, Any] = {
    "stage": {"_target_": "proceval.stage.benchmark.Benchmark"},
    "model": {"_target_": "proceval.model.litellm.LiteLLM", "id": "lab/large:1b", "api_key": SECRET, "max_tokens": 5},
    "domain": {"arrays": {"monotonic_split": {"length": None}}, "graphs": {}},
    "difficulty": {"easy": {}, "hard": {"arrays": {"length": [10, 14]}}},
    "engine": {"headers": ["Authorization: Bearer " + SECRET]},
    "seed": 1,
}


def tracker(**changes: Any) -> Wandb:
    settings: dict[str, Any] = {
        "mode": "offline", "project": "proceval", "entity": None, "group": None, "name": None, "job_type": None,
        "tags": ["mine"], "table_rows": 1000, "timeout_s": 60.0,
    }  # fmt: skip
    return Wandb(**(settings | changes))


def records(folder: Path) -> dict[str, bytes]:
    """Every local record of a run: all files but W&B's own."""
    files = (path for path in folder.rglob("*") if path.is_file() and "wandb" not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def prepare(folder: Path) -> dict[str, Any]:
    builder.build(folder)
    parquet.write(folder)
    _picture(folder / "figures" / "accuracy_by_tier.png")
    return summary.write(folder, exit_status=0, versions={}, git_commit=None, ks=[1, 3, 5])


def _picture(path: Path) -> None:
    from PIL import Image

    path.parent.mkdir(exist_ok=True)
    Image.new("RGB", (8, 4), "white").save(path)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, OfflineRun]:
    folder = tmp_path_factory.mktemp("sweeps") / "night" / "0-model=lab"
    found = prepare(folder)
    (folder.parent / "multirun.yaml").write_text("")
    before = records(folder)
    one = tracker()
    one.start()
    one.write(folder, found, CONFIG)
    one.close(0)
    assert records(folder) == before
    (run,) = runs(folder)
    return folder, run


def test_a_run_says_which_job_of_which_sweep_it_is(published: tuple[Path, OfflineRun]) -> None:
    run = published[1]
    assert run.folder.name.startswith("offline-run-")
    assert (run.project, run.group, run.job_type) == ("proceval", "night", "benchmark")
    assert run.name == "lab/large:1b|arrays+graphs|easy+hard"
    assert run.tags == ["mine", "arrays", "graphs", "easy", "hard"]
    assert run.exit_code == 0


def test_the_configuration_is_flat_and_holds_no_secret(published: tuple[Path, OfflineRun]) -> None:
    folder, run = published
    assert run.config["model.max_tokens"] == 5
    assert run.config["difficulty.hard.arrays.length"] == [10, 14]
    assert run.config["model.api_key"] == "removed"
    for path in folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_metrics_carry_their_intervals_and_nothing_undefined(published: tuple[Path, OfflineRun]) -> None:
    run = published[1]
    score = {key: value for key, value in run.summary.items() if key.startswith("score/lab/large:1b/")}
    accuracy = score["score/lab/large:1b/pass@1"]
    assert accuracy == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert score["score/lab/large:1b/pass@1_low"] <= accuracy <= score["score/lab/large:1b/pass@1_high"]
    assert "score/lab/large:1b/pass@5" not in score  # four samples have no pass@5
    assert "score/mock/cost_usd" not in run.summary  # unknown is not zero
    assert run.summary["audit/withheld"] == 2
    assert run.summary["score/mock/outcome/timeout"] == 1
    assert run.metrics["curve/*"] == "curve/k"
    curve = [row["curve/mock/pass@k"] for row in run.history if "curve/mock/pass@k" in row]
    assert len(curve) == 4
    assert curve == sorted(curve)


def test_history_draws_accuracy_spending_and_tiers_each_against_its_axis(published: tuple[Path, OfflineRun]) -> None:
    run = published[1]
    assert run.metrics["accuracy/*"] == run.metrics["spent/*"] == "accuracy/samples"
    assert run.metrics["tier/*"] == "tier/number"
    key = "accuracy/lab/large:1b/so_far"
    rows = [row for row in run.history if key in row]
    assert [row["accuracy/samples"] for row in rows] == list(range(1, 13))
    passed = sum(outcome == "passed" for (model, _), v in builder.VERDICTS.items() if model != "mock" for outcome in v)
    assert rows[-1][key] == pytest.approx(passed / 10)  # two samples were never scored
    assert "spent/mock/usd" not in {name for row in run.history for name in row}  # unknown is not zero
    tiers = [row for row in run.history if "tier/lab/large:1b/pass@1" in row]
    assert [row["tier/number"] for row in tiers] == [0, 1]


class Failing:
    """A stage without a tracker of its own that breaks."""

    writes = True

    def run(self, folder: RunFolder) -> int:
        raise RuntimeError("the endpoint said no")


def test_a_job_that_fails_in_a_stage_without_a_tracker_is_a_failed_run(tmp_path: Path) -> None:
    settings = compose("tracker.timeout_s=60")
    folder = RunFolder(path=tmp_path / "run", settings=settings, inputs="x", outputs=tmp_path, dataset=None)
    folder.path.mkdir()
    with pytest.raises(RuntimeError), Untold(Failing(), folder) as untold:
        untold.status = Failing().run(folder)
    (run,) = runs(folder.path)
    assert run.exit_code == 1
    assert run.summary["failure"] == "the endpoint said no"
    with Untold(Failing(), folder) as untold:
        untold.status = 0
    assert len(runs(folder.path)) == 1  # nothing to tell of a stage that ended fine


def test_tables_have_one_type_a_column(published: tuple[Path, OfflineRun]) -> None:
    run = published[1]
    sizes = {"problems": 3, "samples": len(builder.verdicts()), "failures": 11}
    for name, size in sizes.items():
        table = run.table(f"tables/{name}")
        assert len(table["data"]) == size
        for number, column in enumerate(table["columns"]):
            kinds = {type(row[number]) for row in table["data"]} - {type(None)}
            assert len({float if kind is int else kind for kind in kinds}) == 1, (name, column, kinds)
            assert not any(row[number] != row[number] for row in table["data"]), "NaN"
    texts = [row[-1] for row in run.table("tables/failures")["data"]]
    assert any("# wrong_answer" in text for text in texts)


def test_plots_are_logged_as_pictures_and_as_native_charts(published: tuple[Path, OfflineRun]) -> None:
    run = published[1]
    assert run.logged("figures/accuracy_by_tier._type") == "image-file"
    for chart in ("accuracy_by_tier", "outcomes", "pass_at_k"):
        assert run.table(f"charts/{chart}_table")["data"]
        assert f"_wandb.visualize.charts/{chart}" in run.config


def test_the_dataset_is_an_artifact_with_its_hash(published: tuple[Path, OfflineRun]) -> None:
    import hashlib

    folder, run = published
    sha256 = hashlib.sha256((folder / "dataset.jsonl").read_bytes()).hexdigest()
    (dataset,) = [artifact for artifact in run.artifacts if artifact["type"] == "dataset"]
    assert dataset["name"] == f"dataset-{sha256[:12]}"
    assert dataset["metadata"]["sha256"] == sha256
    assert {name: Path(path).read_bytes() for name, path in dataset["files"].items()} == {
        name: (folder / name).read_bytes() for name in ("dataset.jsonl", "dataset.parquet")
    }
    assert run.summary["dataset/sha256"] == sha256


def test_jobs_of_one_process_give_a_run_each_and_a_failed_job_a_failed_run(tmp_path: Path) -> None:
    codes = []
    for number, status in enumerate((0, 3)):
        folder = builder.build(tmp_path / str(number), without=["verdicts.jsonl", "records.jsonl", "audit.jsonl"])
        found = summary.write(folder, exit_status=status, versions={}, git_commit=None, ks=[1])
        one = tracker(table_rows=2, group="mine")
        one.write(folder, found, CONFIG)
        one.close(status)
        (run,) = runs(folder)
        codes.append(run.exit_code)
        assert run.group == "mine"
        assert run.summary["exit_status"] == status
    assert codes == [0, 3]


def test_a_failure_of_wandb_is_one_line_and_the_run_is_still_finished(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = prepare(tmp_path)
    (tmp_path / "figures" / "broken.png").write_text("not a picture")
    before = records(tmp_path)
    one = tracker(table_rows=2)
    one.write(tmp_path, found, CONFIG)
    one.close(1)
    out, err = capfd.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("proceval: wandb: raised while logging figures: ")
    assert records(tmp_path) == before
    (run,) = runs(tmp_path)
    assert run.exit_code == 1
    assert len(run.table("tables/samples")["data"]) == 2
    assert run.summary["tables/samples_rows_left_out"] == len(builder.verdicts()) - 2


@pytest.mark.parametrize(
    ("does", "complaint"),
    [
        (lambda: time.sleep(60), "no answer in time"),
        (lambda: os._exit(9), "crashed: exit 9"),
        (lambda: 1 / 0, "raised: ZeroDivisionError"),
    ],
)
def test_whatever_wandb_does_the_job_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], does: Any, complaint: str
) -> None:
    found = prepare(tmp_path)
    before = records(tmp_path)
    monkeypatch.setattr(Session, "handle", lambda self, message, section: does())
    one = tracker(timeout_s=0.3)
    one.write(tmp_path, found, CONFIG)
    one.close(0)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"proceval: wandb: {complaint}") for line in lines)
    assert records(tmp_path) == before


def test_publishing_without_a_key_is_a_warning_and_never_a_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    found = prepare(tmp_path / "run")
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    one = tracker(mode="online")
    one.write(tmp_path / "run", found, CONFIG)
    one.close(0)
    out, err = capfd.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("proceval: wandb: raised while starting: ")
    assert "API key" in line


@pytest.mark.parametrize("when", ["at the start", "after a kill"])
def test_a_machine_that_cannot_fork_costs_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], when: str
) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    found = prepare(tmp_path)
    monkeypatch.setattr(Session, "handle", lambda self, message, section: os._exit(9))
    one = tracker()
    if when == "after a kill":
        one.write(tmp_path, found, CONFIG)
    monkeypatch.setattr(os, "fork", refuse)
    one.write(tmp_path, found, CONFIG)
    one.close(0)
    lines = capfd.readouterr().err.splitlines()
    assert lines[-1].startswith("proceval: wandb: no worker process: ")


def test_disabled_starts_nothing(tmp_path: Path) -> None:
    found = prepare(tmp_path)
    one = tracker(mode="disabled")
    one.start()
    assert one._worker is None
    one.write(tmp_path, found, CONFIG)
    one.close(0)
    assert not (tmp_path / "wandb").exists()


def test_the_job_itself_never_imports_wandb() -> None:
    code = (
        "import sys; from proceval.tracker.wandb import Wandb; "
        "one = Wandb(mode='offline', project='p', entity=None, group=None, name=None, job_type=None, tags=[], "
        "table_rows=1, timeout_s=9.0); one.start(); one.close(0); print('wandb' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
