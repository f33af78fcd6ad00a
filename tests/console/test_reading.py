"""Lists, counts and single records: the same from Parquet as from JSON Lines, and a clear word on broken files."""

import json
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from proceval.console import audits, columns, exported, lines, places, problems, runs, tally
from proceval.errors import InputError
from proceval.report import parquet
from proceval.report.run import Run
from proceval.report.scores import summarise_scores
from proceval.schema import Problem, Verdict


def test_everything_below_a_folder_is_found_and_told_apart(home: Path) -> None:
    found = places.find(home)
    assert sorted(place.kind for place in found) == ["release", "run", "run", "sweep"]
    sweep = next(place for place in found if place.kind == "sweep")
    at = found.index(sweep)
    assert len(sweep.folders) == 2
    assert [place.kind for place in found[at + 1 : at + 3]] == ["run", "run"], "jobs follow their sweep"
    assert places.find(sweep.folders[0] / "dataset.jsonl")[0].path == sweep.folders[0]


def test_a_release_inside_its_run_is_found_and_the_run_stays_the_first(copy: Path, home: Path) -> None:
    shutil.copytree(home / "released", copy / "release")
    assert [(place.kind, place.label) for place in places.find(copy)] == [("run", "mine"), ("release", "release")]
    found = {place.label: place.kind for place in places.find(copy.parent)}
    assert found == {"mine": "run", "mine/release": "release"}
    assert problems.table(places.find(copy)[1]).num_rows == 4


def test_a_release_inside_a_job_of_a_sweep_is_found(copy: Path, home: Path) -> None:
    sweep = copy.parent / "sweep"
    sweep.mkdir()
    copy.rename(sweep / "0-model=mock")
    shutil.copytree(home / "released", sweep / "0-model=mock" / "release")
    found = [(place.kind, place.label) for place in places.find(copy.parent)]
    assert sorted(found) == [
        ("release", "sweep/0-model=mock/release"), ("run", "sweep · 0"), ("sweep", "sweep"),
    ]  # fmt: skip


def test_a_file_that_is_none_of_ours_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match=r"notes\.txt.*dataset\.jsonl"):
        places.find(tmp_path / "notes.txt")
    with pytest.raises(InputError, match="no such file"):
        places.find(tmp_path / "absent")
    assert places.find(tmp_path) == []


def test_the_stamp_changes_with_the_files(copy: Path) -> None:
    place = places.find(copy)[0]
    before = place.stamp()
    assert place.stamp() == before
    with (copy / "verdicts.jsonl").open("a") as file:
        file.write("\n")
    assert place.stamp() != before


@pytest.mark.parametrize("kind", ["problems", "verdicts", "mutants"])
def test_parquet_and_json_lines_give_the_same_table(copy: Path, kind: str) -> None:
    parquet.write(copy)
    fast = getattr(columns, kind)(copy)
    for name in ("dataset", "records", "audit"):
        (copy / f"{name}.parquet").unlink()
    slow = getattr(columns, kind)(copy)
    assert fast.num_rows == slow.num_rows > 0
    unknown = {"family", "difficulty"} if kind == "mutants" else set()  # joined by whoever knows the problems
    for name in fast.schema.names:
        key = sorted if kind == "verdicts" else list
        if name not in unknown:
            assert key(map(repr, fast[name].to_pylist())) == key(map(repr, slow[name].to_pylist())), name


def test_a_stale_parquet_file_is_not_read(copy: Path) -> None:
    parquet.write(copy)
    assert columns.fresh(copy, "dataset.parquet", "dataset.jsonl")
    later = (copy / "dataset.parquet").stat().st_mtime_ns + 1_000_000
    os.utime(copy / "dataset.jsonl", ns=(later, later))
    assert not columns.fresh(copy, "dataset.parquet", "dataset.jsonl")


