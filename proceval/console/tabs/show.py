"""Pieces that several pages show: filters, a paged list to choose from, texts of others, empty states."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from proceval.console import columns
from proceval.console.look import apart, literal, shown

PAGE = 50
"""Rows of a list on one page."""


def empty(what: str, command: str) -> None:
    """An empty state: what is missing, and the command that makes it; the page ends here."""
    st.info(f"**{literal(what)}**")
    st.write("Run this, and the page shows it as soon as the files are there:")
    st.code(command, language="bash")
    st.stop()


def choices(table: Any, names: Mapping[str, str], key: str) -> dict[str, list[str]]:
    """One multiple choice a column, side by side; nothing chosen means everything."""
    from proceval.console.problems import tiers

    wanted = {}
    for place, (name, label) in zip(st.columns(len(names)), names.items(), strict=True):
        options = columns.values(table, name)
        options = tiers(options) if name == "difficulty" else options
        wanted[name] = place.multiselect(label, options, key=f"{key}_{name}", placeholder="all")
    return wanted


def paged(count: int, key: str, what: str) -> int:
    """The number of the page to show, counted from 0, with a line that says what is on it."""
    last = max(1, -(-count // PAGE))
    number = 1
    if last > 1:
        left, right = st.columns([1, 4], vertical_alignment="bottom")
        if st.session_state.get(f"{key}_page", 1) > last:
            st.session_state[f"{key}_page"] = 1
        number = int(left.number_input("Page", 1, last, key=f"{key}_page"))
        right.caption(f"{what} {(number - 1) * PAGE + 1:,} to {min(number * PAGE, count):,} of {count:,}")
    else:
        st.caption(f"{count:,} {what}" if count != 1 else f"1 {what.removesuffix('s')}")
    return number - 1


def chosen(
    rows: Sequence[Mapping[str, Any]], ids: Sequence[str], labels: Mapping[str, str], key: str, question: str,
    *, config: Mapping[str, Any] | None = None,
) -> str | None:  # fmt: skip
    """A table whose rows can be picked by mouse, and a box that picks the same one by keyboard; the id picked."""
    if not ids:
        st.warning("Nothing fits these filters.")
        return None
    table, box = f"{key}_rows", f"{key}_open"

    def picked() -> None:
        places = st.session_state[table].selection.rows
        if places and places[0] < len(ids):
            st.session_state[box] = ids[places[0]]

    if st.session_state.get(box) not in ids:
        st.session_state[box] = ids[0]
    st.dataframe(
        [dict(row) for row in rows], key=table, on_select=picked, selection_mode="single-row", hide_index=True,
        height=min(38 + 35 * len(rows), 320), column_config=dict(config or {}),
    )  # fmt: skip
    texts = dict(zip(ids, apart([labels.get(one, one) for one in ids]), strict=True))  # the box knows a row by its text
    found: str = st.selectbox(question, list(ids), key=box, format_func=lambda one: texts.get(one, one))
    return found


def text(said: str, *, language: str | None = None, most: int | None = None) -> None:
    """A text of unknown origin, exactly as it is: nothing in it is markup. `most` bounds its height in pixels."""
    body = shown(said) or " "
    lines = body.count("\n") + 1 + len(body) // 110
    st.code(body, language=language, wrap_lines=True, height=most if most and lines * 22 + 36 > most else "content")


def fact(place: Any, label: str, value: str) -> None:
    """A label and its value; both are literal."""
    place.markdown(f":gray[:small[{literal(label)}]]  \n**{literal(value)}**")


def facts(found: Mapping[str, str]) -> None:
    """Several facts in one row, wider where the value is longer."""
    widths = [max(8, min(max(len(label), len(value) + 2), 30)) for label, value in found.items()]
    for place, (label, value) in zip(st.columns(widths), found.items(), strict=True):
        fact(place, label, value)
