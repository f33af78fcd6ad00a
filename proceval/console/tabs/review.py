"""The Review page: what reviewers said, how judges graded it and on which evidence, and whether files were touched."""

import streamlit as st

from proceval.console import cases
from proceval.console.cases import Case
from proceval.console.look import literal
from proceval.console.tabs import case as shared
from proceval.console.tabs import show

COMMAND = "python -m proceval stage=evaluate track=review model=scripted_reviewer"


def page() -> None:
    st.title("Review")
    one = shared.chosen("review", COMMAND)
    if one is None:
        return
    shared.head(one)
    grades, transcript, judges, files, asked = st.tabs(["Grades", "Transcript", "Judges", "Files untouched?", "Case"])
    with grades:
        _grades(one)
    with transcript:
        st.caption("What the reviewer said, exactly as it came.")
        show.text(cases.text(one, "transcript.md") or "")
    with judges:
        _judges(one)
    with files:
        show.text(cases.text(one, "no-rewrite.txt") or "not recorded")
    with asked:
        _case(one)


def _grades(one: Case) -> None:
    rows = cases.rows(one, "grades")
    if not rows:
        st.info("No grade was given: the review failed before it could be judged.")
        return
    st.dataframe(
        [{key: row.get(key) for key in ("id", "kind", "passed", "weight", "votes")} for row in rows], hide_index=True
    )
    for row in rows:
        mark = ":green[✓]" if row.get("passed") else ":red[✗]"
        st.markdown(f"{mark} **{literal(row.get('id', ''))}** · {literal(str(row.get('kind', '')).replace('_', ' '))}")
        evidence = str(row.get("evidence") or "")
        show.text(
            "the transcript says nothing of the kind" if evidence == "ABSENT" else evidence or "no evidence given"
        )


def _judges(one: Case) -> None:
    votes = cases.votes(one)
    if votes:
        st.dataframe(votes, hide_index=True)
    else:
        st.info("No judge was asked.")
    for violation in one.sheet.get("violations") or ():
        st.warning(literal(violation))


def _case(one: Case) -> None:
    asked = cases.task(one)
    if asked is None:
        st.info("cases.jsonl, which holds the case, is not in this run.")
        return
    st.caption("prompt")
    show.text(str(asked.get("prompt", "")))
    st.caption("what a judge decides")
    rubric = [c for c in asked.get("criteria") or () if isinstance(c, dict)]
    st.dataframe([{key: c.get(key) for key in ("id", "kind", "text")} for c in rubric], hide_index=True)
    for file in asked.get("files") or ():
        if isinstance(file, dict):
            with st.expander(literal(file.get("path", "file"))):
                show.text(str(file.get("content", "")))


if __name__ == "__main__":
    page()
