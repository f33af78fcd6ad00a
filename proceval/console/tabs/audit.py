"""The Audit page: what became of every mutant, one beside its reference, and the ledger of those that change nothing."""

import json
import shlex
from typing import Any

import streamlit as st

from proceval.audit.ledger import MACHINE, Entry
from proceval.compare import show as value_shown
from proceval.console import audits, charts, columns, exported, parts, problems
from proceval.console.look import literal, percent, side_by_side
from proceval.console.places import Place
from proceval.console.tabs import shelf, show
from proceval.schema import Mutant, Problem
from sandbox.contract import Result

FILTERS = {"operator": "Operator", "fate": "Fate", "family": "Family", "difficulty": "Tier"}


def page() -> None:
    place = shelf.opened()
    st.title("Audit")
    mutants, ledger = st.tabs(["Mutants", "Ledger of harmless mutants"])
    with ledger:
        _ledger()
    with mutants:
        _mutants(place)


def _mutants(place: Place) -> None:
    table = shelf.mutant_table(place)
    if not table.num_rows:
        _published(place)
        show.empty(
            "Nothing was audited here.", f"python -m proceval stage=audit dataset={shlex.quote(str(place.path))}"
        )
    for identity, fault in audits.broken(table)[:5]:
        st.error(f"The audit of {literal(identity)} broke: {literal(fault)}")
    wanted = show.choices(table, FILTERS, "audit")
    stamp = place.stamp(("audit.jsonl", "audit.parquet", "dataset.jsonl"))
    by_operator, distinct = shelf.mutant_counts(place, stamp, tuple((n, tuple(v)) for n, v in wanted.items()))
    totals = {fate: sum(row[fate] for row in by_operator) for fate in audits.FATES}
    kills = totals["killed"] + totals["timeout"]
    show.facts({
        "mutants": f"{sum(totals.values()):,}", "killed": f"{totals['killed']:,}",
        "by step budget": f"{totals['timeout']:,}", "survived": f"{totals['survived']:,}",
        "equivalent": f"{totals['equivalent']:,}",
        "kill rate": percent(kills / (kills + totals["survived"]) if kills + totals["survived"] else None),
    })  # fmt: skip
    if by_operator:
        st.plotly_chart(charts.operators(by_operator), key="operators", config={"displayModeBar": False})
    st.markdown("##### Mutants of the references")
    at = show.paged(len(distinct), "audit", "mutants")
    rows = distinct[at * show.PAGE : (at + 1) * show.PAGE]
    labels = {row["mutant"]: f"{row['family'] or 'unknown'}, line {row['line']}, {row['operator']}: "
              f"{row['before']} → {row['after']}" for row in rows}  # fmt: skip
    shown = [
        {
            "family": row["family"], "operator": row["operator"], "line": row["line"], "before": row["before"],
            "after": row["after"], "problems": row["problems"],
            "fates": ", ".join(f"{count} {fate}" for fate, count in sorted(row["fates"].items())),
        }
        for row in rows
    ]  # fmt: skip
    one = show.chosen(shown, [row["mutant"] for row in rows], labels, "audit", "Mutant")
    if one is not None:
        _mutant(place, table, one)


def _published(place: Place) -> None:
    """The counts of a release, which does not hold the mutants themselves."""
    if place.kind != "release":
        return
    fates = exported.fates(place.path)
    if fates:
        show.facts({fate: f"{count:,}" for fate, count in fates.items()})
        st.caption(
            "A release holds the counts of its audit; the run folder that it was exported from holds the mutants."
        )
        st.stop()


def _mutant(place: Place, table: Any, identity: str) -> None:
    mine = columns.matching(table, {"mutant": [identity]})
    where = dict(zip(mine["problem_id"].to_pylist(), mine["folder"].to_pylist(), strict=True))
    fates = dict(zip(mine["problem_id"].to_pylist(), mine["fate"].to_pylist(), strict=True))
    ids = list(where)[:200]
    chosen = st.selectbox(
        f"Under the tests of one of {len(where):,} problems", ids, key=f"audit_problem_{identity}",
        format_func=lambda one: f"{one}: {fates[one]}",
    )  # fmt: skip
    folder = place.folders[where[chosen]]
    problem, report = problems.problem(folder, chosen), problems.audit(folder, chosen)
    mutant = next((m for m in report.mutants if m.id == identity), None) if report else None
    if problem is None:
        st.warning("The problem of this mutant is not in the dataset here, so its reference is not known.")
        return
    pair = audits.pair(problem.reference, identity)
    st.html(side_by_side(pair.reference, pair.mutant, ("reference", "mutant")))
    if mutant is not None:
        _fate(problem, mutant, pair)


