"""The console in a real browser: click through every page, and look at what is visible. Pictures: test-output/console/."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from scripts import screenshots
from scripts.screenshots import ROOT, opened, settled
from tests.console.conftest import HOSTILE, REQUIRED, needs

needs("ui", "streamlit", "plotly")
needs("browser", "playwright")

pytestmark = [pytest.mark.slow, pytest.mark.browser]
OUTPUT = ROOT / "test-output" / "console"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if not Path(screenshots.CHROMIUM).exists() and not REQUIRED:
        pytest.skip(f"no browser at {screenshots.CHROMIUM}; install Debian's chromium, or name one with CHROMIUM=")
    with screenshots.browser() as found:
        yield found


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with screenshots.served(home.parent, f"outputs={home}") as found:
        yield found


@pytest.fixture
def page(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page that asks nobody but the console, kept as a picture at the end of its test."""
    made = opened(chromium)
    elsewhere: list[str] = []
    alerts: list[str] = []
    made.on("request", lambda asked: elsewhere.append(asked.url) if _foreign(asked.url) else None)
    made.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    yield made
    OUTPUT.mkdir(parents=True, exist_ok=True)
    made.screenshot(path=OUTPUT / f"{request.node.name}.png", full_page=False)
    made.close()
    assert elsewhere == [], "the page talks to nobody else"
    assert alerts == [], "nothing that a model wrote runs"


def _foreign(url: str) -> bool:
    return not re.match(r"(http|ws)://(localhost|127\.0\.0\.1)[:/]|data:|blob:", url)


def visible(page: Any, *words: str) -> None:
    for word in words:
        page.get_by_text(word).first.wait_for(state="visible")


def test_problems(page: Any, address: str) -> None:
    page.goto(f"{address}/?open=sweeps/two")
    settled(page, "guess floor of the cell")
    picture = page.get_by_test_id("stImage").locator("img").first
    assert picture.evaluate("image => image.naturalWidth") > 100, "the instance is drawn"
    page.get_by_role("tab", name="Prompt").click()
    visible(page, "The request as a model got it")
    page.get_by_role("tab", name="Proof").click()
    visible(page, "existence: sat", "uniqueness: unsat")
    page.get_by_role("button", name="Prove it again now").click()
    settled(page, "step counts of the certificate")
    page.get_by_role("tab", name="Tests").click()
    visible(page, "Hidden tests first")


def test_audit(page: Any, address: str) -> None:
    page.goto(f"{address}/audit?open=sweeps/two")
    settled(page, "kill rate", "Mutants of the references")
    assert page.locator("table.sides td.del").count() >= 1
    page.get_by_role("tab", name="Ledger").click()
    visible(page, "Mutants that no test can kill", "proved by machine")


def test_a_mutant_runs(page: Any, address: str) -> None:
    page.goto(f"{address}/audit?open=sweeps/two")
    settled(page, "Mutants of the references")
    page.get_by_role("combobox", name=re.compile("^Fate")).click()
    page.get_by_role("option", name="killed").click()
    page.keyboard.press("Escape")
    settled(page, "kills it")
    page.get_by_role("button", name="Run both on this test now").click()
    settled(page, "returned")


def test_runs(page: Any, address: str) -> None:
    page.goto(f"{address}/runs?open=sweeps/two")
    settled(page, "Leaderboard", "How it failed", "Compute and accuracy")
    page.locator(".js-plotly-plot").nth(4).wait_for()
    assert page.locator(".js-plotly-plot").count() == 5
    page.get_by_text("family", exact=True).first.click()
    settled(page)
    page.get_by_role("tab", name="Samples").click()
    settled(page, "owner of the failure")
    page.get_by_role("tab", name="Program").click()
    page.get_by_role("tab", name="Tests").click()
    page.get_by_role("button", name="Run it on every test now").click()
    settled(page)


def test_every_contestant_has_its_own_line_however_long_its_name(page: Any, tmp_path: Path, run: Path) -> None:
    for number, prompt in enumerate(("short", "long")):
        job = Path(shutil.copytree(run, tmp_path / "outputs" / "sweep" / f"{number}-{prompt}"))
        said = [f"track.system_prompt=/home/me/where/prompts/of/this/project/lie/{prompt}.j2"]
        (job / "status.json").write_text(json.dumps({"exit_status": 0, "overrides": said}))
    with screenshots.served(tmp_path, f"dataset={tmp_path / 'outputs'}") as own:
        page.goto(f"{own}/runs?open=sweep")
        settled(page, "Leaderboard")
        board = page.locator(".js-plotly-plot").first
        board.locator(".ytick text").nth(1).wait_for()
        shown = board.locator(".ytick text").all_text_contents()
        assert sorted(text.rpartition("/")[2] for text in shown) == ["long.j2", "short.j2"]
        heights = {round(mark.bounding_box()["y"]) for mark in board.locator(".points path").all()}
        assert len(heights) == 2, "no mark is drawn over another"
        page.goto(f"{own}/runs?open={quote('sweep · 0 track.system_prompt')}")
        page.get_by_text("There is no place").wait_for()
        page.goto("about:blank")


