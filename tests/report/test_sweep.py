"""A sweep is reported whole: jobs that share models, tiers or datasets, and jobs that failed in every way."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from proceval.errors import InputError
from proceval.report import plots, sweep, tables
from tests.report import builder


@pytest.fixture(autouse=True)
def one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing is tested elsewhere; here one figure shows that it is called on all jobs together."""
    monkeypatch.setattr(plots, "PLOTS", {"pass_at_k": plots.PLOTS["pass_at_k"]})


def job(folder: Path, name: str, status: int | None, *, model: str = "mock", tier: str | None = None) -> Path:
    """A job that judged one model, on one tier or on all."""
    run = builder.build(folder / name)
    wanted = [v for v in builder.verdicts() if v.model == model and tier in (None, v.difficulty)]
    builder.write_lines(run / "verdicts.jsonl", wanted)
    answered = [r for r in builder.responses() if r.model == model]
    builder.write_lines(run / "records.jsonl", answered)
    if status is not None:
        (run / "status.json").write_text(json.dumps({"exit_status": status}))
    return run


def contestants(found: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one for one in found["scores"]["contestants"]}


def test_terminal_of_a_sweep_with_failed_jobs(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    job(tmp_path, "0-difficulty=easy,model=mock,seed=1", 0, tier="easy")
    job(tmp_path, "1-difficulty=hard,model=mock,seed=1", 0, tier="hard")
    job(tmp_path, "2-difficulty=easy,model=lab_large,seed=1", 3, model="lab/large:1b", tier="easy")
    (tmp_path / "3-difficulty=hard,model=lab_large,seed=1").mkdir()
    broken = job(tmp_path, "10-difficulty=easy,model=broken,seed=1", 1)
    (broken / "verdicts.jsonl").write_text("[]\n")
    found = sweep.aggregate(tmp_path, ks=[1, 3])
    stream = io.StringIO()
    Console(file=stream, width=80).print(tables.render(found))
    text = "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"
    golden("terminal_sweep.txt", text[: text.index("Problems and proofs")])
    assert [one["state"] for one in found["jobs"]] == ["fine", "fine", "unscored", "died", "unreadable"]
    assert found["exit_status"] == 3
    assert "# Run report" in (tmp_path / "report.md").read_text()
    assert (tmp_path / "figures" / "pass_at_k.svg").is_file()


def test_jobs_of_one_model_are_one_contestant_and_shared_evidence_counts_once(tmp_path: Path) -> None:
    job(tmp_path, "0-difficulty=easy,model=mock", 0, tier="easy")
    alone = sweep.aggregate(tmp_path, ks=[1])
    job(tmp_path, "1-difficulty=hard,model=mock", 0, tier="hard")
    found = sweep.aggregate(tmp_path, ks=[1])
    assert list(contestants(found)) == ["mock"]
    assert list(contestants(found)["mock"]["by_tier"]) == ["easy", "hard"]
    for section in ("problems", "proofs", "audit", "rejected", "generation"):
        assert found[section] == alone[section], section


def test_the_same_samples_twice_count_once(tmp_path: Path) -> None:
    for number in range(2):
        job(tmp_path, f"{number}-model=mock", 0)
    assert contestants(sweep.aggregate(tmp_path, ks=[1]))["mock"]["overall"]["samples"] == 12


def test_what_only_the_overrides_tell_keeps_jobs_apart(tmp_path: Path) -> None:
    job(tmp_path, "0-model=mock,model.temperature=0.0,seed=1", 0)
    job(tmp_path, "1-model=mock,model.temperature=0.7,seed=1", 0)
    found = contestants(sweep.aggregate(tmp_path, ks=[1]))
    assert list(found) == ["mock, model.temperature=0.0", "mock, model.temperature=0.7"]
    assert {one["overall"]["samples"] for one in found.values()} == {12}


def test_every_job_is_in_the_parquet_file_and_types_stay(tmp_path: Path) -> None:
    job(tmp_path, "0-model=mock", 0)
    (tmp_path / "1-model=dead").mkdir()
    sweep.aggregate(tmp_path, ks=[1, 3])
    table = pq.read_table(tmp_path / "multirun.parquet")
    assert table.schema.equals(sweep.parquet_schema(), check_metadata=True)
    rows = table.to_pylist()
    assert [(r["axis"], r["value"]) for r in rows if r["state"] == "fine"] == [
        ("overall", None), ("domain", "arrays"), ("domain", "graphs"), ("family", "dag_reachability"),
        ("family", "monotonic_split"), ("tier", "easy"), ("tier", "hard"),
    ]  # fmt: skip
    (dead,) = [row for row in rows if row["state"] == "died"]
    assert (dead["exit_status"], dead["accuracy"], dead["model"]) == (None, None, None)


def test_the_aggregate_is_repeatable(tmp_path: Path) -> None:
    job(tmp_path, "0-model=mock", 0)
    job(tmp_path, "1-model=large", 3, model="lab/large:1b")
    sweep.aggregate(tmp_path, ks=[1])
    files = ["summary.json", "multirun.parquet", "report.md", "figures/pass_at_k.png"]
    before = [(tmp_path / name).read_bytes() for name in files]
    sweep.aggregate(tmp_path, ks=[1])
    assert [(tmp_path / name).read_bytes() for name in files] == before


def test_a_folder_without_jobs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    with pytest.raises(InputError, match="no job of a sweep lies here"):
        sweep.aggregate(tmp_path, ks=[1])


@pytest.mark.parametrize("status", ["", "{}", "[]", '{"exit_status": "0"}', "{"])
def test_a_status_that_says_nothing_is_a_death(tmp_path: Path, status: str) -> None:
    (job(tmp_path, "0-model=mock", 0) / "status.json").write_text(status)
    assert sweep.aggregate(tmp_path, ks=[1])["jobs"][0]["state"] == "died"
