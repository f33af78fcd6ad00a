"""stage=verify against tampering: whatever is changed in a stored dataset is found and named, hashes recomputed or not."""

import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proceval import config
from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.problem import problem_id
from proceval.seeding import text_digest

WORDS = ("difficulty=easy", "count=1")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A proved dataset of all seven families, made once."""
    home = tmp_path_factory.mktemp("made")
    settings = config.compose("stage=generate", *WORDS)
    folder = RunFolder(path=home / "run", settings=settings, inputs="x", outputs=home, dataset=None)
    with folder.open(fresh=True, writes=True):
        config.build(settings["stage"], "stage").run(folder)
    return folder.path


@pytest.fixture(scope="module")
def stage() -> Any:
    return config.build(config.compose("stage=verify", "workers=1", *WORDS)["stage"], "stage")


@pytest.fixture
def verify(tmp_path, stage, capsys) -> Callable[[Path], tuple[int, str]]:
    """Exit status and findings of verifying a folder; bad input counts as status 2 with its sentence."""

    def run(path: Path) -> tuple[int, str]:
        folder = RunFolder(path=tmp_path / "unused", settings={}, inputs="x", outputs=tmp_path, dataset=str(path))
        try:
            status = stage.run(folder)
        except InputError as error:
            return 2, str(error)
        return status, capsys.readouterr().out

    return run


@pytest.fixture
def copy(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in (path / "dataset.jsonl").read_text().splitlines()]


def _write(path: Path, rows: list[Row], *, rehash: bool) -> None:
    """Store changed rows; `rehash` makes ids and certificates fit them, as a careful forger would."""
    for row in rows:
        if rehash:
            keys = ("family", "family_version", "arguments", "statement", "entry_point", "expected")
            row["id"] = problem_id(**{key: row[key] for key in keys})
    (path / "dataset.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_an_untouched_dataset_holds(verify, made):
    assert verify(made) == (0, "")


CHANGES: dict[str, Callable[[Row], None]] = {
    "tests.0.expected": lambda row: row.update(
        expected=99, tests=[{**row["tests"][0], "expected": 99}, *row["tests"][1:]]
    ),
    "statement": lambda row: row.update(statement=row["statement"].replace(" the ", " a ", 1)),
    "reference": lambda row: row.update(reference=row["reference"] + "\n"),
    "entry_point": lambda row: row.update(entry_point="solve"),
    "parameters": lambda row: row.update(parameters=row["parameters"][::-1] + ["more"]),
    "difficulty": lambda row: row.update(difficulty="hard"),
    "domain": lambda row: row.update(domain="strings"),
    "family": lambda row: row.update(family="knapsack"),
    "family_version": lambda row: row.update(family_version=7),
    "examples": lambda row: row.update(examples=row["examples"][1:]),
    "tests.0": lambda row: row.update(tests=row["tests"][1:]),
    "id": lambda row: row.update(id="0" * 20),
}


@pytest.mark.parametrize("rehash", [False, True], ids=["hashes left", "hashes recomputed"])
@pytest.mark.parametrize("field", CHANGES)
def test_a_changed_field_is_named_by_row(verify, copy, field, rehash):
    rows = _rows(copy)
    if field == "id" and rehash:
        rows.append(rows[2])
    else:
        CHANGES[field](rows[2])
    _write(copy, rows, rehash=rehash and field not in ("id",))
    status, found = verify(copy)
    assert status == 1, found
    assert ("row 8, id" if field == "id" and rehash else f"row 3, {field}") in found


@pytest.mark.parametrize("test", ["tests", "examples"])
def test_a_changed_test_is_named(verify, copy, test):
    rows = _rows(copy)
    row = next(n for n, r in enumerate(rows) if r["family"] == "monotonic_split")
    rows[row][test][-1]["expected"] += 1
    _write(copy, rows, rehash=True)
    status, found = verify(copy)
    assert status == 1
    assert f"row {row + 1}, {test}.{len(rows[row][test]) - 1}.expected" in found


def test_an_instance_swapped_for_another_valid_one_does_not_fit_its_certificate(verify, copy):
    rows = _rows(copy)
    row = next(n for n, r in enumerate(rows) if r["family"] == "monotonic_split")
    array = [value - 1 for value in rows[row]["arguments"]["array"]]
    moved = {"array": array, "target": rows[row]["arguments"]["target"] - 1}
    rows[row]["arguments"] = rows[row]["tests"][0]["arguments"] = moved
    old = rows[row]["id"]
    _write(copy, rows, rehash=True)
    index = copy / "certificates" / "index.jsonl"
    index.write_text(index.read_text().replace(old, rows[row]["id"]))
    status, found = verify(copy)
    assert status == 1
    assert f"row {row + 1}, certificate of tests.0.queries.0.smt_sha256" in found


def test_evidence_is_checked_too(verify, copy):
    index = copy / "certificates" / "index.jsonl"
    lines = index.read_text().splitlines()
    first = json.loads(lines[0])
    sha256 = first["queries"][0]["smt_sha256"]
    text = copy / "certificates" / sha256[:2] / f"{sha256}.smt2.gz"
    forged = gzip.decompress(text.read_bytes()).decode().replace("assert", "assert ", 1)
    text.write_bytes(gzip.compress(forged.encode()))
    assert text_digest(forged) != sha256
    status, found = verify(copy)
    assert status == 1
    assert "does not have this hash" in found
    text.write_bytes(b"garbage")
    assert "cannot be read" in verify(copy)[1]
    text.unlink()
    assert "cannot be read" in verify(copy)[1]
    index.write_text("\n".join(lines[1:]) + "\n")
    assert "row 1, certificate of tests.0: missing" in verify(copy)[1]
    stranger = {**first, "problem_id": "f" * 20}
    index.write_text("\n".join([*lines, json.dumps(stranger)]) + "\n")
    assert "certificate for ffffffffffffffffffff" in verify(copy)[1]


def _flips(data: bytes, count: int, seed: int) -> list[bytes]:
    """Copies of a file with one byte replaced by another printable one."""
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        place = draw.randrange(len(data))
        other = draw.choice([c for c in range(32, 127) if c != data[place]])
        made.append(data[:place] + bytes([other]) + data[place + 1 :])
    return made


@pytest.mark.parametrize("name", ["dataset.jsonl", "certificates/index.jsonl"])
def test_one_flipped_byte_is_found_wherever_it_is(verify, copy, name):
    data = (copy / name).read_bytes()
    for forged in _flips(data, 25, seed=1):
        (copy / name).write_bytes(forged)
        assert verify(copy)[0] != 0, forged


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dataset.jsonl", "certificates/index.jsonl"])
def test_hundreds_of_flipped_bytes_are_found(verify, copy, name):
    data = (copy / name).read_bytes()
    for forged in _flips(data, 300, seed=2):
        (copy / name).write_bytes(forged)
        assert verify(copy)[0] != 0, forged


def test_what_was_taken_out_or_put_in_twice_is_noticed(verify, copy):
    whole = _rows(copy)
    fewer = [dict(row) for row in whole]
    suite = next(n for n, row in enumerate(whole) if len(row["tests"]) > 1)
    fewer[suite]["tests"] = fewer[suite]["tests"][:1]
    _write(copy, fewer, rehash=True)
    index = copy / "certificates" / "index.jsonl"
    kept = index.read_text().splitlines()
    mine = [json.loads(line) for line in kept]
    index.write_text(
        "".join(
            line + "\n"
            for line, c in zip(kept, mine, strict=True)
            if (c["problem_id"], c["test"] > 0) != (whole[suite]["id"], True)
        )
    )
    status, found = verify(copy)
    assert status == 1
    assert "dataset.jsonl is not the file that was generated" in found
    index.write_text("\n".join(kept) + "\n")
    _write(copy, whole[1:], rehash=False)
    assert f"{len(whole)} problems were generated, the dataset holds {len(whole) - 1}" in verify(copy)[1]
    twice = [dict(row) for row in whole]
    twice[suite]["tests"] = [*whole[suite]["tests"], {**whole[suite]["tests"][0], "origin": "targeted"}]
    _write(copy, twice, rehash=False)
    assert f"row {suite + 1}, tests: one instance stands twice" in verify(copy)[1]


def test_a_stored_opinion_against_the_label_is_a_difference(verify, copy):
    index = copy / "certificates" / "index.jsonl"
    lines = index.read_text().splitlines()
    first = json.loads(lines[0])
    first["opinions"].append({"by": "cvc5 1.3.0", "existence": "sat", "uniqueness": "sat"})
    index.write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    status, found = verify(copy)
    assert status == 1
    assert "contradicts the label" in found


@pytest.mark.parametrize("family", ["dag_topological_position", "dag_shortest_path", "dfa_string_acceptance"])
def test_a_tampered_datum_of_a_direct_argument_is_named(verify, copy, family):
    row = next(n for n, r in enumerate(_rows(copy)) if r["family"] == family)
    index = copy / "certificates" / "index.jsonl"
    kept = [json.loads(line) for line in index.read_text().splitlines()]
    mine = next(c for c in kept if c["problem_id"] == _rows(copy)[row]["id"] and c["test"] == 0)
    old = mine["opinions"][0]["data_sha256"]
    path = copy / "certificates" / old[:2] / f"{old}.json.gz"
    data = json.loads(gzip.decompress(path.read_bytes()))
    where = f"row {row + 1}, certificate of tests.0, {mine['opinions'][0]['by'].removeprefix('direct: ')}"

    def forge(text: str, *, rehash: bool) -> str:
        sha256 = text_digest(text) if rehash else old
        place = copy / "certificates" / sha256[:2] / f"{sha256}.json.gz"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(gzip.compress(text.encode()))
        mine["opinions"][0]["data_sha256"] = sha256
        index.write_text("".join(json.dumps(c) + "\n" for c in kept))
        status, found = verify(copy)
        assert status == 1
        return str(found)

    changed = json.dumps([*data[:-1], [n + 1 for n in data[-1]] if isinstance(data[-1], list) else data[-1] - 10**6])
    assert f"{where}: {old}.json.gz: the text does not have this hash" in forge(changed, rehash=False)
    assert f"{where}: the stored data do not prove" in forge(changed, rehash=True)
    for strange in ("3", '["a"]', "["):
        assert where in forge(strange, rehash=True), strange
    path.unlink()
    mine["opinions"][0]["data_sha256"] = old
    index.write_text("".join(json.dumps(c) + "\n" for c in kept))
    assert f"{where}: {old}.json.gz: cannot be read" in verify(copy)[1]
    mine["opinions"][0]["data_sha256"] = None
    index.write_text("".join(json.dumps(c) + "\n" for c in kept))
    assert where in verify(copy)[1]
