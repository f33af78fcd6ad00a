"""How each figure looks: functions that put rows of plot_data on a matplotlib figure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from proceval.report.evidence import Plain, tier_order
from proceval.report.plot_data import Row

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "*")
GREY = "#777777"


@dataclass(frozen=True)
class Look:
    """Colour and marker of each contestant, the same in every figure of a run."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, summary: Plain) -> "Look":
        return cls(tuple(c["name"] for c in (summary["scores"] or {"contestants": []})["contestants"]))

    def colour(self, name: str) -> str:
        return f"C{self.names.index(name) % 10}"

    def marker(self, name: str) -> str:
        return MARKERS[self.names.index(name) % len(MARKERS)]

    def palette(self) -> dict[str, str]:
        from matplotlib.colors import to_hex

        return {name: to_hex(self.colour(name)) for name in self.names}


def accuracy_by_tier(figure: Any, rows: list[Row], look: Look) -> None:
    """Points with 95% intervals side by side in each tier; a grey tick where a guess would stand."""
    axes = figure.subplots()
    tiers, names = _tiers(rows), _present(rows, look)
    for number, name in enumerate(names):
        shift = (number - (len(names) - 1) / 2) * min(0.6 / len(names), 0.2)
        mine = [row for row in rows if row["contestant"] == name]
        x = [tiers.index(row["tier"]) + shift for row in mine]
        y = [row["accuracy"] for row in mine]
        certain = [(a, r) for a, r in zip(x, mine, strict=True) if r["low"] is not None]
        axes.vlines(
            [a for a, _ in certain], [r["low"] for _, r in certain], [r["high"] for _, r in certain],
            color=look.colour(name), linewidth=2, alpha=0.7,
        )  # fmt: skip
        axes.plot(x, y, look.marker(name), color=look.colour(name), label=name, linestyle="none")
    floors = {row["tier"]: row["floor"] for row in rows if row["floor"] is not None}
    for number, (tier, level) in enumerate(floors.items()):
        place = tiers.index(tier)
        label = "best guess" if number == 0 else None
        axes.hlines(level, place - 0.4, place + 0.4, color=GREY, linestyle=":", label=label)
    axes.set_xticks(range(len(tiers)), tiers)
    axes.set_xlim(-0.5, len(tiers) - 0.5)
    axes.grid(axis="x", visible=False)
    _share(axes, "pass@1")
    known = any(row["low"] is not None for row in rows)
    axes.set_title("Accuracy by tier" + (", with 95% intervals" if known else ""))
    _legend(axes)


def pass_curves(figure: Any, rows: list[Row], look: Look) -> None:
    axes = figure.subplots()
    for name in _present(rows, look):
        mine = [row for row in rows if row["contestant"] == name]
        axes.plot(
            [row["k"] for row in mine], [row["value"] for row in mine], marker=look.marker(name),
            color=look.colour(name), label=name,
        )  # fmt: skip
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("k, samples drawn")
    _share(axes, "pass@k")
    axes.set_title("Chance that one of k samples passes")
    _legend(axes)


def failures(figure: Any, rows: list[Row], look: Look) -> None:
    """Share of outcomes in every model and tier; the label of a cell is its share in percent."""
    import seaborn

    names = _present(rows, look)
    tiers, outcomes = _tiers(rows), list(dict.fromkeys(row["outcome"] for row in rows))
    lines = [(n, t) for n in names for t in tiers if any(r["contestant"] == n and r["tier"] == t for r in rows)]
    share = {(row["contestant"], row["tier"], row["outcome"]): row["share"] for row in rows}
    table = [[100 * share[name, tier, outcome] for outcome in outcomes] for name, tier in lines]
    labels = [[("<1" if value < 1 else f"{value:.0f}") if value else "" for value in row] for row in table]
    blues = seaborn.light_palette("#0173b2", as_cmap=True)
    figure.set_size_inches(max(7.0, 2.6 + 0.75 * len(outcomes)), 2.0 + 0.42 * len(lines))
    axes = figure.subplots()
    seaborn.heatmap(
        table, ax=axes, annot=labels, fmt="", cmap=blues, vmin=0, vmax=100, linewidths=1, linecolor="white",
        cbar_kws={"label": "% of samples"}, annot_kws={"fontsize": 10},
    )  # fmt: skip
    axes.set_xticklabels([outcome.replace("_", " ") for outcome in outcomes], rotation=40, ha="right")
    for number in range(1, len(lines)):
        if lines[number][0] != lines[number - 1][0]:
            axes.axhline(number, color="white", linewidth=6)
    several = len(names) > 1
    axes.set_yticklabels([f"{name}, {tier}" if several else tier for name, tier in lines], rotation=0)
    axes.set_title("Outcomes by tier" + ("" if several else f": {names[0]}"))


