"""The ledger of equivalents: every entry is proved again here, and every way of being wrong is noticed."""

import os
import subprocess
import sys

import pytest

from proceval.audit import gate as gates
from proceval.audit.ledger import LIMIT, MACHINE, Book, Entry, books, entries_for, local
from proceval.audit.ledger.prove import check, script
from proceval.audit.standard import Standard
from proceval.audit.template import template
from proceval.protocols import Instance
from proceval.schema import Test
from proceval.seeding import rng
from tests.audit.conftest import CONF, FAMILIES, TIERS

BOOKS = {book.family: book for book in books()}


def sampled(family: str) -> list[Instance]:
    members = FAMILIES[family]
    drawn = [members.sample(rng("ledger test", family, tier, i), tier) for tier in TIERS for i in range(5)]
    return [*members.targeted(rng("ledger test", family)), *drawn]


@pytest.mark.parametrize("family", BOOKS)
def test_every_entry_is_proved_again_and_no_instance_kills_it(family: str, standard: Standard) -> None:
    assert list(check(BOOKS[family], FAMILIES[family], standard, sampled(family), seeds=3)) == []


@pytest.mark.parametrize("family", BOOKS)
def test_cvc5_agrees_or_is_unsure(family: str) -> None:
    pytest.importorskip("cvc5")
    from proceval.audit.ledger import FOLDER

    for name in {entry.script for entry in BOOKS[family].entries if entry.script}:
        assert list(script(name, (FOLDER / name).read_text(encoding="utf-8"), "cvc5")) == []


def test_two_thirds_are_machine_proved_and_no_template_has_too_many() -> None:
    entries = [entry for book in books() for entry in book.entries]
    assert sum(entry.method in MACHINE for entry in entries) * 3 >= len(entries) * 2
    assert all(len(book.entries) <= LIMIT * book.mutants for book in books())


def broken(book: Book, **changes: object) -> Book:
    return book.model_copy(update=changes)


def false_entry(family: str, before: str, after: str, invariant: str | None = None) -> Book:
    """A book with one more entry, for a mutant that can be killed."""
    made = template(FAMILIES[family].reference, ("gate",))
    mutant = next(m for m in made.mutants if (m.before, m.after) == (before, after))
    entry = Entry(
        mutant=mutant.id.split(":", 1)[1], line=mutant.line, before=before, after=after, kind="wrong",
        method="lemma+exhaustive", bound="none", lemma="", invariant=invariant, script=None,
    )  # fmt: skip
    return broken(BOOKS[family], entries=(*BOOKS[family].entries, entry))


def test_a_false_entry_is_killed(standard: Standard) -> None:
    book = false_entry("monotonic_split", "low < high", "low <= high")
    found = list(check(book, FAMILIES["monotonic_split"], standard, []))
    assert any("is false" in finding for finding in found)


def test_a_false_invariant_is_refuted_by_the_solver_and_by_the_watch(standard: Standard) -> None:
    book = false_entry("monotonic_split", "array[middle] >= target", "array[middle] > target", "array[middle] >= 0")
    found = "\n".join(check(book, FAMILIES["monotonic_split"], standard, []))
    assert "z3 says sat, expected unsat" in found
    assert "the watch on" in found


def test_an_edited_template_voids_its_entries(standard: Standard) -> None:
    book = BOOKS["dag_reachability"]
    stale = broken(book, template_sha256="0" * 64)
    found = list(check(stale, FAMILIES["dag_reachability"], standard, []))
    assert found == [f"dag_reachability: the reference was edited, so its {len(book.entries)} entries are void"]
    assert entries_for("0" * 64) == {}


def test_too_many_entries_fail(standard: Standard) -> None:
    book = BOOKS["dag_reachability"]
    found = list(check(broken(book, entries=book.entries * 2), FAMILIES["dag_reachability"], standard, []))
    assert any("more than 8%" in finding for finding in found)


def test_an_entry_that_names_another_edit_is_noticed(standard: Standard) -> None:
    book = BOOKS["equilibrium_index"]
    wrong = book.entries[0].model_copy(update={"after": "left > right"})
    assert list(check(broken(book, entries=(wrong,)), FAMILIES["equilibrium_index"], standard, []))


def test_one_kill_of_an_entry_is_the_audits_fault(standard: Standard, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def f(x):\n    return x + 1\n"
    made = template(source, ("gate",))
    entry = Entry(
        mutant="", line=2, before="", after="", kind="wrong", method="lemma+exhaustive", bound="none", lemma="",
        invariant=None, script=None,
    )  # fmt: skip
    monkeypatch.setattr(gates, "entries_for", lambda sha256: {made.runnable[0].id: entry})
    report = standard.audit_function(source, [Test(arguments={"x": 5}, expected=6, origin="main")])
    assert not report.accepted
    assert report.fault is not None
    assert "the ledger is wrong" in report.fault


@pytest.mark.parametrize(
    ("invariant", "before", "after", "verdict"),
    [
        ("a <= b", "a < b", "a != b", "unsat"),
        ("a < b", "a < b", "a != b", "unsat"),
        ("True", "a < b", "a != b", "sat"),
        ("x[i] >= 0 and n > 0", "x[i] == 0", "x[i] <= 0", "unsat"),
        ("x[i] >= 0", "x[j] == 0", "x[j] <= 0", "sat"),
        ("a == -b", "a + b == 0", "not a - b != 2 * a", "unsat"),
        ("0 <= a < 2", "a == 0 or a == 1", "True", "unsat"),
    ],
)
def test_obligations_are_made_from_the_code(invariant: str, before: str, after: str, verdict: str) -> None:
    findings = list(script("made", local.obligation(invariant, before, after)))
    assert bool(findings) == (verdict == "sat")


@pytest.mark.parametrize(
    ("claim", "expectation", "right"),
    [
        ("(> x 0)", "sat", True), ("(> x 0)", "unsat", False), ("(> x 0)", "open", True),
        ("(and (> x 0) (< x 0))", "unsat", True), ("(and (> x 0) (< x 0))", "open", False),
    ],
)  # fmt: skip
def test_scripts_are_held_to_their_expectations(claim: str, expectation: str, right: bool) -> None:
    text = f"(declare-const x Int)\n(assert {claim})\n; expect {expectation}: label\n(check-sat)\n"
    assert (list(script("made", text)) == []) == right
    assert list(script("made", text + "(check-sat)\n"))  # a query that nobody expects


def test_what_cannot_be_translated_is_refused() -> None:
    for text in ("f(a) < b", "a in b", "a // b == 1"):
        with pytest.raises(ValueError, match="no "):
            local.obligation("True", text, "True")


@pytest.mark.slow
def test_the_script_proves_everything_again_with_many_instances() -> None:
    command = [sys.executable, "scripts/ledger.py", "--check", "--samples", "50"]
    run = subprocess.run(
        command, cwd=CONF.parent, env={**os.environ, "PYTHONPATH": str(CONF.parent)}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == "nothing found wrong\n"
