"""stage=verify against tampering: whatever is changed in a stored dataset is found and named, hashes recomputed or not."""

import gzip
import hashlib
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
from proceval.report import parquet
from proceval.seeding import text_digest
from proceval.stage import recorded

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
        folder.write_config(settings, identity="0" * 64, versions={}, git_commit=None)
        parquet.write(folder.path)
    return folder.path


@pytest.fixture(scope="module")
def stage() -> Any:
    return config.build(config.compose("stage=verify", "workers=1", *WORDS)["stage"], "stage")


@pytest.fixture
def verify(tmp_path, stage, capsys) -> Callable[[Path], tuple[int, str]]:
    """Exit status and findings of verifying a folder; bad input counts as status 2 with its sentence.

    What it says beside the findings is in `verify.said`.
    """

    def run(path: Path) -> tuple[int, str]:
        folder = RunFolder(path=tmp_path / "unused", settings={}, inputs="x", outputs=tmp_path, dataset=str(path))
        try:
            status = stage.run(folder)
        except InputError as error:
            return 2, str(error)
        printed = capsys.readouterr()
        run.said = printed.err  # type: ignore[attr-defined]
        return status, printed.out

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


def _rehash(path: Path) -> None:
    """Make generation.json fit the files again, as a careful forger would."""
    facts = json.loads((path / "generation.json").read_text())
    facts["sha256"] = {name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in facts["sha256"]}
    (path / "generation.json").write_text(json.dumps(facts, indent=1) + "\n")


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
    for forged in _flips(data, 16, seed=1):
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


def _certified(path: Path, change: Callable[[Row], Row | None]) -> None:
    """Change or drop certificates, and recompute the hashes."""
    index = path / "certificates" / "index.jsonl"
    items = [change(json.loads(line)) for line in index.read_text().splitlines()]
    index.write_text("".join(json.dumps(item) + "\n" for item in items if item is not None))
    _rehash(path)


def test_opinions_that_nobody_asks_again_are_counted_aloud(verify, copy):
    verify(copy)
    assert "cvc5" not in verify.said
    forged = {"by": "cvc5 9.9.9", "existence": "sat", "uniqueness": "unsat"}
    total = len((copy / "certificates" / "index.jsonl").read_text().splitlines())
    _certified(copy, lambda item: {**item, "opinions": [forged, *item["opinions"]]})
    assert verify(copy) == (0, "")
    assert f"verify   {total} opinions of cvc5 not asked again: give prover=z3_cvc5\n" in verify.said


def test_a_test_taken_out_with_all_hashes_recomputed_is_noticed(verify, copy):
    rows = _rows(copy)
    assert [len(row["tests"]) for row in rows][0] == 3, "the settings ask for two companions"
    gone = rows[0]["tests"].pop()
    assert gone["origin"] == "targeted"
    _write(copy, rows, rehash=True)
    dropped = (rows[0]["id"], 2)
    _certified(copy, lambda item: None if (item["problem_id"], item["test"]) == dropped else item)
    (copy / "dataset.parquet").unlink()
    assert verify(copy) == (1, "row 1, tests: 2 hidden tests; config.yaml asks for 3 at least\n")
    report = {"problem_id": rows[0]["id"], "audit": "standard 1", "template_sha256": "", "fault": None}
    mutant = dict.fromkeys(("before", "after", "kill_kind", "killed_by", "reason"))
    mutant |= {"id": "m", "operator": "o", "tier": "gate", "line": 1, "column": 1, "before": "a", "after": "b"}
    mutant |= {"fate": "killed", "kill_kind": "value", "killed_by": 2, "kills": [2]}
    (copy / "config.yaml").unlink()
    (copy / "audit.jsonl").write_text(json.dumps({**report, "mutants": [mutant]}) + "\n")
    assert verify(copy) == (1, "row 1, tests: 2 hidden tests; test 2 kills a mutant in audit.jsonl\n")
    (copy / "audit.jsonl").unlink()
    assert verify(copy) == (0, ""), "nothing here tells, and that is said"
    assert "a test taken out with its certificate cannot be noticed" in verify.said


RECORDED: dict[str, tuple[Callable[[Row], Any], str]] = {
    "a share": (
        lambda facts: facts["guess_floor"][1].update(commonest_share=0.01),
        "generation.json, guess_floor.1.commonest_share: 0.01, but ",
    ),
    "a cell less": (lambda facts: facts["guess_floor"].pop(), "generation.json, guess_floor: easy "),
    "a rejection": (
        lambda facts: facts.update(rejected={"ambiguous": 77}),
        'generation.json, rejected: {"ambiguous": 77}, but rejections.jsonl holds {}',
    ),
    "a kill switch": (
        lambda facts: facts.update(machine_dependent=True),
        "generation.json, machine_dependent: true instead of false",
    ),
    "candidates": (lambda facts: facts.update(candidates=99), "generation.json, candidates: 99 instead of 7"),
    "a shortfall": (
        lambda facts: facts["shortfalls"].append({"family": "monotonic_split", "difficulty": "easy", "asked": 5}),
        "generation.json, shortfalls: easy monotonic_split should not be there",
    ),
    "a key less": (lambda facts: facts.pop("candidates"), "generation.json: candidates is missing"),
    "a key more": (lambda facts: facts.update(note="x"), "generation.json: note is no key of such a record"),
    "lists": (
        lambda facts: facts.update({key: [3] for key in facts}),
        "generation.json, guess_floor: is no list of cells",
    ),
}


