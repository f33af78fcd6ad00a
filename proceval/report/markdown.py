"""report.md: the same tables for people who read the run later, with the detail that a terminal has no room for."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proceval.report.cells import WORDS, Sheet
from proceval.report.run import printable, replace
from proceval.report.sheets import details, heading, sheets

STATUS = {
    0: "fine",
    1: "a finding: a survivor, tampering or a failed case",
    2: "bad input",
    3: "something stayed unscored",
    130: "interrupted",
}


def write(folder: Path, summary: Mapping[str, Any]) -> Path:
    """Replace report.md whole; draw the figures first, since only those that exist are shown."""
    folder = Path(folder)
    figures = sorted(path.name for path in (folder / "figures").glob("*.png"))
    path = folder / "report.md"
    replace(path, text(summary, figures).encode("utf-8"))
    return path


def text(summary: Mapping[str, Any], figures: list[str]) -> str:
    """The report as Markdown; every text from a record is escaped."""
    plain = dict(summary)
    lines = ["# Run report", ""]
    status = plain["exit_status"]
    if status is not None:
        lines += [f"Exit status {status}: {STATUS.get(status, 'stopped')}.", ""]
    for line in heading(plain):
        lines += [escape(line) + ".", ""]
    for sheet in (*sheets(plain), *details(plain)):
        lines += _section(sheet)
    if figures:
        lines += ["## Figures", ""]
        for name in figures:
            title = name.removesuffix(".png").replace("_", " ")
            lines += [f"![{title}](figures/{name})", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def escape(value: str) -> str:
    """One line of literal text: Markdown and HTML signs, pipes and line ends lose their meaning."""
    line = " ".join(printable(value).split())
    return re.sub(r"([\\`*<>\[\]|])", r"\\\1", line)


def _section(sheet: Sheet) -> list[str]:
    lines = [f"## {sheet.title}", ""]
    if sheet.rows:
        lines.append("| " + " | ".join(escape(name) for name in sheet.columns) + " |")
        lines.append("|" + "|".join(" --- " if name in WORDS else " ---: " for name in sheet.columns) + "|")
        lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in sheet.rows]
        lines.append("")
    for warning in sheet.warnings:
        lines += [f"**{escape(warning)}.**", ""]
    for note in sheet.notes:
        lines += [escape(note) + ".", ""]
    return lines


def _cell(value: str) -> str:
    indent = len(value) - len(value.lstrip(" "))
    return "&nbsp;" * indent + escape(value)
