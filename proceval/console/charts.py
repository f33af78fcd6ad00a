"""Plotly figures from the rows that the report draws its own figures from, in the same colours."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from proceval.console.audits import FATES
from proceval.console.look import BLUE, FATE_COLOURS, GREY, apart, palette
from proceval.report.plot_data import Row
from proceval.report.plot_shapes import MARKERS
from proceval.report.run import printable
from proceval.report.scores import OFFLINE

SYMBOLS = dict(zip(MARKERS, (
    "circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "triangle-left", "triangle-right", "star",
), strict=True))  # fmt: skip
"""The figures' markers by Plotly's names."""
MOST_SIGNS = 60
"""Signs of a name that stand beside an axis or in a legend; the whole name appears under the mouse."""
CONTEXT_SIGNS = 10
"""Signs that stay on both sides where what all names share is left out."""


def colour(names: Sequence[str], name: str) -> str:
    return palette()[names.index(name) % 10]


def symbol(names: Sequence[str], name: str) -> str:
    return SYMBOLS[MARKERS[names.index(name) % len(MARKERS)]]


def leaderboard(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """pass@1 with its 95% interval, a line a contestant: rows have contestant, accuracy, low, high."""
    figure = _figure(max(140, 70 + 34 * len(rows)))  # below that its title is drawn over its ticks
    short = labels(names)
    keys = _categories(figure.update_yaxes, [short[row["contestant"]] for row in rows])
    for key, row in zip(keys, rows, strict=True):
        certain = row["low"] is not None
        figure.add_scatter(
            x=[row["accuracy"]], y=[key], mode="markers", showlegend=False, customdata=[_whole(row["contestant"])],
            marker={"color": colour(names, row["contestant"]), "symbol": symbol(names, row["contestant"]), "size": 11},
            error_x={
                "type": "data", "symmetric": False, "visible": certain, "thickness": 2.5, "width": 0,
                "array": [row["high"] - row["accuracy"] if certain else 0],
                "arrayminus": [row["accuracy"] - row["low"] if certain else 0],
            },
            hovertemplate=f"%{{customdata}}<br>%{{x:.1%}}{_interval(row)}<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", title="pass@1, with 95% intervals by prompt")
    return figure


def by_group(rows: Sequence[Row], names: Sequence[str], groups: Sequence[str]) -> Any:
    """pass@1 of every contestant in each group with intervals: rows have contestant, group, accuracy, low, high."""
    figure = _figure(320)
    short, group_text = labels(names), labels(groups)
    keys = dict(zip(groups, _categories(figure.update_xaxes, [group_text[group] for group in groups]), strict=True))
    for name in names:
        mine = [row for row in rows if row["contestant"] == name]
        figure.add_scatter(
            x=[keys[row["group"]] for row in mine], y=[row["accuracy"] for row in mine], name=_safe(short[name]),
            mode="markers", customdata=[_whole(name)] * len(mine),
            marker={"color": colour(names, name), "symbol": symbol(names, name), "size": 10},
            error_y={
                "type": "data", "symmetric": False, "thickness": 2, "width": 0,
                "array": [0 if row["high"] is None else row["high"] - row["accuracy"] for row in mine],
                "arrayminus": [0 if row["low"] is None else row["accuracy"] - row["low"] for row in mine],
            },
            hovertemplate="%{x}: %{y:.1%}<extra>%{customdata}</extra>",
        )  # fmt: skip
    figure.update_layout(scattermode="group", scattergap=0.7)
    figure.update_yaxes(range=[-0.03, 1.05], tickformat=".0%", title="pass@1")
    return figure


def curves(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """pass@k against k."""
    figure = _figure(320)
    short = labels(names)
    for name in names:
        mine = [row for row in rows if row["contestant"] == name]
        if mine:
            figure.add_scatter(
                x=[row["k"] for row in mine], y=[row["value"] for row in mine], name=_safe(short[name]),
                mode="lines+markers", customdata=[_whole(name)] * len(mine),
                line={"color": colour(names, name)}, marker={"symbol": symbol(names, name), "size": 8},
                hovertemplate="k = %{x}: %{y:.1%}<extra>%{customdata}</extra>",
            )  # fmt: skip
    figure.update_xaxes(title="k, samples drawn", tickformat="d", dtick=1 if len(rows) <= 12 * len(names) else None)
    figure.update_yaxes(range=[-0.03, 1.05], tickformat=".0%", title="pass@k")
    return figure


def heat(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """Share of each outcome in each contestant and group: rows have contestant, group, outcome, samples, share."""
    outcomes = list(dict.fromkeys(row["outcome"] for row in rows))
    lines = list(dict.fromkeys((row["contestant"], row["group"]) for row in rows))
    share = {(row["contestant"], row["group"], row["outcome"]): row for row in rows}
    several = len(names) > 1
    short, group_text = labels(names), labels(list(dict.fromkeys(group for _, group in lines)))
    texts = apart([f"{short[name]}, {group_text[group]}" if several else group_text[group] for name, group in lines])
    wholes = [f"{_whole(name)},<br>{_whole(group)}" if several else _whole(group) for name, group in lines]
    values = [[share[name, group, outcome]["share"] for outcome in outcomes] for name, group in lines]
    told = [
        [[share[name, group, outcome]["samples"], whole] for outcome in outcomes]
        for (name, group), whole in zip(lines, wholes, strict=True)
    ]
    red, green, blue = (int(palette()[BLUE][at : at + 2], 16) for at in (1, 3, 5))
    figure = _figure(110 + 30 * len(lines))
    keys = _categories(figure.update_yaxes, texts)
    figure.add_heatmap(
        z=values, x=[outcome.replace("_", " ") for outcome in outcomes], y=keys, zmin=0, zmax=1, xgap=2, ygap=2,
        customdata=told,
        colorscale=[[0, f"rgba({red},{green},{blue},0.05)"], [1, f"rgba({red},{green},{blue},1)"]],
        colorbar={"tickformat": ".0%", "thickness": 12, "outlinewidth": 0},
        hovertemplate="%{customdata[1]}<br>%{x}: %{z:.1%} (%{customdata[0]} samples)<extra></extra>",
    )  # fmt: skip
    cells = [(x, y, values[y][x]) for y in range(len(lines)) for x in range(len(outcomes)) if values[y][x]]
    for dark in (True, False):  # white on the dark cells; on the others the theme's own colour
        some = [cell for cell in cells if (cell[2] > 0.45) == dark]
        figure.add_scatter(
            x=[outcomes[x].replace("_", " ") for x, _, _ in some], y=[keys[y] for _, y, _ in some], mode="text",
            text=[_share(value) for _, _, value in some], hoverinfo="skip", showlegend=False,
            textfont={"color": "#ffffff"} if dark else {},
        )  # fmt: skip
    figure.update_xaxes(side="bottom", showgrid=False, categoryarray=[o.replace("_", " ") for o in outcomes])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure


def frontier(rows: Sequence[Row], names: Sequence[str], label: str) -> Any:
    """Accuracy against cost; the steps join the contestants that no other beats on both."""
    figure = _figure(340)
    best = [row for row in rows if row["best"]]
    if best:
        furthest = max(row["cost"] for row in rows) * 1.1
        figure.add_scatter(
            x=[*(row["cost"] for row in best), furthest], y=[*(row["accuracy"] for row in best), best[-1]["accuracy"]],
            mode="lines", line={"shape": "hv", "color": palette()[GREY], "width": 1.3}, name="frontier", hoverinfo="skip",
        )  # fmt: skip
    short = labels(names)
    for row in rows:
        name = row["contestant"]
        figure.add_scatter(
            x=[row["cost"]], y=[row["accuracy"]], name=_safe(short[name]), mode="markers", customdata=[_whole(name)],
            marker={"color": colour(names, name), "symbol": symbol(names, name), "size": 11},
            hovertemplate="%{y:.1%} at %{x:,.6~g}<extra>%{customdata}</extra>",
        )  # fmt: skip
    costs = [row["cost"] for row in rows]
    if costs and min(costs) > 0 and max(costs) > 20 * min(costs):
        figure.update_xaxes(type="log")
    else:
        figure.update_xaxes(rangemode="tozero")
    figure.update_xaxes(title=label)
    figure.update_yaxes(range=[-0.03, 1.05], tickformat=".0%", title="pass@1")
    return figure


def operators(rows: Sequence[Row]) -> Any:
    """Mutants of each operator, one bar, split by fate."""
    figure = _figure(90 + 26 * len(rows))
    short = labels([row["operator"] for row in rows])
    keys = _categories(figure.update_yaxes, [short[row["operator"]] for row in rows])
    for fate in FATES:
        counts = [row[fate] for row in rows]
        if any(counts):
            figure.add_bar(
                x=counts, y=keys, orientation="h", name=fate, marker_color=palette()[FATE_COLOURS[fate]],
                hovertemplate=f"%{{y}}: %{{x:,}} {fate}<extra></extra>",
            )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.3)
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title="mutants", tickformat=",d")
    return figure


def notes(summary: Row) -> list[str]:
    """What must stand beside figures of models that are handed the key."""
    offline = (contestant["offline"] for contestant in summary["scores"]["contestants"])
    return list(dict.fromkeys(OFFLINE[name] for name in offline if name))


def _figure(height: int) -> Any:
    from plotly import graph_objects

    figure = graph_objects.Figure()
    figure.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": 12, "b": 10}, hoverlabel={"namelength": -1},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    figure.update_xaxes(automargin=True, zeroline=False)
    figure.update_yaxes(automargin=True, zeroline=False)
    return figure


def labels(names: Sequence[str]) -> dict[str, str]:
    """A short text for every name, as distinct as the names are.

    Long names lose their middle; where two would then look the same, what all of them share; else they are numbered.
    """
    plain = [" ".join(printable(name).split()) for name in names]
    tries = [_cut(text) for text in plain], [_cut(text) for text in _bare(plain)]
    texts = next((texts for texts in tries if len(set(texts)) == len(texts)), tries[0])
    return dict(zip(names, apart(texts), strict=True))


def _cut(text: str) -> str:
    half = MOST_SIGNS // 2
    return text if len(text) <= MOST_SIGNS else f"{text[:half]}…{text[1 - half :]}"


def _bare(texts: Sequence[str]) -> list[str]:
    """The texts without what all begin and end with, but for a few signs."""
    shared = len(os.path.commonprefix(list(texts)))
    start = max(0, shared - CONTEXT_SIGNS)
    end = max(0, len(os.path.commonprefix([text[shared:][::-1] for text in texts])) - CONTEXT_SIGNS)
    return [f"{'…' if start else ''}{text[start : len(text) - end]}{'…' if end else ''}" for text in texts]


def _categories(update: Callable[..., Any], texts: Sequence[str]) -> list[str]:
    """Give an axis a place for each text and return the places: what tells two apart is never a text that was cut."""
    keys = [str(number) for number in range(len(texts))]
    update(
        type="category", categoryorder="array", categoryarray=keys, tickmode="array", tickvals=keys,
        ticktext=[_safe(text) for text in texts],
    )  # fmt: skip
    return keys


def _safe(text: str) -> str:
    """A text without the signs that Plotly would read as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("$", "&#36;")


def _whole(name: str) -> str:
    """A whole name for the box under the mouse, a part a line."""
    return _safe(printable(name)).replace(", ", ",<br>")


def _share(value: float) -> str:
    return "" if not value else "<1" if value < 0.01 else f"{100 * value:.0f}"


def _interval(row: Row) -> str:
    return "" if row["low"] is None else f" [{row['low']:.1%}, {row['high']:.1%}]"
