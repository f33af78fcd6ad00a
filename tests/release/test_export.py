"""stage=export: the same inputs give the same bytes, and nothing that goes wrong harms what stood there."""

import json
import os
import re
import resource
import shutil
import signal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from proceval.errors import Finding, InputError, StorageError
from proceval.folder import file_digest, read
from proceval.release import write
from proceval.release.rows import COLUMNS, arrow_schema, card_features, problem
from proceval.schema import Problem
from proceval.store import lock
from tests.release.made import folder, stage

GOLDEN = Path(__file__).parent


def tree(path: Path) -> dict[str, str]:
    return {p.relative_to(path).as_posix(): file_digest(p) for p in sorted(path.rglob("*")) if p.is_file()}


def export(made: Path, target: Path) -> int:
    return int(stage("export", release=target).run(folder(made, made)))


def test_a_release_holds_what_a_stranger_needs(exported):
    assert set(tree(exported)) == {
        "README.md", "certificates.zip", "data/test-00000-of-00001.parquet", "data/test.jsonl", "manifest.json",
        "recheck.py", "rejections.jsonl",
    }  # fmt: skip


def test_the_same_inputs_give_the_same_bytes_over_an_old_release_too(made, exported, tmp_path):
    export(made, tmp_path / "again")
    assert tree(tmp_path / "again") == tree(exported)
    export(made, tmp_path / "again")
    assert tree(tmp_path / "again") == tree(exported)
    assert [p.name for p in tmp_path.iterdir()] == ["again"]


def test_the_manifest_counts_and_hashes_what_is_there(exported, made):
    facts = json.loads((exported / "manifest.json").read_text())
    there = tree(exported)
    del there["manifest.json"]
    assert {name: one["sha256"] for name, one in facts["files"].items()} == there
    problems = list(read(made / "dataset.jsonl", Problem))
    assert facts["problems"] == len(problems) == sum(facts["distribution"]["domain"].values())
    assert facts["distribution"]["difficulty"] == {"easy": len(problems)}
    assert facts["distribution"]["family"] == {p.family: 1 for p in sorted(problems, key=lambda p: p.family)}
    assert {name: one["version"] for name, one in facts["families"].items()} == {
        p.family: p.family_version for p in problems
    }
    assert facts["generation"]["settings"]["seed"] == "2026-11"
    assert facts["generation"]["guess_floor"] == json.loads((made / "generation.json").read_text())["guess_floor"]
    assert facts["evidence"]["status"] == {"unique": sum(facts["tests"].values())}


def test_rows_are_the_problems_and_both_formats_agree(exported, made):
    lines = [json.loads(line) for line in (exported / "data/test.jsonl").read_text().splitlines()]
    table = pq.read_table(exported / "data/test-00000-of-00001.parquet")
    assert table.to_pylist() == lines
    assert table.schema.equals(arrow_schema(), check_metadata=True)
    assert [problem(row) for row in lines] == list(read(made / "dataset.jsonl", Problem))
    assert all(row["audit"] is None for row in lines), "not audited: null, in a column that keeps its type"
    assert table.schema.field("audit").type.num_fields > 1


def test_the_canary_stands_in_every_row_and_in_the_card(exported):
    mark = json.loads((exported / "manifest.json").read_text())["canary"]
    assert mark.startswith("PROCEVAL CANARY ")
    assert {json.loads(line)["canary"] for line in (exported / "data/test.jsonl").read_text().splitlines()} == {mark}
    assert mark in (exported / "README.md").read_text()


def test_the_card_is_as_pinned(exported):
    """Golden: what differs between machines is masked. `PROCEVAL_PIN=1` writes it anew."""
    card = (exported / "README.md").read_text()
    card = re.sub(r"\b[0-9a-f]{64}\b", "SHA256", card)
    card = re.sub(r"(set |proceval_)[0-9a-f]{8,16}\b", r"\1HASH", card)
    card = re.sub(r"\| (proceval|git commit|Python|solvers|families) \|.*", r"| \1 | MASKED |", card)
    card = re.sub(r"z3 [\d.]+", "z3 VERSION", card)
    card = re.sub(r"made by proceval [\d.]+", "made by proceval VERSION", card)
    head, _, rest = card.removeprefix("---\n").partition("---\n")
    yaml.safe_load(head)
    names = r"tests|oracle|queries|opinions|status|solver|arrays|graphs|automata|\w+ \| easy"
    counted = re.compile(rf"^\| ({names}) \|.*", re.MULTILINE)
    told = re.sub(r"^\d+ algorithmic|\{\d+ proved", "N", counted.sub(r"| \1 | COUNTED |", rest), flags=re.MULTILINE)
    path = GOLDEN / "golden_card.md"
    if os.environ.get("PROCEVAL_PIN"):
        path.write_text(told)
    assert told == path.read_text()