def _fate(problem: Problem, mutant: Mutant, pair: audits.Pair) -> None:
    show.facts({
        "fate": mutant.fate, "strongest evidence": (mutant.kill_kind or "none").replace("_", " "),
        "killing tests": ", ".join(map(str, mutant.kills)) or "none", "line": str(mutant.line),
        "why": mutant.reason or "–",
    })  # fmt: skip
    if mutant.fate == "equivalent":
        book = next((b for b in audits.ledger() if mutant.id in b.by_id()), None)
        if book is not None:
            _entry(book.by_id()[mutant.id])
        return
    if mutant.killed_by is None or mutant.killed_by >= len(problem.tests):
        return
    test = problem.tests[mutant.killed_by]
    st.markdown(
        f"**Test {mutant.killed_by} kills it** ({test.origin}), expected {literal(json.dumps(test.expected)[:200])}"
    )
    show.text(json.dumps(test.arguments), language="json", most=120)
    key = (problem.id, mutant.id)
    if st.button("Run both on this test now", key="run_mutant", icon=":material/play_arrow:"):
        with st.spinner("In the sandbox ..."):
            desk = parts.current().desk
            runs = [desk.run(code, problem.entry_point, [test.arguments]) for code in (pair.reference, pair.mutant)]
            st.session_state["mutant_ran"] = (key, runs)
    at, ran = st.session_state.get("mutant_ran", (None, ()))
    if at != key:
        st.caption("Runs the reference and the mutant in the sandbox and shows what each returns.")
        return
    for column, name, execution in zip(st.columns(2), ("reference", "mutant"), ran, strict=True):
        with column:
            st.caption(name)
            if execution.fault is not None:
                st.warning(f"The sandbox failed, which says nothing about the program: {literal(execution.fault)}")
            else:
                show.text(_said(execution.results[0]) + (f"\n{execution.stdout}" if execution.stdout else ""))


def _said(result: Result) -> str:
    """What a call gave, in words."""
    if result.kind == "returned" and result.wire is not None:
        return f"returned {value_shown(result.wire, most=400)}   ({result.cpu_s:.3f} s)"
    if result.kind == "raised":
        line = f", line {result.line}" if result.line else ""
        return f"raised {result.exception}: {result.message or ''}{line}   ({result.cpu_s:.3f} s)"
    return f"{result.kind.replace('_', ' ')} {result.message or ''}  ({result.cpu_s:.3f} s of CPU time)"


def _ledger() -> None:
    st.write(
        "Mutants that no test can kill, each with the proof that it changes nothing. They are in no kill rate; an entry "
        "holds for exactly one text of a reference."
    )
    books = audits.ledger()
    show.facts({
        "references": str(len(books)), "mutants of them": f"{sum(book.mutants for book in books):,}",
        "entries": str(sum(len(book.entries) for book in books)),
        "proved by machine": str(sum(entry.method in MACHINE for book in books for entry in book.entries)),
    })  # fmt: skip
    entries = [(book.family, entry) for book in books for entry in book.entries]
    ids = [f"{family}:{entry.mutant}" for family, entry in entries]
    rows = [
        {
            "family": family, "line": entry.line, "before": entry.before, "after": entry.after, "kind": entry.kind,
            "proved by": entry.method,
        }
        for family, entry in entries
    ]  # fmt: skip
    labels = {
        one: f"{family}, line {entry.line}: {entry.before} → {entry.after}"
        for one, (family, entry) in zip(ids, entries, strict=True)
    }
    one = show.chosen(rows, ids, labels, "ledger", "Entry")
    if one is not None:
        _entry(entries[ids.index(one)][1])


def _entry(entry: Entry) -> None:
    show.facts({"proved by": entry.method, "bound": "inputs of any size" if entry.bound == "none" else entry.bound})
    st.write(literal(entry.lemma))
    if entry.invariant is not None:
        st.caption("what always holds at its place")
        show.text(entry.invariant, language="python")
    script = audits.proof(entry)
    if script is not None:
        st.caption(f"obligations, all decided by a solver: {literal(entry.script)}")
        show.text(script, language="lisp", most=320)


if __name__ == "__main__":
    page()
