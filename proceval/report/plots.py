"""Figures of a run as PNG and SVG under figures/, in one colour-blind-safe style; what has no data is not drawn."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proceval.report import plot_data, plot_shapes
from proceval.report.evidence import Plain
from proceval.report.plot_data import Row
from proceval.report.run import Run, replace
from proceval.report.scores import OFFLINE

STYLE = Path(__file__).with_name("proceval.mplstyle")


@dataclass(frozen=True)
class Figure:
    """One figure of the list: drawn into `files`, or not drawn for `reason`."""

    name: str
    files: tuple[str, ...]
    """Paths below the run folder."""
    reason: str | None


@dataclass(frozen=True)
class _Plot:
    rows: Callable[[Run, Plain], list[Row]]
    shape: Callable[[Any, list[Row], "plot_shapes.Look"], None]
    otherwise: str
    """Why it is not drawn when there are too few rows."""
    fewest: int = 1
    size: tuple[float, float] = (7.0, 4.2)


PLOTS: dict[str, _Plot] = {
    "accuracy_by_tier": _Plot(
        lambda run, summary: plot_data.accuracy_by_tier(summary), plot_shapes.accuracy_by_tier, "no scored sample"
    ),
    "pass_at_k": _Plot(
        lambda run, summary: plot_data.pass_curves(summary),
        plot_shapes.pass_curves,
        "no model with at least two scored samples of every problem",
    ),
    "failures": _Plot(lambda run, summary: plot_data.failures(summary), plot_shapes.failures, "no verdict"),
    "accuracy_against_tokens": _Plot(
        lambda run, summary: plot_data.frontier(summary, "tokens"),
        plot_shapes.frontier("tokens a sample"),
        "fewer than two models whose tokens are all known",
        fewest=2,
    ),
    "accuracy_against_cost": _Plot(
        lambda run, summary: _some(plot_data.frontier(summary, "usd"), "cost"),
        plot_shapes.frontier("US dollars a sample"),
        "fewer than two models whose costs are all known, or none of them has a price",
        fewest=2,
    ),
    "mutation_score_and_accuracy": _Plot(
        lambda run, summary: plot_data.mutation_and_accuracy(summary),
        plot_shapes.mutation_and_accuracy,
        "no family with both an audit and a scored sample",
        size=(9.0, 4.2),
    ),
    "guess_floor": _Plot(
        lambda run, summary: plot_data.guess_floors(summary),
        plot_shapes.guess_floors,
        "no family with enough problems for a guess floor",
    ),
    "latency": _Plot(
        lambda run, summary: _some(plot_data.distribution(run.verdicts(), "latency_s"), "value"),
        plot_shapes.distribution("seconds a sample"),
        "no sample that took measurable time",
    ),
    "tokens": _Plot(
        lambda run, summary: plot_data.distribution(run.verdicts(), "tokens"),
        plot_shapes.distribution("completion tokens a sample"),
        "no sample whose tokens are known",
    ),
    "proof_work": _Plot(
        lambda run, summary: plot_data.proof_work(run.certificates(), run.problems()),
        plot_shapes.proof_work,
        "no certificate with a resource count",
    ),
}


def draw(folder: Path, summary: Mapping[str, Any]) -> list[Figure]:
    """Draw every figure that has data, replacing earlier ones, and take away earlier ones that now have none."""
    return draw_run(Run(Path(folder)), dict(summary))


def draw_run(run: Run, plain: Plain) -> list[Figure]:
    """The same from any view on records; figures go below `run.path`."""
    figures = []
    for name, plot in PLOTS.items():
        rows = plot.rows(run, plain)
        files = tuple(f"figures/{name}.{kind}" for kind in ("png", "svg"))
        if len(rows) < plot.fewest:
            for file in files:
                (run.path / file).unlink(missing_ok=True)
            figures.append(Figure(name, (), plot.otherwise))
            continue
        for file, content in zip(files, paint(plot, rows, plain), strict=True):
            replace(run.path / file, content)
        figures.append(Figure(name, files, None))
    return figures


def paint(plot: _Plot, rows: list[Row], summary: Plain) -> tuple[bytes, bytes]:
    """PNG and SVG of one figure; matplotlib's global state stays as it was, so notebooks keep their own."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(fname=STYLE):
        canvas = Canvas(figsize=plot.size)
        FigureCanvasAgg(canvas)
        plot.shape(canvas, rows, plot_shapes.Look.of(summary))
        note = _footnote(rows, summary)
        if note:
            canvas.text(0.01, -0.03, note, fontsize=8, color="#666666", ha="left", va="top")
        canvas.draw_without_rendering()
        canvas.set_layout_engine("none")  # laid out once: both formats are cut to the same box
        box = canvas.get_tightbbox().padded(0.15)
        png, svg = io.BytesIO(), io.BytesIO()
        canvas.savefig(png, format="png", bbox_inches=box, metadata={"Software": None})
        canvas.savefig(svg, format="svg", bbox_inches=box, metadata={"Date": None})
    return png.getvalue(), svg.getvalue()


def _footnote(rows: list[Row], summary: Plain) -> str:
    """What must be said of offline models, below every figure that shows one."""
    shown = {row.get("contestant") for row in rows}
    contestants = (summary["scores"] or {"contestants": []})["contestants"]
    offline = {c["offline"]: OFFLINE[c["offline"]] for c in contestants if c["offline"] and c["name"] in shown}
    return "\n".join(offline.values())


def _some(rows: list[Row], column: str) -> list[Row]:
    """The rows, unless every one is zero there: offline models have no latency and no price to show."""
    return rows if any(row[column] > 0 for row in rows) else []
