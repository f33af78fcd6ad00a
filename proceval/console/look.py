"""One look for every page: the colours of the report's figures, and texts of others shown as text and nothing else."""

import difflib
import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from itertools import zip_longest
from typing import Any

from proceval.report.plots import STYLE
from proceval.report.run import printable

NOTHING = "–"
MOST_SHOWN = 200_000
"""Characters of one text that a page shows."""
CONTEXT = 3
"""Equal lines that are shown on both sides of a change."""

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&])")


@lru_cache(maxsize=1)
def palette() -> tuple[str, ...]:
    """The colours of the report's figures, as #rrggbb."""
    cycle = re.search(r"^axes\.prop_cycle:.*?\[(.*)\]", STYLE.read_text(encoding="utf-8"), re.MULTILINE)
    return tuple(f"#{colour}" for colour in re.findall(r"'([0-9a-f]{6})'", cycle[1] if cycle else ""))


BLUE, ORANGE, GREEN, RED, PINK, BROWN, LIGHT, GREY, YELLOW, SKY = range(10)
"""Places of the colours in the palette."""

FATE_COLOURS = {
    "killed": GREEN, "timeout": SKY, "survived": RED, "equivalent": GREY, "duplicate": LIGHT, "broken": YELLOW,
}  # fmt: skip


def theme() -> dict[str, Any]:
    """Options of the server's theme, light and dark."""
    colours = list(palette())
    return {
        "primaryColor": colours[BLUE],
        "chartCategoricalColors": colours,
        "baseRadius": "0.4rem",
        "showWidgetBorder": True,
        "headingFontSizes": ["2rem", "1.5rem", "1.2rem", "1.05rem", "1rem", "0.9rem"],
        "paddingTop": "1rem",
        "light.backgroundColor": "#ffffff",
        "light.secondaryBackgroundColor": "#f4f6f8",
        "light.textColor": "#222222",
        "light.borderColor": "#dde1e6",
        "light.linkColor": colours[BLUE],
        "dark.backgroundColor": "#14171a",
        "dark.secondaryBackgroundColor": "#1e2226",
        "dark.textColor": "#e8eaed",
        "dark.borderColor": "#363c42",
        "dark.primaryColor": colours[SKY],
        "dark.linkColor": colours[SKY],
    }


def literal(text: object) -> str:
    """A text for a place that reads Markdown, such that every character shows as itself."""
    return _MARKS.sub(r"\\\1", printable(str(text)).replace("\n", " "))


def shown(text: str) -> str:
    """A text of unknown origin for a place that shows it as it is: controls made visible, very long ones cut."""
    if len(text) > MOST_SHOWN:
        text = f"{text[:MOST_SHOWN]}\n... {len(text) - MOST_SHOWN:,} more characters"
    return printable(text)


def apart(texts: Sequence[str]) -> list[str]:
    """The texts, all with their numbers in front where two of them would look the same."""
    looks = {" ".join(text.split()) for text in texts}
    return list(texts) if len(looks) == len(texts) else [f"{n}. {text}" for n, text in enumerate(texts, 1)]


def percent(share: float | None, digits: int = 1) -> str:
    return NOTHING if share is None else f"{100 * share:.{digits}f}%"


def number(value: float | int | None, unit: str = "", digits: int = 0) -> str:
    return NOTHING if value is None else f"{value:,.{digits}f}{unit}"


def side_by_side(left: str, right: str, titles: tuple[str, str]) -> str:
    """Two texts as an HTML table, line by line, changed lines marked by sign and colour; the texts are escaped.

    Of a long stretch without a change only both ends are shown.
    """
    old, new = shown(left).splitlines(), shown(right).splitlines()
    rows = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        pairs = list(zip_longest(
            ((n + 1, old[n]) for n in range(a, b)), ((n + 1, new[n]) for n in range(c, d)), fillvalue=None
        ))  # fmt: skip
        if tag == "equal" and len(pairs) > 2 * CONTEXT + 1:
            hidden = f'<tr><td class="fold" colspan="6">{len(pairs) - 2 * CONTEXT} equal lines</td></tr>'
            rows += [*map(_row, pairs[:CONTEXT]), hidden, *map(_row, pairs[-CONTEXT:])]
        else:
            rows += [_row(pair, changed=tag != "equal") for pair in pairs]
    heads = "".join(f'<th colspan="3">{escape(printable(title))}</th>' for title in titles)
    widths = '<col class="n"><col class="m"><col>' * 2
    return (
        f'<table class="sides"><colgroup>{widths}</colgroup><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


Line = tuple[int, str]


def _row(pair: tuple[Line | None, Line | None], *, changed: bool = False) -> str:
    return f"<tr>{_cells(pair[0], 'del', changed)}{_cells(pair[1], 'ins', changed)}</tr>"


def _cells(line: Line | None, kind: str, changed: bool) -> str:
    if line is None:
        return '<td class="n"></td><td class="m"></td><td></td>'
    sign = {"del": "−", "ins": "+"}[kind] if changed else ""
    style = f' class="{kind}"' if changed else ""
    return f'<td class="n">{line[0]}</td><td class="m">{sign}</td><td{style}><code>{escape(line[1])}</code></td>'


def css() -> str:
    """Style of what the pages draw themselves; the colours are readable on light and dark ground."""
    red, green = palette()[RED], palette()[GREEN]
    return f"""<style>
    table.sides {{ width: 100%; border-collapse: collapse; font-size: 0.8rem; table-layout: fixed; border: 0; }}
    table.sides col.n {{ width: 2.6rem; }}
    table.sides col.m {{ width: 1.2rem; }}
    table.sides th {{ text-align: left; font-weight: 600; padding: 0.2rem 0.4rem; border: 0; opacity: 0.75; }}
    table.sides td {{ border: 0; padding: 0 0.4rem; vertical-align: top; line-height: 1.45; }}
    table.sides td.n {{ text-align: right; opacity: 0.45; user-select: none; }}
    table.sides td.m {{ padding: 0; text-align: center; user-select: none; }}
    table.sides td.fold {{ text-align: center; opacity: 0.55; font-size: 0.75rem; }}
    table.sides td code {{ white-space: pre-wrap; overflow-wrap: anywhere; background: none; color: inherit;
                           padding: 0; font-size: inherit; }}
    table.sides td.del {{ background: {red}2e; }}
    table.sides td.ins {{ background: {green}2e; }}
    </style>"""
