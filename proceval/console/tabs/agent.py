"""The Agent page: what an agent did message by message, what was checked, and what it changed."""

import streamlit as st

from proceval.console import cases
from proceval.console.cases import Case
from proceval.console.look import literal
from proceval.console.tabs import case as shared
from proceval.console.tabs import show

COMMAND = "python -m proceval stage=evaluate track=agent"
MOST_TURNS = 200
"""Messages of a transcript that are shown at once."""


def page() -> None:
    st.title("Agent")
    one = shared.chosen("agent", COMMAND)
    if one is None:
        return
    shared.head(one)
    checks, transcript, changes, asked = st.tabs(["Checks", "Transcript", "Changes", "Task"])
    with checks:
        _checks(one)
    with transcript:
        _transcript(one)
    with changes:
        diff = cases.text(one, "workspace.diff")
        if diff is None:
            st.info("There is nothing to see of the workspace: the run broke before it was looked at.")
        elif not diff.strip():
            st.info("The agent changed nothing.")
        else:
            st.caption("The workspace against what the agent was given.")
            show.text(diff, language="diff")
    with asked:
        _task(one)


def _checks(one: Case) -> None:
    rows = cases.rows(one, "checks")
    if not rows:
        st.info("Nothing was checked.")
        return
    names = ("id", "kind", "passed", "weight", "evidence")
    st.dataframe([{name: row.get(name) for name in names} for row in rows], hide_index=True)
    for row in rows:
        if row.get("printed"):
            st.caption(f"what {literal(row.get('id', 'the check'))} printed")
            show.text(str(row["printed"]), most=300)


def _transcript(one: Case) -> None:
    turns = cases.transcript(one)
    if not turns:
        st.info("No message is recorded.")
    if len(turns) > MOST_TURNS:
        st.caption(f"The last {MOST_TURNS} of {len(turns):,} messages; transcript.jsonl holds them all.")
    for turn in turns[-MOST_TURNS:]:
        st.caption(literal(turn.role + (f" · {turn.facts}" if turn.facts else "")))
        if turn.content:
            show.text(turn.content, most=400)
        for tool, arguments in turn.calls:
            st.caption(f"calls {literal(tool)}")
            show.text(arguments, most=300)


def _task(one: Case) -> None:
    asked = cases.task(one)
    if asked is None:
        st.info("cases.jsonl, which holds the task, is not in this run.")
        return
    for number, turn in enumerate(asked.get("turns") or (), 1):
        st.caption(f"turn {number}")
        show.text(str(turn))
    st.caption("what must hold afterwards")
    checks = [c for c in asked.get("checks") or () if isinstance(c, dict)]
    st.dataframe(
        [{key: c.get(key) for key in ("id", "kind", "path", "text", "weight")} for c in checks], hide_index=True
    )
    setup = "\n".join(map(str, asked.get("setup") or ()))
    if setup:
        st.caption(f"fixture {literal(asked.get('fixture', ''))}, and before the agent starts")
        show.text(setup, language="bash")


if __name__ == "__main__":
    page()
