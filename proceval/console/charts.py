"""Plotly figures from the rows that the report draws its own figures from, in the same colours."""

from collections.abc import Sequence
from typing import Any

from proceval.console.audits import FATES
from proceval.console.look import BLUE, FATE_COLOURS, GREY, palette
from proceval.report.plot_data import Row
from proceval.report.plot_shapes import MARKERS
from proceval.report.scores import OFFLINE

SYMBOLS = dict(zip(MARKERS, (
    "circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "triangle-left", "triangle-right", "star",
), strict=True))  # fmt: skip
"""The figures' markers by Plotly's names."""


def colour(names: Sequence[str], name: str) -> str:
    return palette()[names.index(name) % 10]


def symbol(names: Sequence[str], name: str) -> str:
    return SYMBOLS[MARKERS[names.index(name) % len(MARKERS)]]


def leaderboard(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """pass@1 with its 95% interval, a line a contestant: rows have contestant, accuracy, low, high."""
    figure = _figure(70 + 34 * len(rows))
    for row in reversed(rows):
        certain = row["low"] is not None
        figure.add_scatter(
            x=[row["accuracy"]], y=[_cut(row["contestant"])], mode="markers", showlegend=False,
            marker={"color": colour(names, row["contestant"]), "symbol": symbol(names, row["contestant"]), "size": 11},
            error_x={
                "type": "data", "symmetric": False, "visible": certain, "thickness": 2.5, "width": 0,
                "array": [row["high"] - row["accuracy"] if certain else 0],
                "arrayminus": [row["accuracy"] - row["low"] if certain else 0],
            },
            hovertemplate=f"%{{x:.1%}}{_interval(row)}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", title="pass@1, with 95% intervals by prompt")
    return figure


def by_group(rows: Sequence[Row], names: Sequence[str], groups: Sequence[str]) -> Any:
    """pass@1 of every contestant in each group with intervals: rows have contestant, group, accuracy, low, high."""
    figure = _figure(320)
    for name in names:
        mine = [row for row in rows if row["contestant"] == name]
        figure.add_scatter(
            x=[row["group"] for row in mine], y=[row["accuracy"] for row in mine], name=_cut(name), mode="markers",
            marker={"color": colour(names, name), "symbol": symbol(names, name), "size": 10},
            error_y={
                "type": "data", "symmetric": False, "thickness": 2, "width": 0,
                "array": [0 if row["high"] is None else row["high"] - row["accuracy"] for row in mine],
                "arrayminus": [0 if row["low"] is None else row["accuracy"] - row["low"] for row in mine],
            },
            hovertemplate="%{x}: %{y:.1%}",
        )  # fmt: skip
    figure.update_layout(scattermode="group", scattergap=0.7)
    figure.update_xaxes(categoryorder="array", categoryarray=list(groups))
    figure.update_yaxes(range=[-0.03, 1.05], tickformat=".0%", title="pass@1")
    return figure


def curves(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """pass@k against k."""
    figure = _figure(320)
    for name in names:
        mine = [row for row in rows if row["contestant"] == name]
        if mine:
            figure.add_scatter(
                x=[row["k"] for row in mine], y=[row["value"] for row in mine], name=_cut(name), mode="lines+markers",
                line={"color": colour(names, name)}, marker={"symbol": symbol(names, name), "size": 8},
                hovertemplate="k = %{x}: %{y:.1%}",
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
    labels = [f"{_cut(name)}, {group}" if several else group for name, group in lines]
    values = [[share[name, group, outcome]["share"] for outcome in outcomes] for name, group in lines]
    counts = [[share[name, group, outcome]["samples"] for outcome in outcomes] for name, group in lines]
    red, green, blue = (int(palette()[BLUE][at : at + 2], 16) for at in (1, 3, 5))
    figure = _figure(110 + 30 * len(lines))
    figure.add_heatmap(
        z=values, x=[outcome.replace("_", " ") for outcome in outcomes], y=labels, zmin=0, zmax=1, xgap=2, ygap=2,
        customdata=counts,
        colorscale=[[0, f"rgba({red},{green},{blue},0.05)"], [1, f"rgba({red},{green},{blue},1)"]],
        colorbar={"tickformat": ".0%", "thickness": 12, "outlinewidth": 0},
        hovertemplate="%{y}, %{x}: %{z:.1%} (%{customdata} samples)<extra></extra>",
    )  # fmt: skip
    cells = [(x, y, values[y][x]) for y in range(len(lines)) for x in range(len(outcomes)) if values[y][x]]
    for dark in (True, False):  # white on the dark cells; on the others the theme's own colour
        some = [cell for cell in cells if (cell[2] > 0.45) == dark]
        figure.add_scatter(
            x=[outcomes[x].replace("_", " ") for x, _, _ in some], y=[labels[y] for _, y, _ in some], mode="text",
            text=[_share(value) for _, _, value in some], hoverinfo="skip", showlegend=False,
            textfont={"color": "#ffffff"} if dark else {},
        )  # fmt: skip
    figure.update_xaxes(side="bottom", showgrid=False, categoryarray=[o.replace("_", " ") for o in outcomes])
    figure.update_yaxes(autorange="reversed", showgrid=False, categoryarray=labels)
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
    for row in rows:
        name = row["contestant"]
        figure.add_scatter(
            x=[row["cost"]], y=[row["accuracy"]], name=_cut(name), mode="markers",
            marker={"color": colour(names, name), "symbol": symbol(names, name), "size": 11},
            hovertemplate="%{y:.1%} at %{x:,.6~g}",
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
    names = [row["operator"] for row in reversed(rows)]
    for fate in FATES:
        counts = [row[fate] for row in reversed(rows)]
        if any(counts):
            figure.add_bar(
                x=counts, y=names, orientation="h", name=fate, marker_color=palette()[FATE_COLOURS[fate]],
                hovertemplate=f"%{{y}}: %{{x:,}} {fate}<extra></extra>",
            )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.3)
    figure.update_xaxes(title="mutants", tickformat=",d")
    return figure


def notes(summary: Row) -> list[str]:
    """What must stand beside figures of models that are handed the key."""
    return [OFFLINE[name] for name in dict.fromkeys(c["offline"] for c in summary["scores"]["contestants"]) if name]


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


def _cut(name: str) -> str:
    """A name without the signs that Plotly would read as markup, at most 60 of them."""
    plain = name.replace("&", "&amp;").replace("<", "&lt;").replace("$", "&#36;")
    return plain if len(name) <= 60 else plain[:59] + "…"


def _share(value: float) -> str:
    return "" if not value else "<1" if value < 0.01 else f"{100 * value:.0f}"


def _interval(row: Row) -> str:
    return "" if row["low"] is None else f" [{row['low']:.1%}, {row['high']:.1%}]"
