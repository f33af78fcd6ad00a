"""Parquet files hold what the JSONL files hold, with the same types whatever the run contains."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proceval.errors import InputError
from proceval.report import parquet
from tests.report import builder

NAMES = {"dataset.parquet": "dataset_schema", "audit.parquet": "audit_schema", "records.parquet": "records_schema"}


def test_same_records_give_same_bytes_and_no_leftovers(run_folder: Path, tmp_path: Path) -> None:
    assert parquet.write(run_folder) == list(NAMES)
    again = builder.build(tmp_path / "again")
    verdicts = again / "verdicts.jsonl"
    verdicts.write_text("".join(reversed(verdicts.read_text().splitlines(keepends=True))))  # arrived in another order
    parquet.write(again)
    for name in NAMES:
        assert (run_folder / name).read_bytes() == (again / name).read_bytes(), name
    assert not list(run_folder.glob(".*"))


def test_integers_beyond_64_bits_survive(run_folder: Path) -> None:
    parquet.write(run_folder)
    rows = pq.read_table(run_folder / "dataset.parquet").to_pylist()
    assert json.loads(rows[0]["arguments"]) == {"array": [1, builder.HUGE], "target": 1}
    assert [json.loads(row["expected"]) for row in rows] == [0, 1, 2]
    assert [test["origin"] for test in rows[0]["tests"]] == ["main", "targeted"]


def test_every_mutant_is_a_row_and_a_faulty_audit_is_not_lost(run_folder: Path) -> None:
    parquet.write(run_folder)
    rows = pq.read_table(run_folder / "audit.parquet").to_pylist()
    assert len(rows) == 5 + 5 + 3 + 3 + 1
    assert {(r["problem_id"], r["accepted"]) for r in rows} >= {("withheld-1", False), ("withheld-2", False)}
    faulty = [r for r in rows if r["fault"]]
    assert [(r["mutant"], r["fault"]) for r in faulty] == [(None, "worker crashed: signal 11")]
    assert {r["family"] for r in rows if r["problem_id"] == "withheld-1"} == {None}


def test_a_sample_is_one_row_with_its_responses(run_folder: Path) -> None:
    parquet.write(run_folder)
    rows = pq.read_table(run_folder / "records.parquet").to_pylist()
    assert len(rows) == len(builder.verdicts())
    by_key = {(r["model"], r["problem_id"], r["sample"]): r for r in rows}
    fault = by_key["lab/large:1b", "split-hard", 1]
    assert (fault["scored"], fault["passed"], fault["responses"]) == (False, None, [])
    answered = by_key["mock", "split-easy", 2]
    assert (answered["outcome"], answered["passed"]) == ("wrong_answer", False)
    assert "\\ud800" in answered["responses"][0]["text"]
    assert "\x1b" not in answered["responses"][0]["text"] + answered["detail"]


def test_answers_that_were_never_judged_are_rows_with_a_null_verdict(tmp_path: Path) -> None:
    run = builder.build(tmp_path, without=["verdicts.jsonl"])
    parquet.write(run)
    rows = pq.read_table(run / "records.parquet").to_pylist()
    assert len(rows) == len(builder.responses())
    assert {(r["outcome"], r["scored"]) for r in rows} == {(None, None)}
    assert {r["family"] for r in rows} == {"monotonic_split", "dag_reachability"}


@pytest.mark.parametrize("empty", [True, False])
def test_types_do_not_depend_on_content(tmp_path: Path, empty: bool) -> None:
    run = builder.build(tmp_path, without=list(builder.FILES) if empty else [])
    if empty:
        for name in builder.FILES:
            builder.write_lines(run / name, [])
    parquet.write(run)
    for name, schema in NAMES.items():
        written = pq.read_schema(run / name)
        assert written.equals(getattr(parquet, schema)(), check_metadata=True), name
        assert not any(pa.types.is_null(field.type) for field in written)


def test_only_what_the_run_has_is_written(tmp_path: Path) -> None:
    run = builder.build(tmp_path, without=["audit.jsonl", "records.jsonl", "verdicts.jsonl"])
    assert parquet.write(run) == ["dataset.parquet"]


def test_a_torn_last_line_is_left_out_and_a_broken_one_is_named(run_folder: Path) -> None:
    with (run_folder / "verdicts.jsonl").open("a") as file:
        file.write('{"model": "mo')
    parquet.write(run_folder)
    assert pq.read_metadata(run_folder / "records.parquet").num_rows == len(builder.verdicts())
    before = (run_folder / "dataset.parquet").read_bytes()
    with (run_folder / "dataset.jsonl").open("a") as file:
        file.write('{"id": 1}\n')
    with pytest.raises(InputError, match=r"dataset\.jsonl, line 4: not a Problem: "):
        parquet.write(run_folder)
    assert (run_folder / "dataset.parquet").read_bytes() == before


def test_nan_is_no_json(run_folder: Path) -> None:
    text = (run_folder / "dataset.jsonl").read_text()
    (run_folder / "dataset.jsonl").write_text(text.replace('"expected": 0,', '"expected": NaN,', 1))
    with pytest.raises(InputError, match="NaN is no JSON value"):
        parquet.write(run_folder)


def test_a_resumed_run_counts_a_sample_once(run_folder: Path) -> None:
    with (run_folder / "verdicts.jsonl").open("a") as file:
        file.write((run_folder / "verdicts.jsonl").read_text())
    parquet.write(run_folder)
    assert pq.read_metadata(run_folder / "records.parquet").num_rows == len(builder.verdicts())
