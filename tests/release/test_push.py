"""stage=push: nothing that fails the gate is sent; what is sent arrives whole at a hub that the real client talks to."""

import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proceval.errors import InputError, StorageError
from proceval.folder import file_digest
from proceval.release import hub
from proceval.release.manifest import Tally
from proceval.release.rows import arrow_schema
from tests.release.fake_hub import FakeHub
from tests.release.made import compose, folder, stage
from tests.release.test_recheck import other_answer


@pytest.fixture
def server(tmp_path, monkeypatch) -> Iterator[FakeHub]:
    with FakeHub(tmp_path / "hub") as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        monkeypatch.setenv("HF_TOKEN", "hf_test")
        yield made


@cache
def built() -> Any:
    return stage("push", repo_id="me/problems", recheck=1)


def push(release: Path, repo_id: str = "me/problems", *, private: bool = True) -> int:
    made = built()
    made.release, made.repo_id, made.private = str(release), repo_id, private
    run = folder(release.parent / "run")
    made.check(run)
    return int(made.run(run))


def sums(path: Path) -> dict[str, str]:
    return {p.relative_to(path).as_posix(): file_digest(p) for p in path.rglob("*") if p.is_file()}


def test_what_is_sent_arrives_whole_and_private(server, exported, capsys):
    assert push(exported) == 0
    assert sums(server.root / "me/problems") == sums(exported)
    assert server.public == set()
    assert "Bearer hf_test" in server.tokens
    assert f"is in me/problems: {server.url}/datasets/me/problems/commit/" in capsys.readouterr().err


def test_a_second_push_replaces_the_first_file_by_file(server, release):
    assert push(release, "org/problems", private=False) == 0
    assert server.public == {"org/problems"}
    (server.root / "org/problems/data/old-split.jsonl").write_text("{}\n")
    (server.root / "org/problems/.gitattributes").write_text("*.parquet filter=lfs\n")
    assert push(release, "org/problems", private=False) == 0
    assert sums(server.root / "org/problems").keys() == sums(release).keys() | {".gitattributes"}


def test_without_a_token_the_gate_is_passed_and_nothing_is_sent(server, exported, monkeypatch, capsys):
    monkeypatch.delenv("HF_TOKEN")
    assert push(exported) == 0
    told = capsys.readouterr().err
    assert "gate" in told
    assert "skipped: HF_TOKEN is not set; nothing was sent to me/problems" in told
    assert not server.root.exists()


def test_a_private_set_is_not_sent_to_a_public_repository(server, exported):
    (server.root / "me/problems").mkdir(parents=True)
    server.public.add("me/problems")
    with pytest.raises(InputError, match="exists and is public; nothing was sent"):
        push(exported)
    assert sums(server.root / "me/problems") == {}


def test_a_hub_that_refuses_or_is_not_there_costs_nothing(server, exported, monkeypatch):
    server.broken = True
    with pytest.raises(StorageError, match="the hub refused") as caught:
        push(exported)
    assert "\n" not in str(caught.value)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(StorageError, match="push again"):
        hub.upload(exported, repo_id="me/problems", private=True, token="hf_test")


@pytest.mark.parametrize(
    "name", ["problems", "a/b/c", "/x", "me/", "me/..", "me/a--b", "m e/x", "https://hub/me/x", ""]
)
def test_a_name_that_is_no_repository_is_refused_first(exported, name):
    with pytest.raises(InputError, match="USER/NAME"):
        push(exported, name)


@pytest.mark.parametrize("sample", [0, -1, "some"])
def test_a_strange_sample_is_one_sentence(exported, sample):
    with pytest.raises(InputError, match="a number of problems from 1, or all"):
        stage("push", release=exported, recheck=sample)


def test_where_there_is_no_release_push_says_what_makes_one(tmp_path):
    with pytest.raises(InputError, match="run stage=export first"):
        push(tmp_path / "nothing")


# ------------------------------------------------------------------------------------------------ the gate