def test_audits_are_placed_and_accepted_alike_from_both(copy: Path) -> None:
    parquet.write(copy)
    place = places.find(copy)[0]
    fast, fast_told = audits.table(place), columns.accepted(copy)
    (copy / "audit.parquet").unlink()
    slow, slow_told = audits.table(place), columns.accepted(copy)
    assert audits.by_operator(fast) == audits.by_operator(slow)
    assert audits.distinct(fast) == audits.distinct(slow)
    assert fast_told == slow_told
    assert set(fast_told.values()) == {True}


def test_a_survivor_withholds_its_problem_however_it_is_read(copy: Path) -> None:
    rows = [json.loads(line) for line in (copy / "audit.jsonl").read_text().splitlines()]
    killed = next(m for m in rows[0]["mutants"] if m["fate"] == "killed")
    killed.update(fate="survived", kill_kind=None, killed_by=None, kills=[])
    (copy / "audit.jsonl").write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    slow = columns.accepted(copy)
    parquet.write(copy)
    assert columns.accepted(copy) == slow
    assert [one for one, good in slow.items() if not good] == [rows[0]["problem_id"]]
    assert problems.table(places.find(copy)[0])["status"].to_pylist().count("withheld") == 1


def test_a_sweep_counts_shared_problems_and_audits_once(home: Path, run: Path) -> None:
    sweep = next(place for place in places.find(home) if place.kind == "sweep")
    alone = places.find(run)[0]
    assert problems.table(sweep)["id"].to_pylist() == problems.table(alone)["id"].to_pylist()
    assert audits.by_operator(audits.table(sweep)) == audits.by_operator(audits.table(alone))
    assert runs.table(sweep).num_rows == 2 * runs.table(alone).num_rows


def test_a_release_is_read_as_the_run_it_came_from(home: Path, run: Path) -> None:
    folder = home / "released"
    table, own = (problems.table(places.find(place)[0]) for place in (folder, run))
    for name in ("id", "family", "difficulty", "status", "tests"):
        assert table[name].to_pylist() == own[name].to_pylist()
    for identity in own["id"].to_pylist():
        problem = problems.problem(run, identity)
        assert problem is not None
        assert problems.problem(folder, identity) == problem
        assert problems.certificates(folder, identity) == problems.certificates(run, identity)
        query = problems.certificates(run, identity)[0].queries[-1]
        assert problems.smt(folder, query.smt_sha256) == problems.smt(run, query.smt_sha256)
        assert problems.floor(folder, problem.family, "easy") == problems.floor(run, problem.family, "easy")
        assert exported.prompt(folder, identity)
    assert exported.fates(folder)["killed"] > 0


def test_one_problem_is_the_same_from_parquet(run: Path, copy: Path) -> None:
    parquet.write(copy)
    identity = next(iter(Run(run).problems())).id
    whole = problems.problem(copy, identity)
    (copy / "dataset.jsonl").unlink()
    assert problems.problem(copy, identity) == whole
    assert problems.problem(copy, "0" * 20) is None


def test_one_sample_is_the_same_from_parquet_but_for_its_prompt(copy: Path) -> None:
    parquet.write(copy)
    place = places.find(copy)[0]
    row = runs.table(place).to_pylist()[0]
    key = runs.key(row, "")
    whole = runs.sample(place, 0, key)
    assert whole.turns[0].messages
    (copy / "verdicts.jsonl").unlink()
    (copy / "records.jsonl").unlink()
    bare = runs.sample(place, 0, key)
    assert bare.verdict == whole.verdict
    assert [turn.completion for turn in bare.turns] == [turn.completion for turn in whole.turns]