def test_the_cards_header_names_the_data_and_its_types(exported):
    head = yaml.safe_load((exported / "README.md").read_text().split("---\n")[1])
    (one,) = head["configs"]
    assert [(exported / part["path"]).is_file() for part in one["data_files"]] == [True]
    assert head["dataset_info"]["features"] == card_features(COLUMNS)
    assert head["license"] == "mit"


# ------------------------------------------------------------------------------------------------ what goes wrong


def in_a_child(work) -> int:
    """Wait status of a forked child that does the work."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(7)
    return os.waitpid(child, 0)[1]


def test_a_killed_export_leaves_the_old_release_and_the_next_one_works(made, release, exported, tmp_path, monkeypatch):
    before = tree(release)
    (release / "README.md").write_text("an older card\n")
    older = tree(release)
    kill = write.published

    def published(*words):
        row = kill(*words)
        if row["family"] == "dag_reachability":
            os.kill(os.getpid(), signal.SIGKILL)
        return row

    with monkeypatch.context() as patch:
        patch.setattr(write, "published", published)
        status = in_a_child(lambda: export(made, release))
    assert os.WIFSIGNALED(status)
    assert tree(release) == older
    assert (tmp_path / ".set.partial").is_dir(), "the child died in the middle"
    assert export(made, release) == 0
    assert tree(release) == before
    assert [p.name for p in tmp_path.iterdir()] == ["set"]


def test_a_full_disk_leaves_the_old_release_and_says_so_in_one_sentence(made, release, tmp_path):
    older = tree(release)
    said = tmp_path / "said"

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            export(made, release)
        except StorageError as error:
            said.write_text(str(error))

    in_a_child(work)
    assert "could not be written" in said.read_text()
    assert "untouched" in said.read_text()
    assert "\n" not in said.read_text()
    assert tree(release) == older
    assert sorted(p.name for p in tmp_path.iterdir()) == ["said", "set"]


def test_a_system_that_cannot_exchange_folders_is_served_too(made, release, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.platform", "elsewhere")
    (release / "README.md").write_text("an older card\n")
    stage_, target = tmp_path / ".set.partial", release
    stage_.mkdir()
    (stage_ / "new").write_text("new")
    write._exchange(stage_, target)
    assert tree(target) == {"new": file_digest(target / "new")}
    assert [p.name for p in tmp_path.iterdir()] == ["set"]


def test_a_folder_that_is_no_release_is_never_replaced(made, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("all my work")
    with pytest.raises(InputError, match="no release"):
        export(made, tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "all my work"


def test_two_exports_to_one_place_do_not_meet(made, release, tmp_path):
    older = tree(release)
    (tmp_path / ".set.partial").mkdir()

    def hold():
        with lock(tmp_path / ".set.partial"):
            (tmp_path / "held").write_text("")
            signal.pause()

    child = os.fork()
    if child == 0:
        hold()
    try:
        while not (tmp_path / "held").exists():
            pass
        with pytest.raises(InputError, match="in use by pid"):
            export(made, release)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert tree(release) == older


@pytest.fixture
def run(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def test_a_changed_dataset_is_not_exported(run):
    rows = (run / "dataset.jsonl").read_text()
    (run / "dataset.jsonl").write_text(rows.replace('"difficulty":"easy"', '"difficulty":"hard"', 1))
    with pytest.raises(Finding, match="not what was generated"):
        stage("export").check(folder(run, run))


def test_evidence_that_is_missing_or_changed_stops_the_export(run, tmp_path):
    text = next((run / "certificates").rglob("*.smt2.gz"))
    data = text.read_bytes()
    text.write_bytes(data[:-9])
    with pytest.raises(Finding, match="cannot be read"):
        export(run, tmp_path / "set")
    text.unlink()
    with pytest.raises(Finding, match="cannot be read"):
        export(run, tmp_path / "set")
    text.write_bytes(data)
    index = run / "certificates" / "index.jsonl"
    lines = index.read_text().splitlines(keepends=True)
    first = json.loads(lines[0])["problem_id"]
    index.write_text("".join(line for line in lines if json.loads(line)["problem_id"] != first))
    with pytest.raises(Finding, match="has no certificate"):
        export(run, tmp_path / "set")
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("spoil", "names"),
    [
        (lambda run: (run / "config.yaml").unlink(), "config.yaml"),
        (lambda run: (run / "config.yaml").write_text("[]"), "config.yaml"),
        (lambda run: (run / "generation.json").unlink(), "generation.json"),
        (
            lambda run: (run / "config.yaml").write_text((run / "config.yaml").read_text() + "\ndataset: elsewhere\n"),
            "elsewhere",
        ),
    ],
    ids=["no configuration", "no mapping", "no record", "from another folder"],
)
def test_a_folder_that_does_not_say_what_it_is_made_from_is_refused(run, spoil, names):
    spoil(run)
    with pytest.raises(InputError, match=names) as caught:
        stage("export").check(folder(run, run))
    assert "\n" not in str(caught.value)


def test_one_file_is_not_enough(run):
    with pytest.raises(InputError, match="give the folder"):
        stage("export").check(folder(run, run / "dataset.jsonl"))
