"""Every page as the server runs it, without a browser: what it says on whole, empty, broken and hostile folders."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proceval.console import launch
from proceval.report.run import Run
from tests.console.conftest import HOSTILE, needs

needs("ui", "streamlit", "plotly")

Open = Callable[[Path], None]
AppTest = Any
"""streamlit.testing.v1.AppTest, imported where it is used."""


def visit(page: str = "problems", *, asked: str | None = None) -> AppTest:
    """A page after its first run, which must not have broken; `asked` is what ?open= says."""
    from streamlit.testing.v1 import AppTest as Trial

    trial = Trial.from_file(str(launch.APP), default_timeout=60)
    if asked is not None:
        trial.query_params["open"] = asked
    trial.run()
    if page != "problems":
        trial.switch_page(f"tabs/{page}.py").run()
    return whole(trial)


def whole(trial: AppTest) -> AppTest:
    assert not trial.exception, trial.exception[0].value
    return trial


def said(trial: AppTest) -> str:
    """Every text of the page that is read as Markdown, one line each."""
    kinds = ("markdown", "caption", "title", "header", "subheader", "info", "warning", "error", "success")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(trial, kind))


def codes(trial: AppTest) -> str:
    return "\n".join(str(element.value) for element in trial.code)


# ------------------------------------------------------------------------------------------ whole folders


def test_problems_are_listed_filtered_and_opened(opened: Open, run: Path) -> None:
    opened(run)
    trial = visit()
    assert not trial.error
    assert len(trial.selectbox(key="problems_open").options) == 4
    trial.multiselect(key="problems_domain").select("automata").run()
    assert len(trial.selectbox(key="problems_open").options) == 2
    identity = trial.selectbox(key="problems_open").value
    assert identity in said(whole(trial))
    trial.text_input(key="problems_start").input("zzz").run()
    assert "Nothing fits" in said(whole(trial))
    trial.text_input(key="problems_start").input(identity[:6]).run()
    assert trial.selectbox(key="problems_open").value == identity
    problem = next(p for p in Run(run).problems() if p.id == identity)
    assert problem.reference.strip() in codes(trial)
    assert "(set-logic" in codes(trial)


def test_a_problem_is_proved_again_at_the_press_of_a_button(opened: Open, run: Path) -> None:
    opened(run)
    trial = visit()
    trial.button(key="prove").click().run()
    told = said(whole(trial))
    assert "**unique**" in told
    assert "The queries have the hashes, verdicts and step counts of the certificate" in told


def test_a_wrong_stored_answer_is_found_when_it_is_proved_again(opened: Open, copy: Path) -> None:
    (copy / "dataset.parquet").unlink(missing_ok=True)
    rows = [json.loads(line) for line in (copy / "dataset.jsonl").read_text().splitlines()]
    rows[0]["tests"][0]["expected"] = 99
    (copy / "dataset.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    opened(copy)
    trial = visit()
    trial.button(key="prove").click().run()
    assert "this is not the stored answer" in said(whole(trial))


def test_a_mutant_is_shown_beside_its_reference_and_run(opened: Open, run: Path) -> None:
    opened(run)
    trial = visit("audit")
    assert not trial.error
    assert "killed" in said(trial)
    trial.multiselect(key="audit_fate").select("killed").run()
    trial.button(key="run_mutant").click().run()
    told = codes(whole(trial))
    assert "returned" in told, "the reference gives a value"
    trial.multiselect(key="audit_fate").unselect("killed").select("equivalent").run()
    assert "proved by" in said(whole(trial))


def test_the_ledger_is_shown_entry_by_entry(opened: Open, run: Path) -> None:
    opened(run)
    trial = visit("audit")
    first = trial.selectbox(key="ledger_open").value
    trial.selectbox(key="ledger_open").select_index(1).run()
    assert trial.selectbox(key="ledger_open").value != first
    whole(trial)


def test_scores_and_samples_of_a_run(opened: Open, run: Path) -> None:
    opened(run)
    trial = visit("runs")
    assert not trial.error
    assert trial.dataframe[0].value["contestant"].tolist() == ["mock"]
    assert "support no claim about difficulty" in said(trial)
    outcomes = {verdict.outcome for verdict in Run(run).verdicts()}
    trial.multiselect(key="samples_outcome").select("passed").run()
    trial.button(key="run_sample").click().run()
    whole(trial)
    assert set(trial.dataframe[-1].value["verdict"]) == {"passed"}
    assert "passed" in outcomes
    assert "Write a Python function" in codes(trial), "the prompt is there"


def test_a_sweep_compares_its_models(opened: Open, home: Path) -> None:
    opened(home / "sweeps" / "two")
    trial = visit("compare")
    assert not trial.error
    told = said(trial)
    assert "pairs of samples" in told
    assert "exact sign\\-flip test over prompts" in told
    trial.toggle(key="compare_differing").set_value(False).run()
    assert len(trial.selectbox(key="compare_problem").options) == 4
    whole(trial)


def test_a_release_is_opened_like_a_run(opened: Open, home: Path) -> None:
    opened(home / "released")
    trial = visit()
    assert not trial.error
    assert len(trial.selectbox(key="problems_open").options) == 4
    assert "Solve " in codes(trial), "the published prompt"
    trial = visit("audit")
    assert "A release holds the counts of its audit" in said(trial)
    assert "python -m proceval model=mock" in codes(visit("runs"))


@pytest.mark.slow
@pytest.mark.parametrize("page", ["problems", "audit", "runs", "compare", "review", "agent"])
def test_every_page_runs_on_a_whole_outputs_folder(opened: Open, home: Path, page: str) -> None:
    opened(home)
    assert visit(page).title[0].value == page.capitalize()


def test_the_address_opens_a_place_whose_name_holds_a_plus(opened: Open, copy: Path) -> None:
    wanted = copy.rename(copy.with_name("all-easy+hard-mock"))
    for name in ("other", "all-easy hard"):
        shutil.copytree(wanted, wanted.with_name(name))
    opened(copy.parent)
    for asked, label in (
        ("all-easy+hard-mock", "all-easy+hard-mock"), ("all-easy hard-mock", "all-easy+hard-mock"),
        ("other", "other"), ("all-easy hard", "all-easy hard"),
    ):  # fmt: skip
        trial = visit(asked=asked)
        assert Path(trial.selectbox(key="place").value.removesuffix("run")).name == label
        assert not trial.warning


def test_an_address_of_nothing_says_so_until_something_is_chosen(opened: Open, home: Path) -> None:
    opened(home)
    trial = visit(asked="no+such <b>place")
    assert len(trial.warning) == 1
    told = re.sub(r"\\(.)", r"\1", trial.warning[0].value)
    label = trial.selectbox(key="place").options[0].partition(" ")[2]
    assert told == f'There is no place "no+such <b>place" here; "{label}" is shown instead.'
    trial.multiselect(key="problems_domain").select("automata").run()
    assert len(whole(trial).warning) == 1, "it stays while nobody chooses"
    trial.selectbox(key="place").select_index(1).run()
    assert not whole(trial).warning


def test_rows_of_the_same_text_are_still_two_rows() -> None:
    """The box under a list knows its rows by their texts alone."""
    from streamlit.testing.v1 import AppTest as Trial

    def script() -> None:
        from proceval.console.tabs import show

        show.chosen([{"row": 0}, {"row": 1}], ["first", "second"], {"first": "same", "second": "same "}, "two", "Which")

    trial = Trial.from_function(script).run()
    trial.selectbox(key="two_open").select_index(1).run()
    assert whole(trial).selectbox(key="two_open").value == "second"
    assert trial.selectbox(key="two_open").options == ["1. same", "2. same "]


# ------------------------------------------------------------------------------------------ empty, broken, changing


@pytest.mark.parametrize("page", ["problems", "audit", "runs", "compare", "review", "agent"])
def test_an_empty_state_says_which_command_to_run(opened: Open, tmp_path: Path, page: str) -> None:
    (tmp_path / "records.jsonl").write_text("")
    opened(tmp_path)
    assert "python -m proceval" in codes(visit(page))


def test_a_root_without_anything_says_so_too(opened: Open, tmp_path: Path) -> None:
    for root, what in ((tmp_path / "absent", "There is no folder"), (tmp_path, "holds no run")):
        opened(root)
        trial = visit()
        assert what in said(trial)
        assert "python -m proceval" in codes(trial)


def test_answers_without_verdicts_are_counted_and_not_called_failures(opened: Open, copy: Path) -> None:
    for name in ("verdicts.jsonl", "records.parquet", "summary.json"):
        (copy / name).unlink()
    opened(copy)
    trial = visit("runs")
    assert "8 answers are recorded and none is judged yet" in said(trial)
    assert "rescore=true" in codes(trial)


def test_one_answer_is_one_and_a_strangers_is_none(opened: Open, copy: Path) -> None:
    for name in ("verdicts.jsonl", "records.parquet", "summary.json"):
        (copy / name).unlink()
    first = (copy / "records.jsonl").read_text().splitlines()[0]
    (copy / "records.jsonl").write_text(first + "\n")
    opened(copy)
    assert "1 answer is recorded and not judged yet" in said(visit("runs"))
    (copy / "records.jsonl").write_text('{"a":1}\n')
    trial = visit("runs")
    assert "recorded" not in said(trial)
    assert "not records of proceval" in trial.error[0].value
    assert len(trial.error) == 1


@pytest.mark.parametrize(
    ("page", "name", "content"),
    [
        ("problems", "dataset.jsonl", "no JSON\n"),
        ("problems", "dataset.parquet", "no Parquet"),
        ("audit", "audit.jsonl", '{"mutants": 3}\n'),
        ("runs", "verdicts.jsonl", '{"model": 1}\n'),
        ("runs", "summary.json", "{"),
    ],
)
def test_a_broken_file_is_a_sentence_on_the_page(opened: Open, copy: Path, page: str, name: str, content: str) -> None:
    for parquet in copy.glob("*.parquet"):
        parquet.unlink()
    (copy / name).write_text(content)
    opened(copy)
    trial = visit(page)
    assert name.replace(".", "\\.") in trial.error[0].value
    assert len(trial.error) == 1


def test_a_file_that_changes_is_read_again(opened: Open, copy: Path) -> None:
    for parquet in copy.glob("*.parquet"):
        parquet.unlink()
    opened(copy)
    trial = visit()
    assert len(trial.selectbox(key="problems_open").options) == 4
    rows = (copy / "dataset.jsonl").read_text().splitlines(keepends=True)
    (copy / "dataset.jsonl").write_text("".join(rows[:3]))
    os.utime(copy / "dataset.jsonl")
    trial.run()
    assert len(whole(trial).selectbox(key="problems_open").options) == 3


def test_what_a_model_wrote_is_never_markup(opened: Open, copy: Path) -> None:
    """The hostile text stands in every field that others fill; every place that reads Markdown must show it escaped."""
    for parquet in copy.glob("*.parquet"):
        parquet.unlink()
    (copy / "summary.json").unlink()

    def poison(value: Any, *names: str) -> Any:
        for name in names:
            *path, last = name.split(".")
            place = value
            for part in path:
                place = place[part]
            place[last] = HOSTILE
        return value

    for name, fields in (
        ("records.jsonl", ("completion.text", "model")),
        ("verdicts.jsonl", ("detail", "extraction", "model")),
        ("dataset.jsonl", ("statement", "difficulty", "family")),
    ):
        rows = [poison(json.loads(line), *fields) for line in (copy / name).read_text().splitlines()]
        (copy / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    opened(copy)
    seen = 0
    for page in ("problems", "audit", "runs"):
        trial = visit(page)
        told = re.sub(r"\\.", "", said(trial))  # what is escaped shows as itself
        for mark in ("<script", "![x](", ":red[", "$x^2$", "<img src"):
            assert mark not in told, (page, mark)
        seen += HOSTILE in codes(trial)
        for element in trial.get("html"):
            assert "<script" not in str(element.proto)
    assert seen, "it is shown, as text"