# ------------------------------------------------------------------------------------------ broken and foreign files


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a":1}\n', "no 'key'; these are not records"),
        (b"[1]\n", "no 'key'"),
        (b"no JSON\n", "not the JSON Lines.*line 1"),
        (b"\xff\xfe\n", "not the JSON Lines"),
        (b"[" * 100_000 + b"\n", "not the JSON Lines"),
        (b'{"problem_id":"a","model":"m","sample":0}\n', "no 'key'"),
    ],
)
def test_answers_of_somebody_else_are_not_counted(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        lines.answers(path)
    path.write_bytes(content.rstrip(b"\n"))
    assert lines.answers(path) == lines.answers(tmp_path / "absent.jsonl") == 0, (
        "a line that is being written is none yet"
    )


def test_answers_are_counted_by_their_whole_lines(run: Path) -> None:
    assert lines.answers(run / "records.jsonl") == 8


def test_a_line_that_is_being_written_is_left_out(copy: Path) -> None:
    for name in ("dataset.jsonl", "verdicts.jsonl", "audit.jsonl"):
        (copy / name.replace("jsonl", "parquet")).unlink(missing_ok=True)
        with (copy / name).open("a") as file:
            file.write('{"id": "half a li')
    (copy / "records.parquet").unlink(missing_ok=True)
    place = places.find(copy)[0]
    assert problems.table(place).num_rows == 4
    assert runs.table(place).num_rows == 8
    assert audits.table(place).num_rows > 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("dataset.jsonl", b"this is no JSON\n", "not the JSON Lines"),
        ("dataset.jsonl", b'{"question": "what?", "answer": 4}\n', "not records of proceval"),
        ("dataset.jsonl", b'{"id": 7, "tests": []}\n', "not the JSON Lines"),
        ("verdicts.jsonl", b'{"verdict": "fine"}\n', "not records of proceval"),
        ("dataset.parquet", b"PAR1 but no more", "cannot be read as Parquet"),
    ],
)
def test_a_foreign_or_broken_file_is_named(copy: Path, name: str, content: bytes, said: str) -> None:
    for old in ("dataset.parquet", "records.parquet"):
        (copy / old).unlink(missing_ok=True)
    (copy / name).write_bytes(content)
    place = places.find(copy)[0]
    with pytest.raises(InputError, match=said) as caught:
        runs.table(place) if name.startswith("verdicts") else problems.table(place)
    assert name in str(caught.value)


def test_parquet_of_somebody_else_is_named_by_its_missing_column(copy: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"prompt": ["hello"]}), copy / "dataset.parquet")
    with pytest.raises(InputError, match=r"dataset\.parquet: no column 'id'"):
        columns.problems(copy)


def test_a_broken_record_is_named_when_it_is_opened(copy: Path) -> None:
    rows = (copy / "dataset.jsonl").read_text().splitlines()
    identity = json.loads(rows[0])["id"]
    (copy / "dataset.jsonl").write_text(rows[0].replace('"family_version":1', '"family_version":"one"') + "\n")
    with pytest.raises(InputError, match=f"{identity}, field family_version"):
        problems.problem(copy, identity)


def test_a_changed_query_text_is_not_shown(copy: Path, home: Path) -> None:
    import gzip

    identity = Run(copy).problems()[0].id
    sha256 = problems.certificates(copy, identity)[0].queries[0].smt_sha256
    path = copy / "certificates" / sha256[:2] / f"{sha256}.smt2.gz"
    path.write_bytes(gzip.compress(b"(check-sat)"))
    with pytest.raises(InputError, match="does not have the hash"):
        problems.smt(copy, sha256)
    path.write_bytes(b"no gzip")
    with pytest.raises(InputError, match="cannot be read"):
        problems.smt(copy, sha256)


def test_a_needle_finds_whole_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(b'{"id":"a"}\n{"id":"b","note":"\\"a\\""}\n{"id":"c","of":"a"}\n{"id":"a","cut')
    assert [json.loads(line)["id"] for line in lines.containing(path, "a")] == ["a", "c"]
    assert list(lines.containing(path, "absent")) == list(lines.containing(tmp_path / "none", "a")) == []
    path.write_bytes(b"")
    assert list(lines.containing(path, "a")) == []
    assert lines.whole_lines(path) == 0


# ------------------------------------------------------------------------------------------ figures


