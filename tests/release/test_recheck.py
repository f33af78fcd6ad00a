"""recheck.py as a stranger runs it: it proves everything again, needs nothing of ours, and finds what was tampered with."""

import ast
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from proceval.config import build, compose
from proceval.release import recheck
from tests.release.made import WORDS

Row = dict[str, Any]


def by_z3(query: str) -> str:
    return recheck.by_z3(query, 60.0)


def faults(folder: Path, row: Row, decide: Callable[[str], str] = by_z3) -> list[tuple[str, str]]:
    with zipfile.ZipFile(folder / recheck.ARCHIVE) as archive:
        return list(recheck.row_faults(row, archive, decide))


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The published file, in another folder, deaf to this checkout (-I)."""
    command = [sys.executable, "-I", str(folder / "recheck.py"), *words]
    return subprocess.run(
        command, cwd="/", env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )


def test_it_imports_nothing_but_the_standard_library_and_a_solver(exported):
    tree = ast.parse((exported / "recheck.py").read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    foreign = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    assert foreign == {"z3", "cvc5"}


def test_every_label_of_every_family_is_proved_again(exported):
    ran = run(exported)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    facts = json.loads((exported / "manifest.json").read_text())
    assert set(facts["families"]) == {
        name for group in build(compose(*WORDS)["domain"], "domain").values() for name in group
    }
    assert f"{facts['problems']} of {facts['problems']} problems, {sum(facts['tests'].values())} labels" in ran.stdout
    assert "differences: 0, undecided: 0" in ran.stdout
    assert sha256((exported / "manifest.json").read_bytes()).hexdigest() in ran.stdout


@pytest.mark.parametrize("solver", ["cvc5", pytest.param("z3-program", marks=pytest.mark.slow)])
def test_any_solver_will_do(exported, solver):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # z3-solver brings a z3 program along
    ran = run(exported, "--solver", solver, "--sample", "2", PATH=path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"by {solver}" in ran.stdout


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--folder", "/nonsense"], "manifest.json"),
        (["--solver", "guess"], "--solver"),
        (["--sample", "x"], "--sample"),
    ],
)
def test_wrong_usage_is_one_sentence_and_status_2(exported, words, names):
    ran = run(exported, *words)
    assert ran.returncode == 2
    assert names in ran.stderr
    assert "Traceback" not in ran.stderr


def test_what_the_solver_leaves_open_is_neither_proved_nor_wrong(exported, rows, monkeypatch, capsys, release):
    monkeypatch.setitem(recheck.SOLVERS, "z3", lambda query, timeout_s: "unknown")
    assert recheck.main(["--folder", str(release), "--solver", "z3", "--sample", "1"]) == 3
    assert "differences: 0, undecided: " in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------ tampering


def rehash(row: Row) -> None:
    """Make the id fit the row, as a careful forger would."""
    content = {name: row[name] for name in ("family", "family_version", "statement", "entry_point")}
    content |= {name: json.loads(row[name]) for name in ("arguments", "expected")}
    row["id"] = sha256(recheck.canonical(content).encode()).hexdigest()[:20]


def other_answer(row: Row) -> None:
    """Another label, everywhere where the row says it, under a fitting id."""
    told = "99" if row["family"] != "dag_shortest_path" else '{"path":[0],"weight":0}'
    row["expected"] = row["tests"][0]["expected"] = row["evidence"][0]["answer"] = told
    rehash(row)


def swapped(row: Row) -> None:
    one, two = row["evidence"][0], row["evidence"][1]
    one["queries"], two["queries"] = two["queries"], one["queries"]


def half_swapped(row: Row) -> None:
    row["evidence"][0]["queries"][-1] = row["evidence"][1]["queries"][-1]


CHANGES: dict[str, tuple[Callable[[Row], Any], str]] = {
    "another answer": (other_answer, "the witness says"),
    "another id": (lambda row: row.update(id="0" * 20), "the content hashes to"),
    "another statement": (lambda row: row.update(statement=row["statement"] + " "), "the content hashes to"),
    "another version": (lambda row: row.update(family_version=2), "the content hashes to"),
    "a test's answer": (lambda row: row["tests"][1].update(expected="-7"), "the witness says"),
    "an example's answer": (lambda row: row["examples"][0].update(expected="-7"), "the witness says"),
    "a certificate's answer": (lambda row: row["evidence"][0].update(answer="-7"), "the witness says"),
    "a proof is missing": (lambda row: row["evidence"].pop(), "has no certificate"),
    "two proofs of one test": (lambda row: row["evidence"].append(row["evidence"][0]), "two certificates"),
    "a proof of no test": (
        lambda row: row["evidence"].append({**row["evidence"][0], "test": 77}),
        "which the row has not",
    ),
    "proofs exchanged": (swapped, "witness"),
    "half a proof exchanged": (half_swapped, "does not begin with the first"),
    "a status": (lambda row: row["evidence"][0].update(status="ambiguous"), "does not go from"),
    "no refutation": (lambda row: row["evidence"][0]["queries"].pop(), "does not go from"),
    "a verdict": (lambda row: row["evidence"][0]["queries"][-1].update(verdict="unknown"), "does not go from"),
    "a hash": (lambda row: row["evidence"][0]["queries"][0].update(smt_sha256="ab" * 32), "cannot be read"),
    "a column is gone": (lambda row: row.pop("evidence"), "is not made as a row is"),
    "a strange type": (lambda row: row.update(tests=7), "is not made as a row is"),
    "JSON that is none": (lambda row: row.update(arguments="{"), "is not made as a row is"),
    "the main test": (lambda row: row["tests"].reverse(), "differs from the first test's"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("family", ["dag_reachability", "dag_shortest_path", "monotonic_split"])
def test_a_changed_row_is_found(exported, family, change):
    row = next(row for _, row in recheck.rows(exported) if row["family"] == family)
    assert faults(exported, row, lambda _: "sat") != [], "the solver is really asked"
    work, names = CHANGES[change]
    work(row)
    found = faults(exported, row)
    assert any(names in sentence for _, sentence in found), found


def forged(release: Path, row: Row, base: Callable[[str], str], block: Callable[[str], str]) -> Row:
    """The row with other texts behind its first label, stored under their own fitting hashes."""
    queries = row["evidence"][0]["queries"]
    with zipfile.ZipFile(release / recheck.ARCHIVE, "a") as archive:
        first, last = (recheck.text(archive, query["smt_sha256"]) for query in (queries[0], queries[-1]))
        made = base(first), base(first) + block(last[len(first) :])
        for query, text in zip((queries[0], queries[-1]), made, strict=True):
            query["smt_sha256"] = sha256(text.encode()).hexdigest()
            name = f"{query['smt_sha256'][:2]}/{query['smt_sha256']}.smt2"
            if name not in archive.namelist():
                archive.writestr(name, text)
    return row


def same(text: str) -> str:
    return text


FORGERIES: dict[str, tuple[Callable[[str], str], Callable[[str], str], str]] = {
    "no model at all": (lambda text: text + "(assert false)\n", same, "says unsat of the witness"),
    "no specification": (lambda text: "".join(text.splitlines(True)[:-1]), same, "says sat of a rival"),
    "nothing excluded": (same, lambda block: block + "(assert false)\n", "something other than one witness"),
    "nothing asked": (same, lambda block: "", "something other than one witness"),
    "an early end": (lambda text: text + "(exit)\n", same, "neither declares nor asserts"),
    "an option": (lambda text: "(set-option :produce-models true)\n" + text, same, "neither declares nor asserts"),
    "two commands in a line": (lambda text: text + "(assert true)(exit)\n", same, "neither declares nor asserts"),
    "a quoted name": (lambda text: text + "(assert |x y|)\n", same, "neither declares nor asserts"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_text_is_found_though_every_hash_fits(release, forgery):
    row = next(row for _, row in recheck.rows(release) if row["family"] == "equilibrium_index")
    base, block, names = FORGERIES[forgery]
    found = faults(release, forged(release, row, base, block))
    assert any(names in sentence for _, sentence in found), found


def test_changed_files_are_named(release, rows):
    stored = rows()
    rows([*stored, stored[0]])
    (release / "rejections.jsonl").unlink()
    (release / "extra.txt").write_text("")
    ran = run(release, "--sample", "1")
    assert ran.returncode == 1
    for told in (
        "data/test.jsonl: does not have the SHA-256", "rejections.jsonl: is missing", "extra.txt: is not in the manifest",
        f"holds {len(stored) + 1} rows, the manifest counts {len(stored)}", "stands in 2 rows",
    ):  # fmt: skip
        assert told in ran.stdout, told


def test_the_data_of_direct_arguments_are_hashed_too(exported, release):
    row = next(
        row for _, row in recheck.rows(release) if any(o["data_sha256"] for e in row["evidence"] for o in e["opinions"])
    )
    item = next(item for item in row["evidence"] if any(o["data_sha256"] for o in item["opinions"]))
    item["opinions"][-1]["data_sha256"] = "cd" * 32
    assert any("cdcd" in sentence and ".json" in sentence for _, sentence in faults(release, row))


@pytest.mark.parametrize("name", ["argparse", "z3", "cvc5", "zipfile", "__future__", "json"])
def test_a_module_in_the_folder_shadows_nothing_that_is_imported(release, name):
    (release / f"{name}.py").write_text("import os\nprint('differences: 0, undecided: 0', flush=True)\nos._exit(0)\n")
    command = [sys.executable, "recheck.py", "--sample", "1", "--solver", "cvc5" if name == "cvc5" else "z3"]
    ran = subprocess.run(command, cwd=release, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert f"{name}.py: is not in the manifest" in ran.stdout
    assert "differences: 1, undecided: 0" in ran.stdout