def facts(release: Path, work: Callable[[dict[str, Any]], Any]) -> None:
    """Change the manifest."""
    path = release / "manifest.json"
    told = json.loads(path.read_text())
    work(told)
    path.write_text(json.dumps(told))


def restore_hashes(release: Path) -> None:
    """As a careful forger: every file has the hash that the manifest gives it."""
    facts(release, lambda told: told["files"].update({n: {"sha256": file_digest(release / n)} for n in told["files"]}))


def restore_parquet(release: Path) -> None:
    lines = [json.loads(line) for line in (release / "data/test.jsonl").read_text().splitlines()]
    pq.write_table(pa.Table.from_pylist(lines, schema=arrow_schema()), release / "data/test-00000-of-00001.parquet")


def edited(work: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    """Change every row, in both formats, and let every hash fit."""

    def spoil(release: Path) -> None:
        path = release / "data/test.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for row in lines:
            work(row)
        path.write_text("".join(json.dumps(row) + "\n" for row in lines))
        restore_parquet(release)
        restore_hashes(release)

    return spoil


def restore_manifest(release: Path) -> None:
    """As the most careful forger: the counts, hashes and files of the manifest are those of what lies there."""
    tally = Tally()
    for line in (release / "data/test.jsonl").read_text().splitlines():
        tally.add(json.loads(line))
    paths = [path for path in release.rglob("*") if path.is_file() and path.name != "manifest.json"]
    listed = {path.relative_to(release).as_posix(): {"sha256": file_digest(path)} for path in paths}
    facts(release, lambda told: told.update(tally.facts(), files=listed))


def forged(work: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    """Change every row; whatever the manifest says of them fits again."""

    def spoil(release: Path) -> None:
        edited(work)(release)
        restore_manifest(release)

    return spoil


def written(name: str, text: str) -> Callable[[Path], None]:
    """Change or add a file; the manifest lists it as it is."""

    def spoil(release: Path) -> None:
        (release / name).write_text(text)
        restore_manifest(release)

    return spoil


def another_card(release: Path) -> None:
    card = (release / "README.md").read_text()
    written("README.md", card.replace("license: mit", "license: other") + "\nChecked by five universities.\n")(release)


def one_test(row: dict[str, Any]) -> None:
    row.update(tests=row["tests"][:1], evidence=[one for one in row["evidence"] if one["test"] < 1])


def no_examples(row: dict[str, Any]) -> None:
    row.update(examples=[], evidence=[one for one in row["evidence"] if one["test"] >= 0])


def opinions(row: dict[str, Any]) -> None:
    for one in row["evidence"]:
        one["oracle"] = "everybody"


def one_row_less(release: Path) -> None:
    path = release / "data/test.jsonl"
    path.write_text("".join(path.read_text().splitlines(True)[:-1]))
    restore_parquet(release)
    restore_hashes(release)


def other_parquet(release: Path) -> None:
    path = release / "data/test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    restore_hashes(release)


def untyped_parquet(release: Path) -> None:
    path = release / "data/test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path).replace_schema_metadata({}), path)
    restore_hashes(release)


def exchange_proofs(row: dict[str, Any]) -> None:
    for one in row["evidence"][1:]:
        one.update(queries=row["evidence"][0]["queries"], answer=row["evidence"][0]["answer"])


def measured(row: dict[str, Any]) -> None:
    row["audit"] = {name: 1 for name in arrow_schema().field("audit").type.names} | {
        "audit": "a",
        "template_sha256": "b",
    }


SPOILT: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a file changed": (lambda r: (r / "README.md").write_text("none"), "README.md: does not have the SHA-256"),
    "a file too many": (lambda r: (r / "notes.txt").write_text("x"), "notes.txt: is not in the manifest"),
    "a row less": (one_row_less, "manifest.json: problems is not what the rows hold"),
    "another distribution": (lambda r: facts(r, lambda t: t["distribution"]["domain"].update(arrays=9)), "distribution is not"),
    "another count of proofs": (lambda r: facts(r, lambda t: t["evidence"]["status"].clear()), "evidence is not what the rows"),
    "another version": (lambda r: facts(r, lambda t: t["families"]["dag_reachability"].update(version=9)), "families is not"),
    "Parquet of other rows": (other_parquet, "row 1 is not the one of data/test.jsonl"),
    "Parquet without types": (untyped_parquet, "does not have the schema"),
    "Parquet that is none": (lambda r: (r / "data/test-00000-of-00001.parquet").write_text("x"), ".parquet: cannot be read"),
    "no canary": (edited(lambda row: row.update(canary="")), "canary: differs from the manifest's"),
    "no canary in the card": (lambda r: (r / "README.md").write_text("x") and restore_hashes(r), "does not hold the canary"),
    "another answer": (edited(other_answer), "the witness says"),
    "proofs of another test": (edited(exchange_proofs), "does not begin with the text that follows from its instance"),
    "survivors": (edited(measured), "1 mutants survive its tests"),
    "a recheck.py that says yes": (written("recheck.py", "print('differences: 0')\n"), "recheck.py: is not the one of this"),
    "a solver of its own": (written("z3.py", "x = 1\n"), "z3.py: is no file of a release"),
    "other rejections": (written("rejections.jsonl", '{"lie": 1}\n'), "rejections.jsonl: "),
    "another card": (another_card, "README.md: is not the card that follows from the manifest"),
    "a prompt with the answer": (forged(lambda row: row.update(prompt_answer=row["expected"])), "prompt_answer: is not the"),
    "another reference": (forged(lambda row: row.update(reference="def f(): pass\n")), "reference: differs from version"),
    "other parameters": (forged(lambda row: row["parameters"].append("more")), "parameters: differs from version"),
    "another tier": (forged(lambda row: row.update(difficulty="frontier")), "difficulty: 'frontier' is not among"),
    "one test each": (forged(one_test), "1 hidden tests; the settings ask for 3 at least"),
    "no examples": (forged(no_examples), "examples: differs from version"),
    "another oracle": (forged(opinions), "the oracle is 'everybody' instead of"),
    "a row less everywhere": (lambda r: one_row_less(r) or restore_manifest(r), "dataset_sha256 is not the hash of these"),
    "an audit of something": (forged(measured), "audit: is not about this reference"),
    "an older row": (edited(lambda row: row.pop("prompt_code")), "does not have the columns"),
}  # fmt: skip


@pytest.mark.parametrize("spoilt", SPOILT)
def test_what_is_wrong_with_a_release_is_named_and_keeps_it_here(server, release, spoilt, capsys):
    spoil, names = SPOILT[spoilt]
    try:
        spoil(release)
    except KeyError:  # the row no longer fits the schema: JSON Lines alone are changed then
        restore_hashes(release)
    assert push(release) == 1
    assert names in capsys.readouterr().out
    assert not server.root.exists()


def test_a_family_that_is_not_here_is_named(release, capsys):
    made = stage("push", release=release, repo_id="me/x", recheck=1)
    made.families = {name: family for name, family in made.families.items() if name != "dag_reachability"}
    assert not made.passes(release)
    assert "dag_reachability 1 is not among the families here" in capsys.readouterr().out


def test_verify_puts_a_downloaded_release_through_the_same_gate(release, tmp_path, capsys):
    verify, run = stage("verify"), folder(tmp_path / "unused", release)
    verify.check(run)
    assert verify.run(run) == 0
    assert "the proofs of all problems; differences: 0" in capsys.readouterr().err
    edited(exchange_proofs)(release)
    assert verify.run(run) == 1
    assert "does not begin with the text that follows from its instance" in capsys.readouterr().out
    assert stage("verify", against=release).run(run) == 1, "all of it stands in itself"


def test_a_run_folder_or_a_release_can_be_named_as_the_dataset(exported, made, tmp_path):
    run = Path(shutil.copytree(made, tmp_path / "run"))
    shutil.copytree(exported, run / "release")
    made_push = stage("push", repo_id="me/x")
    assert made_push.found(folder(run, run)) == run / "release"
    assert made_push.found(folder(tmp_path / "own", exported)) == exported
    assert compose()["private"] is True