def verdicts(random: Random, count: int) -> list[Verdict]:
    """Verdicts of two models in which everything undefined occurs: unscored problems, unknown costs, few samples."""
    faults = {"passed": "none", "wrong_answer": "model", "timeout": "model", "sandbox_fault": "sandbox",
              "provider_fault": "provider"}  # fmt: skip
    made = []
    for number in range(count):
        model, url = random.choice((("a", None), ("b", "http://127.0.0.1:1"), ("b", None)))
        outcome = random.choice(tuple(faults))
        problem = random.randrange(6)
        made.append(Verdict(
            model=model, base_url=url, arm="default", strategy=random.choice(("flat", "best_of_n")), mode="code",
            problem_id=f"{problem:020x}", family=f"family{problem % 2}", domain="arrays",
            difficulty=("hard", "easy")[problem % 2], prompt_sha256=f"{problem % 3}", sample=number, outcome=outcome,
            fault=faults[outcome], tests=(), extraction="fenced", turns=1, prompt_tokens=random.choice((None, 3, 10)),
            completion_tokens=random.randrange(9), cost_usd=random.choice((None, 0.25)), latency_s=random.random(),
            detail="",
        ))  # fmt: skip
    return made


@pytest.mark.parametrize("seed", range(12))
def test_the_tally_gives_the_figures_of_the_report(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    rows = verdicts(random, random.choice((1, 2, 30, 200)))
    (tmp_path / "verdicts.jsonl").write_text("".join(row.model_dump_json() + "\n" for row in rows))
    found = tally.scores(columns.verdicts(tmp_path), (1, 2, 5))
    wanted = summarise_scores(rows, (1, 2, 5))
    assert found["ks"] == wanted["ks"]
    for ours, theirs in zip(found["contestants"], wanted["contestants"], strict=True):
        _equal(ours, {key: value for key, value in theirs.items() if key != "by_family_and_tier"})


def _equal(ours: Any, theirs: Any, where: str = "") -> None:
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs), where
        for key in theirs:
            _equal(ours[key], theirs[key], f"{where}.{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for number, (left, right) in enumerate(zip(ours, theirs, strict=True)):
            _equal(left, right, f"{where}.{number}")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, abs=1e-12), where
    else:
        assert ours == theirs, where


def test_summary_json_is_used_only_while_it_is_newer_than_the_verdicts(copy: Path) -> None:
    place = places.find(copy)[0]
    table = runs.table(place)
    said = json.loads((copy / "summary.json").read_text())
    said["scores"]["contestants"][0]["name"] = "from the summary"
    (copy / "summary.json").write_text(json.dumps(said))
    found = runs.scores(place, table, (1,))
    assert found is not None
    assert runs.names(found) == ["from the summary"]
    later = (copy / "summary.json").stat().st_mtime_ns + 1_000_000
    os.utime(copy / "verdicts.jsonl", ns=(later, later))
    found = runs.scores(place, table, (1,))
    assert found is not None
    assert runs.names(found) == ["mock"]


def test_a_comparison_says_the_same_at_a_glance(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = next(place for place in places.find(home) if place.kind == "sweep")
    table = runs.table(sweep)
    summary = runs.scores(sweep, table, (1,))
    assert summary is not None
    first, second = (runs.rows(runs.of_contestant(table, summary, name)) for name in ("mock", "gold"))
    whole = runs.compared(first, second)
    monkeypatch.setattr(runs, "MOST_PROMPTS", 0)
    glance = runs.compared(first, second)
    assert glance[0] == whole[0]
    assert glance[1].split("[")[0] == whole[1].split("[")[0]
    assert "stage=report compare=[A,B]" in glance[-1]
    assert runs.compared(first, []) == ["A and B share no scored sample: nothing to compare"]


def test_a_mutant_is_found_again_by_its_id(run: Path) -> None:
    report = next(Run(run).audits())
    problem = problems.problem(run, report.problem_id)
    assert isinstance(problem, Problem)
    for mutant in report.mutants[:5]:
        pair = audits.pair(problem.reference, mutant.id)
        assert pair.reference != pair.mutant
    with pytest.raises(InputError, match="no such mutant"):
        audits.pair(problem.reference, "absent")


def test_every_entry_of_the_ledger_can_be_shown() -> None:
    books = audits.ledger()
    assert sum(len(book.entries) for book in books) > 0
    for book in books:
        for entry in book.entries:
            assert (audits.proof(entry) is None) == (entry.script is None)