def test_the_board_of_one_contestant_has_room_for_its_title(page: Any, address: str) -> None:
    page.goto(f"{address}/runs?open={quote('sweeps/two · 0 model=mock')}")
    settled(page, "Leaderboard")
    board = page.locator(".js-plotly-plot").first
    title, ticks = board.locator(".xtitle").bounding_box(), board.locator(".xtick text").first.bounding_box()
    assert title["y"] >= ticks["y"] + ticks["height"]


def test_compare(page: Any, address: str) -> None:
    page.goto(f"{address}/compare?open=sweeps/two")
    settled(page, "pairs of samples", "The same problem")
    page.get_by_text("Only problems on which their first samples disagree").click()
    settled(page, "line by line")
    assert page.locator("table.sides").is_visible()


def test_review_and_agent(chromium: Any, page: Any, tracks: Path) -> None:
    with screenshots.served(tracks.parent, f"dataset={tracks}") as own:
        page.goto(f"{own}/review")
        settled(page, "flags-name")
        page.get_by_role("tab", name="Transcript").click()
        visible(page, "<script>alert(1)</script>")
        page.get_by_role("link", name="Agent").click()
        settled(page, "samples")
        page.get_by_role("tab", name="Changes").click()
        visible(page, "return a + b")
        page.goto("about:blank")


def test_a_release_and_the_pages_by_keyboard(page: Any, address: str) -> None:
    page.goto(f"{address}/?open=released")
    settled(page, "guess floor of the cell")
    page.get_by_role("link", name="Audit").focus()
    page.keyboard.press("Enter")
    settled(page, "A release holds the counts of its audit")
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel || ''").strip())
    assert {"Runs", "Compare"} & reached or len(reached) > 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes(chromium: Any, address: str, scheme: str) -> None:
    page = opened(chromium, scheme)
    page.goto(f"{address}/?open=sweeps/two")
    settled(page, "guess floor of the cell")
    ground = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    shade = sum(map(int, re.findall(r"\d+", ground)[:3]))
    assert (shade > 600) == (scheme == "light"), ground
    OUTPUT.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=OUTPUT / f"scheme-{scheme}.png")
    page.close()


def test_a_file_that_changes_shows_by_itself(page: Any, tmp_path: Path, run: Path) -> None:
    mine = Path(shutil.copytree(run, tmp_path / "mine"))
    for parquet in mine.glob("*.parquet"):
        parquet.unlink()
    with screenshots.served(tmp_path, f"dataset={mine}") as own:
        page.goto(own)
        settled(page, "4 problems")
        rows = (mine / "dataset.jsonl").read_text().splitlines(keepends=True)
        (mine / "dataset.jsonl").write_text("".join(rows[:2]))
        os.utime(mine / "dataset.jsonl")
        settled(page, "2 problems")
        page.goto("about:blank")


def test_a_site_of_another_name_gets_nothing(chromium: Any, address: str) -> None:
    """What a page of a stranger could do by giving its own name this machine's address."""
    port = address.rpartition(":")[2]
    deceived = chromium.browser_type.launch(
        executable_path=screenshots.CHROMIUM, args=["--no-sandbox", "--host-resolver-rules=MAP stranger.test 127.0.0.1"]
    )
    page = opened(deceived)
    frames: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append("a frame")))
    page.goto(f"http://localhost:{port}/")
    page.locator("h1").first.wait_for()
    assert frames, "under its own name it answers"
    page.goto("about:blank")
    frames.clear()
    page.goto(f"http://stranger.test:{port}/")
    page.wait_for_timeout(5000)
    assert page.locator("h1").count() == 0
    assert frames == []
    deceived.close()


def test_nothing_that_a_model_wrote_is_markup(page: Any, tmp_path: Path, run: Path) -> None:
    mine = Path(shutil.copytree(run, tmp_path / "mine"))
    for name in ("summary.json", *(path.name for path in mine.glob("*.parquet"))):
        (mine / name).unlink()
    for name, field in (("records.jsonl", "completion"), ("verdicts.jsonl", "detail")):
        rows = [json.loads(line) for line in (mine / name).read_text().splitlines()]
        for row in rows:
            row["model"] = HOSTILE
            if field == "completion":
                row["completion"]["text"] = HOSTILE
            else:
                row["detail"] = row["extraction"] = HOSTILE
        (mine / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    with screenshots.served(tmp_path, f"dataset={mine}") as own:
        page.goto(f"{own}/runs")
        settled(page, "Leaderboard")
        page.get_by_role("tab", name="Samples").click()
        settled(page, "owner of the failure", "exactly as it came")
        assert page.locator("[data-testid=stCode]").filter(has_text="<script>alert(1)</script>").count() >= 1
        assert page.locator("[data-testid=stMain] script, [data-testid=stMain] img[src*='198.51']").count() == 0
        assert page.locator("[data-testid=stMain] img[onerror]").count() == 0
        page.goto("about:blank")