def frontier(label: str) -> Callable[[Any, list[Row], Look], None]:
    """Accuracy against cost; the line joins the models that no other beats on both."""

    def shape(figure: Any, rows: list[Row], look: Look) -> None:
        axes = figure.subplots()
        costs = [row["cost"] for row in rows]
        best = [(row["cost"], row["accuracy"]) for row in rows if row["best"]]
        best.append((max(costs) * 1.1, best[-1][1]))
        x, y = zip(*best, strict=True)
        axes.plot(x, y, drawstyle="steps-post", color=GREY, linewidth=1.2, label="frontier", zorder=1)
        for row in sorted(rows, key=lambda row: look.names.index(row["contestant"])):
            name = row["contestant"]
            style = {"color": look.colour(name), "label": name, "linestyle": "none"}
            axes.plot(row["cost"], row["accuracy"], look.marker(name), **style)
        if min(costs) > 0 and max(costs) > 20 * min(costs):
            axes.set_xscale("log")
        else:
            axes.set_xlim(0, max(costs) * 1.1 or 1)
        axes.set_xlabel(label)
        _share(axes, "pass@1")
        axes.set_title(f"Accuracy against {label}")
        _legend(axes)

    return shape


def mutation_and_accuracy(figure: Any, rows: list[Row], look: Look) -> None:
    """Left: the whole suite, 1 by the gate unless problems were withheld. Right: what the main test kills alone."""
    panels = figure.subplots(1, 2, sharey=True)
    titles = {"score": "all tests of a problem", "main_score": "its main test alone"}
    for axes, (column, title) in zip(panels, titles.items(), strict=True):
        for name in _present(rows, look):
            mine = [row for row in rows if row["contestant"] == name]
            axes.plot(
                [row[column] for row in mine], [row["accuracy"] for row in mine], look.marker(name),
                color=look.colour(name), label=name, linestyle="none", alpha=0.85,
            )  # fmt: skip
        axes.set_title(title, fontsize=11, fontweight="normal")
        axes.set_xlabel("share of mutants killed")
        _percent(axes.xaxis)
        lowest = min(row[column] for row in rows)
        axes.set_xlim(min(lowest, 0.9) - 0.05, 1.02)
        axes.locator_params(axis="x", nbins=5, steps=[1, 2, 5, 10])
    _share(panels[0], "pass@1")
    title = "Mutation score and accuracy, a point for each family"
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    _legend(panels[1])


def guess_floors(figure: Any, rows: list[Row], look: Look) -> None:
    """Bars: what the best guess scores in each family; points: what the models scored."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    figure.set_size_inches(7.0, 1.8 + 0.42 * len(families))
    axes = figure.subplots()
    levels = {row["family"]: row["floor"] for row in rows}
    widths = [levels[family] for family in families]
    axes.barh(range(len(families)), widths, color="#cccccc", height=0.6, label="best guess")
    for name in _present(rows, look):
        mine = [row for row in rows if row["contestant"] == name and row["accuracy"] is not None]
        axes.plot(
            [row["accuracy"] for row in mine], [families.index(row["family"]) for row in mine], look.marker(name),
            color=look.colour(name), label=name, linestyle="none",
        )  # fmt: skip
    axes.set_yticks(range(len(families)), families)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlim(-0.03, 1.03)
    _percent(axes.xaxis)
    axes.set_xlabel("share right")
    axes.set_title("Accuracy beside the guess floor")
    _legend(axes)


def distribution(label: str) -> Callable[[Any, list[Row], Look], None]:
    """Boxes (median, quartiles, whiskers to the 5th and 95th percentile) by tier and contestant."""

    def shape(figure: Any, rows: list[Row], look: Look) -> None:
        _boxes(figure.subplots(), rows, label, hue="contestant", order=_present(rows, look), palette=look.palette())

    return shape


def proof_work(figure: Any, rows: list[Row], look: Look) -> None:
    families = list(dict.fromkeys(row["family"] for row in rows))
    _boxes(figure.subplots(), rows, "solver work of a proof", hue="family", order=families, palette="colorblind")


def _boxes(axes: Any, rows: list[Row], label: str, *, hue: str, order: list[str], palette: Any) -> None:
    import seaborn

    columns = {key: [row[key] for row in rows] for key in ("tier", "value", hue)}
    seaborn.boxplot(
        columns, x="tier", y="value", hue=hue, order=_tiers(rows), hue_order=order, ax=axes, palette=palette,
        whis=(5, 95), width=0.7, gap=0.15, fliersize=2, linewidth=1, saturation=1, linecolor="#333333",
    )  # fmt: skip
    values = columns["value"]
    if min(values) > 0 and max(values) > 50 * min(values):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("")
    axes.set_ylabel(label)
    axes.set_title(label.capitalize())
    _legend(axes)


def _present(rows: Iterable[Row], look: Look) -> list[str]:
    shown = {row["contestant"] for row in rows}
    return [name for name in look.names if name in shown]


def _tiers(rows: Iterable[Row]) -> list[str]:
    return sorted({row["tier"] for row in rows}, key=tier_order)


def _share(axes: Any, label: str) -> None:
    axes.set_ylim(-0.03, 1.03)
    axes.set_ylabel(label)
    _percent(axes.yaxis)


def _percent(axis: Any) -> None:
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _legend(axes: Any) -> None:
    """Beside the axes, where it hides no point."""
    handles, labels = axes.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    if unique:
        axes.legend(unique.values(), unique.keys(), loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
