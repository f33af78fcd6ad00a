"""Figures are tested by their data; drawing for what a reader needs: all files, readable, repeatable, honest."""

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proceval.report import plot_data, plots, summary
from proceval.report.plot_shapes import Look
from proceval.report.run import READ, Run
from tests.report import builder

FRONTIER_CASES = [
    # (accuracy, tokens) of each model, which of them nobody beats
    ([(0.5, 100), (0.9, 400), (0.7, 500)], [True, True, False]),
    ([(0.5, 100), (0.5, 100)], [True, True]),  # equals do not beat each other
    ([(0.5, 100), (0.5, 99)], [False, True]),
    ([(0.5, 100), (0.6, 100)], [False, True]),
]


def summarised(folder: Path) -> dict[str, Any]:
    return summary.summarise(Run(folder), ks=[1, 3, 5])


def enough(folder: Path) -> Path:
    """The run with ten copies of each problem, so that guess floors exist, and every cost known."""
    many = [p.model_copy(update={"id": f"{p.id}-{i}"}) for p in builder.problems() for i in range(10)]
    builder.write_lines(folder / "dataset.jsonl", [*builder.problems(), *many])
    costs = {"mock": 0.001, "lab/large:1b": 0.002}
    tokens = {"prompt_tokens": 100, "completion_tokens": 50}
    known = [v.model_copy(update=tokens | {"cost_usd": costs[v.model]}) for v in builder.verdicts()]
    builder.write_lines(folder / "verdicts.jsonl", known)
    return folder


def test_data_of_every_figure(run_folder: Path, golden: Callable[[str, str], None]) -> None:
    run = Run(enough(run_folder))
    found = summarised(run_folder)
    data = {name: plot.rows(run, found) for name, plot in plots.PLOTS.items()}
    assert all(data.values())
    blocks = []
    for name, rows in data.items():
        blocks.append(f'"{name}": [\n' + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]")
    golden("plot_data.json", "{\n" + ",\n".join(blocks) + "\n}\n")


@pytest.mark.parametrize(("models", "best"), FRONTIER_CASES)
def test_the_frontier_is_who_nobody_beats(models: list[tuple[float, int]], best: list[bool]) -> None:
    def contestant(number: int, accuracy: float, tokens: int) -> dict[str, Any]:
        totals = {"prompt_tokens": {"total": tokens}, "completion_tokens": {"total": 0}, "cost_usd": {"total": None}}
        return {"name": str(number), "overall": {"accuracy": accuracy, "samples": 1, **totals}}

    found = {"scores": {"contestants": [contestant(i, *model) for i, model in enumerate(models)]}}
    rows = {row["contestant"]: row["best"] for row in plot_data.frontier(found, "tokens")}
    assert [rows[str(i)] for i in range(len(models))] == best
    assert plot_data.frontier(found, "usd") == []  # unknown cost has no place


def test_every_figure_is_drawn_and_again_alike(run_folder: Path) -> None:
    run = enough(run_folder)
    figures = plots.draw(run, summarised(run))
    assert [(figure.name, figure.reason) for figure in figures] == [(name, None) for name in plots.PLOTS]
    first = {file: (run / file).read_bytes() for figure in figures for file in figure.files}
    assert len(first) == 2 * len(plots.PLOTS)
    for file, content in first.items():
        if file.endswith("png"):
            assert content.startswith(b"\x89PNG"), file
            assert len(content) > 5000, file
        else:
            assert ElementTree.fromstring(content).tag.endswith("svg"), file
    found = summarised(run)
    for name in ("accuracy_by_tier", "failures"):
        again = plots.paint(plots.PLOTS[name], plots.PLOTS[name].rows(Run(run), found), found)
        assert again == (first[f"figures/{name}.png"], first[f"figures/{name}.svg"])


def test_what_has_no_data_is_not_drawn_and_an_old_picture_of_it_goes(tmp_path: Path) -> None:
    run = builder.build(tmp_path, without=["verdicts.jsonl", "records.jsonl"])
    old = run / "figures" / "failures.png"
    old.parent.mkdir()
    old.write_bytes(b"of an earlier run")
    figures = {figure.name: figure for figure in plots.draw(run, summarised(run))}
    assert not old.exists()
    assert figures["failures"].reason == "no verdict"
    assert [name for name, figure in figures.items() if figure.reason is None] == ["proof_work"]
    assert sorted(p.name for p in (run / "figures").iterdir()) == ["proof_work.png", "proof_work.svg"]


def test_an_empty_folder_draws_nothing(tmp_path: Path) -> None:
    run = builder.build(tmp_path, without=list(READ))
    assert all(figure.reason for figure in plots.draw(run, summarised(run)))
    assert not (run / "figures").exists()


def test_a_model_that_took_no_time_has_no_latency_figure(run_folder: Path) -> None:
    instant = [v.model_copy(update={"latency_s": 0.0}) for v in builder.verdicts()]
    builder.write_lines(run_folder / "verdicts.jsonl", instant)
    assert plots.PLOTS["latency"].rows(Run(run_folder), summarised(run_folder)) == []


def test_drawing_leaves_the_readers_own_matplotlib_alone(run_folder: Path) -> None:
    import matplotlib
    import seaborn  # noqa: F401 - importing it may set things; drawing must not

    before = dict(matplotlib.rcParams)
    found = summarised(run_folder)
    plot = plots.PLOTS["accuracy_by_tier"]
    plots.paint(plot, plot.rows(Run(run_folder), found), found)
    assert dict(matplotlib.rcParams) == before


def test_colours_follow_the_contestant_and_stay_apart(run_folder: Path) -> None:
    look = Look.of(summarised(run_folder))
    assert look.palette()["mock"] != look.palette()["lab/large:1b"]
    assert look.marker("mock") != look.marker("lab/large:1b")  # colour is never the only difference


def test_pictures_say_that_mock_is_offline(run_folder: Path) -> None:
    found = summarised(run_folder)
    rows = plot_data.accuracy_by_tier(found)
    assert "no claim about difficulty" in plots._footnote(rows, found)
    assert plots._footnote([row for row in rows if row["contestant"] != "mock"], found) == ""


@pytest.mark.parametrize(("field", "name"), [("cost_usd", "accuracy_against_cost"), ("latency_s", "latency")])
def test_what_is_zero_for_everybody_is_no_figure(run_folder: Path, field: str, name: str) -> None:
    run = enough(run_folder)
    for dear in (0.0, 0.5):
        rows = [v.model_copy(update={field: dear if v.model == "mock" else 0.0}) for v in builder.verdicts()]
        builder.write_lines(run / "verdicts.jsonl", rows)
        assert bool(plots.PLOTS[name].rows(Run(run), summarised(run))) == (dear > 0)
