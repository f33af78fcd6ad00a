"""The report in a terminal: a summary's tables dressed with rich, plain text where there is no terminal."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from proceval.report.cells import NOTHING, WORDS, Sheet
from proceval.report.sheets import heading, sheets

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

COLOURS = {"killed": "green", "survived": "bold red", "rejected": "yellow", "floor": "dim", "owner": "dim"}
"""Style of a column by its name; colour never says what the text does not say too."""


def render(summary: Mapping[str, Any]) -> "RenderableType":
    """Everything a person wants to see at the end of a run; prints within 80 columns for up to three tiers."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(line, style="dim") for line in heading(dict(summary))]
    for sheet in sheets(dict(summary)):
        parts += [Text(""), *dress(sheet)]
    return Group(*parts)


def bare(text: str) -> str:
    """The text without the blanks with which rich fills lines up, before or behind their last colour."""
    return re.sub(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$", r"\1", text, flags=re.MULTILINE)


def dress(sheet: Sheet) -> "list[RenderableType]":
    """Title, table, notes and warnings of one sheet. Cells are literal text: nothing in a record is markup."""
    from rich.padding import Padding
    from rich.text import Text

    parts: list[RenderableType] = [Text(sheet.title, style="bold cyan")]
    if sheet.rows:
        parts.append(_table(sheet))
    parts += [Padding(Text(note, style="dim"), (0, 0, 0, 0), expand=False) for note in sheet.notes]
    parts += [Padding(Text(f"! {warning}", style="yellow"), (0, 0, 0, 0), expand=False) for warning in sheet.warnings]
    return parts


def _table(sheet: Sheet) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0), pad_edge=False, show_edge=False, header_style="bold")
    for name in sheet.columns:
        words = name in WORDS
        table.add_column(name, justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for row in sheet.rows:
        table.add_row(*(_cell(name, value) for name, value in zip(sheet.columns, row, strict=True)))
    return table


def _cell(column: str, value: str) -> "Text":
    from rich.text import Text

    return Text(value, style="dim" if value in (NOTHING, "0") else COLOURS.get(column, ""))
