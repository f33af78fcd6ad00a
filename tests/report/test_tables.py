"""What people see at the end of a run, in a terminal, a pipe and report.md."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, Group

from proceval.report import markdown, score_sheets, summary, tables
from proceval.report.cells import Sheet, percent, short, whole
from proceval.report.run import READ, Run
from tests.report import builder

Golden = Callable[[str, str], None]


def summarised(folder: Path, **changes: Any) -> dict[str, Any]:
    about = {"exit_status": 3, "versions": {"proceval": "0.1.0", "python": "3.11.7"}, "git_commit": "ab" * 20}
    return summary.write(folder, **(about | changes), ks=[1, 3, 5])


def printed(found: dict[str, Any], *, width: int = 80, colour: bool = False, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    console = Console(file=stream, width=width, force_terminal=colour, color_system="truecolor" if colour else None)
    console.print(tables.render(found))
    stream.flush()
    return "\n".join(line.rstrip() for line in raw.getvalue().decode(encoding).splitlines()) + "\n"


def test_terminal(run_folder: Path, golden: Golden) -> None:
    text = printed(summarised(run_folder))
    golden("terminal.txt", text)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text


def test_terminal_of_a_single_model_shows_outcomes_by_tier(tmp_path: Path, golden: Golden) -> None:
    run = builder.build(tmp_path)
    builder.write_lines(run / "verdicts.jsonl", [v for v in builder.verdicts() if v.model == "mock"])
    golden("terminal_mock.txt", printed(summarised(run, exit_status=0)))


def test_terminal_without_a_model(tmp_path: Path, golden: Golden) -> None:
    absent = ["verdicts.jsonl", "records.jsonl", "audit.jsonl", "certificates/index.jsonl"]
    run = builder.build(tmp_path, without=absent)
    golden("terminal_generate.txt", printed(summarised(run, exit_status=0)))


def test_an_ascii_pipe_gets_plain_text(run_folder: Path) -> None:
    text = printed(summarised(run_folder), encoding="ascii")
    assert text.isascii()
    assert "did not occur" in text


def test_colour_changes_no_word(run_folder: Path) -> None:
    import re

    found = summarised(run_folder)
    coloured = printed(found, colour=True)
    assert "\x1b[" in coloured
    bare = "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines()) + "\n"
    assert bare == printed(found)


def test_report(run_folder: Path, golden: Golden) -> None:
    found = summarised(run_folder)
    (run_folder / "figures").mkdir()
    (run_folder / "figures" / "failures.png").write_bytes(b"")
    path = markdown.write(run_folder, found)
    golden("report.md", path.read_text(encoding="utf-8"))


def test_text_of_a_model_is_never_markup(run_folder: Path) -> None:
    found = summarised(run_folder)
    found["scores"]["examples"]["timeout"]["detail"] = "[bold]x[/] <script>|`a`\n# b \x1b[2J"
    text = markdown.text(found, [])
    assert "\\[bold\\]x\\[/\\] \\<script\\>\\|\\`a\\` # b \\\\x1b\\[2J" in text
    sheet = Sheet("t", ("detail",), (("[bold]x[/] \\[",),))
    stream = io.StringIO()
    for part in tables.dress(sheet):
        Console(file=stream, width=80).print(part)
    assert "[bold]x[/] \\[" in stream.getvalue()


@pytest.mark.parametrize("absent", [*READ, "everything"])
def test_no_missing_file_breaks_a_table(tmp_path: Path, absent: str) -> None:
    run = builder.build(tmp_path, without=list(READ) if absent == "everything" else [absent])
    found = summarised(run, exit_status=None, versions={}, git_commit=None)
    assert absent == "everything" or absent in printed(found).replace("\n", " ")
    assert markdown.text(found, []).startswith("# Run report\n")


def test_offline_models_are_said_to_support_no_claim(run_folder: Path) -> None:
    sentence = "mock results show the machinery, they support no claim about difficulty"
    found = summarised(run_folder)
    assert sentence in printed(found)
    assert sentence in markdown.text(found, [])


def test_figures_of_tables() -> None:
    assert [percent(x) for x in (None, 0.0, 1.0, 2 / 3)] == ["-", "0.0%", "100.0%", "66.7%"]
    assert [whole(x) for x in (None, 0, 1234, 2.5)] == ["-", "0", "1,234", "2.5"]
    assert [short(x) for x in (None, 0, 950, 999.6, 12345, 4_560_000, 10**13)] == [
        "-", "0", "950", "1k", "12.3k", "4.56M", "1e+04G",
    ]  # fmt: skip


def test_outcomes_of_many_models_are_lines_that_fit_a_terminal(run_folder: Path) -> None:
    many = [v.model_copy(update={"model": f"{v.model}-{i}"}) for v in builder.verdicts() for i in range(3)]
    builder.write_lines(run_folder / "verdicts.jsonl", many)
    sheet = score_sheets.failures(summary.summarise(Run(run_folder), [1]))
    assert [row[0] for row in sheet.rows] == sorted({v.model for v in many})
    lab = next(row for row in sheet.rows if row[0] == "lab/large:1b-0")
    assert lab[1:] == ("8", "unreadable 1, wrong_answer 1", "provider_fault 1, sandbox_fault 1")
    shown = io.StringIO()
    Console(file=shown, width=80).print(Group(*tables.dress(sheet)))
    assert "provider_fault 1" in shown.getvalue()