@pytest.mark.parametrize("change", RECORDED)
def test_the_record_of_the_generation_is_counted_again(made, tmp_path, change):
    settings = config.compose("stage=verify", *WORDS)
    families = config.build(settings["stage"], "stage").families
    for name in ("dataset.jsonl", "rejections.jsonl", "generation.json", "certificates/index.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(made / name, tmp_path / name)
    told = recorded.settings(made)
    assert list(recorded.record(tmp_path / "dataset.jsonl", families, told)) == []
    facts = json.loads((tmp_path / "generation.json").read_text())
    deed, sentence = RECORDED[change]
    deed(facts)
    (tmp_path / "generation.json").write_text(json.dumps(facts))
    found = [f"{place}: {what}" for place, what in recorded.record(tmp_path / "dataset.jsonl", families, told)]
    assert any(one.startswith(sentence) for one in found), found


def test_a_shortfall_taken_out_of_the_record_is_noticed(verify, copy):
    written = (copy / "config.yaml").read_text()
    (copy / "config.yaml").write_text(written.replace("\ncount: 1\n", "\ncount: 2\n"))
    status, found = verify(copy)
    assert status == 1
    assert found.count("generation.json, shortfalls: easy ") == found.count("should be there") == 7


@pytest.mark.parametrize("place", [0, 3])
def test_a_row_that_is_no_json_any_more_is_one_difference_and_the_others_are_gone_through(verify, copy, place):
    lines = (copy / "dataset.jsonl").read_text().splitlines()
    lines[place] = lines[place].replace('"domain":', '"domain";', 1)
    other = json.loads(lines[5])
    lines[5] = json.dumps({**other, "statement": other["statement"] + " "})
    (copy / "dataset.jsonl").write_text("\n".join(lines) + "\n")
    status, found = verify(copy)
    assert status == 1
    assert f"row {place + 1}: dataset.jsonl, line {place + 1}: Invalid JSON: " in found
    assert "at line 1 column" not in found
    assert "row 6, statement: " in found
    index = copy / "certificates" / "index.jsonl"
    first, *rest = index.read_text().splitlines()
    index.write_text("\n".join([first[:-9], *rest]) + "\n")
    status, found = verify(copy)
    assert "certificates/index.jsonl, line 1: Invalid JSON: " in found
    assert "row 6, statement: " in found


def test_what_is_no_dataset_is_bad_input(verify, copy):
    whole = (copy / "dataset.jsonl").read_text()
    for text, sentence in (("", "empty"), ('{"a": 1}\n{"b": 2}\n', "line 1, field"), (whole[:99], "line 1: cut short")):
        (copy / "dataset.jsonl").write_text(text)
        status, said = verify(copy)
        assert status == 2
        assert sentence in said


def test_the_columns_are_held_against_the_rows(verify, copy):
    import pyarrow.parquet as pq

    path = copy / "dataset.parquet"
    table = pq.read_table(path)
    names = table.column_names
    texts = table["statement"].to_pylist()
    forged = [*texts[:2], texts[2] + ".", *texts[3:]]
    pq.write_table(table.set_column(names.index("statement"), table.schema.field("statement"), [forged]), path)
    assert verify(copy) == (1, "dataset.parquet: row 3 is not the one of dataset.jsonl: statement\n")
    pq.write_table(table.slice(0, 5), path)
    assert verify(copy) == (1, "dataset.parquet: has fewer rows than dataset.jsonl: row 6\n")
    path.write_bytes(b"PAR1")
    assert "dataset.parquet: cannot be read (" in verify(copy)[1]
    path.unlink()
    assert verify(copy) == (0, "")


def test_no_flipped_bit_of_the_columns_goes_unnoticed(copy):
    path = copy / "dataset.parquet"
    data, draw = path.read_bytes(), random.Random(3)
    assert list(recorded.table(copy / "dataset.jsonl")) == []
    writer = data.index(b"parquet-cpp-arrow")  # who wrote the file: of another writer nothing is known but the rows
    for _ in range(40):
        place, bit = draw.randrange(len(data)), 1 << draw.randrange(8)
        if not writer - 8 <= place < writer + 40:
            path.write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
            assert list(recorded.table(copy / "dataset.jsonl")), (place, bit)


def test_a_time_in_a_compressed_text_is_named(verify, copy):
    item = json.loads((copy / "certificates" / "index.jsonl").read_text().splitlines()[0])
    sha256 = item["queries"][0]["smt_sha256"]
    path = copy / "certificates" / sha256[:2] / f"{sha256}.smt2.gz"
    path.write_bytes(path.read_bytes()[:4] + b"\1" + path.read_bytes()[5:])
    status, found = verify(copy)
    assert status == 1
    assert f"{sha256}.smt2.gz: holds a time or a name" in found
