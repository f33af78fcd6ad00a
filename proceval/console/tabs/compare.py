"""The Compare page: two contestants on the same problems, in figures and side by side on one problem."""

from typing import Any

import streamlit as st

from proceval.console import problems, runs
from proceval.console.look import literal, side_by_side
from proceval.console.places import Place
from proceval.console.tabs import shelf, show
from proceval.schema import Problem
from proceval.scorer.extract import extract

MOST_PLACES = 100
"""Judged places, those that changed last, whose models can be chosen."""
Side = tuple[Place, str]
"""A place and the name of one of its contestants."""


def page() -> None:
    here = shelf.opened()
    st.title("Compare")
    places = sorted((p for p in shelf.all_places() if _judged(p)), key=lambda place: place.path != here.path)
    sides = {f"{name} · {place.label}": (place, name) for place in places[:MOST_PLACES] for name in shelf.names(place)}
    if len(sides) < 2:
        show.empty("A comparison takes two judged models or runs.", "python -m proceval --multirun model=mock,gold")
    labels = sorted(sides, key=lambda label: (sides[label][0].path != here.path, label))
    left, right = st.columns(2)
    first = left.selectbox("A", labels, key="compare_first", format_func=lambda label: f"A · {label}")
    second = right.selectbox(
        "B",
        [label for label in labels if label != first],
        key="compare_second",
        format_func=lambda label: f"B · {label}",
    )
    _figures(sides[first], sides[second])
    _one_problem(sides[first], sides[second])


def _judged(place: Place) -> bool:
    return any((folder / name).is_file() for folder in place.folders for name in ("verdicts.jsonl", "records.parquet"))


def _figures(first: Side, second: Side) -> None:
    found = shelf.comparison(*first, first[0].stamp(), *second, second[0].stamp())
    st.markdown("\n".join(f"- {literal(sentence)}" for sentence in found))


def _one_problem(first: Side, second: Side) -> None:
    st.markdown("##### The same problem")
    tables = [
        runs.of_contestant(shelf.sample_table(place), shelf.summary(place), name) for place, name in (first, second)
    ]
    differing = st.toggle("Only problems on which their first samples disagree", key="compare_differing", value=True)
    ids = runs.shared_problems(tables[0], tables[1], differing=differing)
    if not ids:
        st.info("No such problem." if differing else "They share no problem.")
        return
    at = show.paged(len(ids), "compare", "problems")
    mine = ids[at * show.PAGE : (at + 1) * show.PAGE]
    left, right = st.columns([4, 1])
    one = left.selectbox("Problem", mine, key="compare_problem")
    number = int(right.number_input("Sample", 0, 9_999, 0, key="compare_sample"))
    found = [_sample(side, table, one, number) for side, table in zip((first, second), tables, strict=True)]
    for column, name, sample in zip(st.columns(2), "AB", found, strict=True):
        with column:
            if sample is None:
                st.info(f"{name} has no sample {number} of this problem.")
                continue
            verdict = sample.verdict
            show.facts({
                name: verdict.model, "outcome": verdict.outcome, "owner": verdict.fault,
                "problem": f"{verdict.difficulty} {verdict.family}",
            })  # fmt: skip
            if verdict.detail:
                show.text(verdict.detail)
    if found[0] is None or found[1] is None:
        return
    home = first[0].folders[_row(tables[0], one, number)["folder"]]
    problem = problems.problem(home, one)
    texts = [_text(sample, problem) for sample in found if sample is not None]
    what = "programs" if problem is not None and found[0].verdict.mode == "code" else "completions"
    st.caption(f"their {what}, line by line")
    st.html(side_by_side(texts[0], texts[1], (f"A · {found[0].verdict.outcome}", f"B · {found[1].verdict.outcome}")))
    with st.expander("Completions as they came"):
        for column, sample in zip(st.columns(2), found, strict=True):
            with column:
                show.text(sample.turns[-1].completion.text if sample and sample.turns else "")


def _row(table: Any, identity: str, number: int) -> Any:
    import pyarrow.compute as pc

    mine = table.filter(
        pc.and_(pc.equal(table["problem_id"].cast("string"), identity), pc.equal(table["sample"], number))
    ).to_pylist()
    return mine[0] if mine else None


def _sample(side: Side, table: Any, identity: str, number: int) -> runs.Sample | None:
    row = _row(table, identity, number)
    if row is None:
        return None
    place = side[0]
    return runs.sample(place, row["folder"], runs.key(row, place.variants[row["folder"]]))


def _text(sample: runs.Sample, problem: Problem | None) -> str:
    """The program that was found, else the completion itself."""
    if not sample.turns:
        return ""
    said = sample.turns[-1].completion.text
    if problem is None or sample.verdict.mode != "code":
        return said
    return extract(said, problem.entry_point, problem.parameters).code or said


if __name__ == "__main__":
    page()
