"""The Runs page: who scored what, at which cost, how the failures happened, and one sample whole."""

import shlex
from typing import Any

import streamlit as st

from proceval.console import charts, columns, lines, runs
from proceval.console.look import literal, number, percent
from proceval.console.places import Place
from proceval.console.tabs import sample, shelf, show
from proceval.report import plot_data
from proceval.report.score_sheets import pass_at
from proceval.report.scores import outcome_owner

AXES = {"tier": "tier", "family": "family", "domain": "domain"}
FILTERS = {"model": "Model", "outcome": "Outcome", "fault": "Fault of", "family": "Family", "difficulty": "Tier"}
PLAIN = {"displayModeBar": False}


def page() -> None:
    place = shelf.opened()
    st.title("Runs")
    table, summary = shelf.sample_table(place), shelf.summary(place)
    if summary is None:
        _unjudged(place)
        return
    notes = charts.notes(summary)
    if notes:
        st.warning("  \n".join(map(literal, notes)))
    names = runs.names(summary)
    scores, samples = st.tabs(["Scores", "Samples"])
    with scores:
        _leaderboard(summary, names)
        _curves(summary, names)
        _heat(summary, names)
        _frontier(summary, names)
    with samples:
        _samples(place, table)


def _unjudged(place: Place) -> None:
    """No verdict: either nothing was asked, or answers wait for their judgement."""
    waiting = sum(lines.answers(folder / "records.jsonl") for folder in place.folders)
    if waiting:
        many = f"{waiting:,} answers are recorded and none is judged yet"
        said = "1 answer is recorded and not judged yet" if waiting == 1 else many
        st.info(f"{said}: the run goes on, or was interrupted.")
        show.empty("Resume it with the command that started it, or judge what is there:",
                   f"python -m proceval stage=evaluate rescore=true dataset={_word(place)}")  # fmt: skip
    if place.kind in ("release", "sweep"):
        show.empty("No model was judged here.", "python -m proceval model=mock")
    show.empty("No model was judged here.", f"python -m proceval stage=evaluate dataset={_word(place)} model=mock")


def _word(place: Place) -> str:
    return shlex.quote(str(place.path))


def _leaderboard(summary: Any, names: list[str]) -> None:
    st.markdown("##### Leaderboard")
    ks = [str(k) for k in summary["scores"]["ks"] if k != 1]
    rows = []
    for one in summary["scores"]["contestants"]:
        cell = one["overall"]
        low, high = cell["interval"] or (None, None)
        rows.append({
            "contestant": one["name"], "scored": f"{cell['scored']:,}/{cell['samples']:,}",
            "pass@1": percent(cell["accuracy"]),
            "95% interval": "–" if low is None else f"{percent(low)} to {percent(high)}",
            **{f"pass@{k}": pass_at(cell, int(k)) for k in ks},
            "problems": f"{cell['problems']:,}", "prompts": f"{cell['prompts']:,}",
            "prompt tokens": _sum(cell["prompt_tokens"]), "completion tokens": _sum(cell["completion_tokens"]),
            "cost": _sum(cell["cost_usd"], " USD", 4), "median latency": number(cell["latency_s"]["median"], " s", 2),
        })  # fmt: skip
    st.dataframe(rows, hide_index=True)
    points = [
        {
            "contestant": one["name"], "accuracy": one["overall"]["accuracy"],
            "low": (one["overall"]["interval"] or (None, None))[0],
            "high": (one["overall"]["interval"] or (None, None))[1],
        }
        for one in summary["scores"]["contestants"]
        if one["overall"]["accuracy"] is not None
    ]  # fmt: skip
    if points:
        st.plotly_chart(charts.leaderboard(points, names), key="leaderboard", config=PLAIN)
    else:
        st.info("No sample is scored: every one failed by somebody else's fault.")


def _sum(total: Any, unit: str = "", digits: int = 0) -> str:
    """A total; with unknown parts it is a lower bound and says so."""
    if total["known"] is None:
        return "unknown"
    return ("≥ " if total["unknown"] else "") + number(total["known"], unit, digits)


def _curves(summary: Any, names: list[str]) -> None:
    left, right = st.columns(2)
    with left:
        st.markdown("##### Accuracy by group")
        axis = st.segmented_control("Group by", list(AXES), default="tier", key="group_axis") or "tier"
        cells = [(one["name"], group, cell) for one in summary["scores"]["contestants"]
                 for group, cell in one[f"by_{axis}"].items()]  # fmt: skip
        rows = [
            {
                "contestant": name, "group": group, "accuracy": cell["accuracy"],
                "low": (cell["interval"] or (None, None))[0], "high": (cell["interval"] or (None, None))[1],
            }
            for name, group, cell in cells
            if cell["accuracy"] is not None
        ]  # fmt: skip
        groups = list(dict.fromkeys(row["group"] for row in rows))
        st.plotly_chart(charts.by_group(rows, names, groups), key="by_group", config=PLAIN)
    with right:
        st.markdown("##### pass@k: the chance that one of k samples passes")
        points = plot_data.pass_curves(summary)
        if points:
            st.plotly_chart(charts.curves(points, names), key="curves", config=PLAIN)
        else:
            st.info("A curve takes at least two scored samples of every problem: samples=5, for instance.")


def _heat(summary: Any, names: list[str]) -> None:
    st.markdown("##### How it failed")
    axis = st.segmented_control("Rows", list(AXES), default="tier", key="heat_axis") or "tier"
    rows = runs.matrix(summary, axis)
    st.plotly_chart(charts.heat(rows, names), key="heat", config=PLAIN)
    owners = outcome_owner()
    others = sorted({row["outcome"] for row in rows if owners[row["outcome"]] not in ("nobody", "model")})
    if others:
        st.caption(f"{', '.join(others)}: not the model's doing, and in no denominator.")


def _frontier(summary: Any, names: list[str]) -> None:
    st.markdown("##### Compute and accuracy")
    measure = st.segmented_control("Cost in", ["tokens", "US dollars"], default="tokens", key="frontier_in") or "tokens"
    points = plot_data.frontier(summary, "usd" if measure == "US dollars" else "tokens")
    if points:
        st.plotly_chart(charts.frontier(points, names, f"{measure} a sample"), key="frontier", config=PLAIN)
    absent = [name for name in names if name not in {row["contestant"] for row in points}]
    if absent:
        st.caption(literal(f"Not shown, since a sample's {measure} are unknown: {', '.join(absent)}"))


def _samples(place: Place, table: Any) -> None:
    wanted = show.choices(table, FILTERS, "samples")
    start = st.text_input("Problem id starts with", key="samples_start").strip()
    found = columns.matching(table, wanted, start=start, column="problem_id")
    at = show.paged(found.num_rows, "samples", "samples")
    rows = columns.page(found, at, show.PAGE).to_pylist()
    ids = [str(at * show.PAGE + number_) for number_ in range(len(rows))]
    labels = {
        one: f"{row['problem_id']}  sample {row['sample']}  ·  {row['model']}, {row['difficulty']} {row['family']}: "
        f"{row['outcome']}"
        for one, row in zip(ids, rows, strict=True)
    }
    names = ("problem_id", "sample", "model", "arm", "strategy", "family", "difficulty", "outcome", "fault",
             "prompt_tokens", "completion_tokens", "cost_usd", "latency_s")  # fmt: skip
    one = show.chosen([{n: row[n] for n in names} for row in rows], ids, labels, "samples", "Sample")
    if one is not None:
        row = rows[ids.index(one)]
        sample.whole(place, row["folder"], runs.key(row, place.variants[row["folder"]]))


if __name__ == "__main__":
    page()
