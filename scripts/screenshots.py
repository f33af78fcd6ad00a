"""Pictures of the console for README and docs/console.md: a real browser on a real run.

    python scripts/screenshots.py            takes docs/assets/console-*.png anew
    python scripts/screenshots.py --check    goes the same way without writing, and names pictures that are missing

Needs the extras `ui` and `browser`, and a chromium (Debian's package; CHROMIUM= names another one). The way through the
pages is checked as it goes: each picture waits for words that must be visible.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "docs" / "assets"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SIZE = {"width": 1400, "height": 1000}
PATIENCE_S = 180.0


def run(home: Path, *words: str) -> None:
    """`python -m proceval WORDS` in a folder. Raises CalledProcessError when it ends badly."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "WANDB_SILENT": "true"}
    subprocess.run(
        [sys.executable, "-m", "proceval", *words], cwd=home, env=environment, check=True, capture_output=True
    )


@contextmanager
def served(home: Path, *words: str) -> Iterator[str]:
    """The console on a free port; gives its address and ends it afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "proceval", "stage=console", f"port={port}", *words]
    log = home / "console.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            command,
            cwd=home,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
        )
    try:
        address = f"http://localhost:{port}"
        _wait(lambda: _answers(address) or server.poll() is not None)
        if server.poll() is not None:
            raise RuntimeError(f"the console ended with {server.returncode}: {log.read_text()}")
        yield address
    finally:
        server.terminate()
        server.wait(30)


def _answers(address: str) -> bool:
    try:
        with urlopen(f"{address}/_stcore/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def _wait(done: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > until:
            raise TimeoutError(f"nothing within {PATIENCE_S:.0f} s")
        time.sleep(0.2)


@contextmanager
def browser() -> Iterator[Any]:
    """A headless chromium without network of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking", "--disable-gpu"]
        )
        try:
            yield chromium
        finally:
            chromium.close()


def opened(chromium: Any, scheme: str = "light") -> Any:
    """A page of the console's size in a colour scheme, patient and without animations."""
    page = chromium.new_page(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE_S * 1000)
    return page


def settled(page: Any, *words: str) -> None:
    """Wait until these words are visible, nothing runs any more, and every chart is drawn."""
    for word in words:
        page.get_by_text(word).first.wait_for(state="visible", timeout=PATIENCE_S * 1000)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(timeout=PATIENCE_S * 1000)
    for skeleton in page.locator('[data-testid="stSkeleton"]').all():
        skeleton.wait_for(state="hidden", timeout=PATIENCE_S * 1000)
    for chart in page.locator('[data-testid="stPlotlyChart"]').all():
        if chart.is_visible():
            chart.locator(".main-svg").first.wait_for(timeout=PATIENCE_S * 1000)
    page.wait_for_timeout(400)


def scrolled(page: Any, locator: Any) -> None:
    """Bring an element to the top of the page."""
    locator.first.evaluate("element => element.scrollIntoView({block: 'start'})")
    page.locator('[data-testid="stMain"]').evaluate("main => main.scrollBy(0, -70)")
    page.wait_for_timeout(500)


# ------------------------------------------------------------------------------------------ the pictures


def problems(page: Any, at: str, chosen: str) -> None:
    page.goto(f"{at}&problem={chosen}")
    settled(page, "guess floor of the cell", "arguments")
    scrolled(page, page.get_by_role("heading", name="dag_shortest_path"))


def proof(page: Any, at: str, chosen: str) -> None:
    page.goto(f"{at}&problem={chosen}")
    settled(page, "arguments")
    page.get_by_role("tab", name="Proof").click()
    page.get_by_role("button", name="Prove it again now").click()
    settled(page, "step counts")
    scrolled(page, page.get_by_role("tab", name="Proof"))


def audit(page: Any, at: str, chosen: str) -> None:
    page.goto(at.replace("/?", "/audit?"))
    settled(page, "Mutants of the references")
    page.get_by_role("button", name="Run both on this test now").click()
    settled(page, "returned")
    scrolled(page, page.get_by_text("Under the tests of"))


def runs(page: Any, at: str, chosen: str) -> None:
    page.goto(at.replace("/?", "/runs?"))
    settled(page, "Leaderboard", "How it failed")


def sample(page: Any, at: str, chosen: str) -> None:
    page.goto(at.replace("/?", "/runs?"))
    settled(page, "Leaderboard")
    page.get_by_role("tab", name="Samples").click()
    settled(page, "owner of the failure")
    page.get_by_role("combobox", name=re.compile("^Outcome")).click()
    page.get_by_role("option", name="wrong_answer").click()
    page.keyboard.press("Escape")
    settled(page, "wrong answer · mock")
    page.get_by_role("tab", name="Tests").click()
    page.get_by_role("button", name="Run it on every test now").click()
    settled(page)
    page.wait_for_timeout(1500)
    scrolled(page, page.get_by_text("owner of the failure"))


def compare(page: Any, at: str, chosen: str) -> None:
    page.goto(at.replace("/?", "/compare?"))
    settled(page, "pairs of samples", "line by line")
    box = page.get_by_role("combobox", name=re.compile("^Problem"))
    for _ in range(20):  # on to two programs that differ, rather than one and none
        if page.get_by_text("wrong_answer").count():
            break
        box.click()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        settled(page)
    scrolled(page, page.get_by_text("The same problem"))


def review(page: Any, at: str, chosen: str) -> None:
    page.goto(at.replace("/?", "/review?"))
    settled(page, "Files untouched?")
    scrolled(page, page.get_by_text("Sample", exact=True))


def agent(page: Any, at: str, chosen: str) -> None:
    page.goto(at.replace("/?", "/agent?"))
    settled(page, "Checks")
    page.get_by_role("tab", name="Changes").click()
    settled(page, "against what the agent was given")
    scrolled(page, page.get_by_text("Sample", exact=True))


PICTURES: dict[str, tuple[Callable[[Any, str, str], None], str, str]] = {
    "problems": (problems, "sweep", "light"),
    "proof": (proof, "sweep", "dark"),
    "audit": (audit, "sweep", "light"),
    "runs": (runs, "sweep", "light"),
    "sample": (sample, "sweep", "dark"),
    "compare": (compare, "sweep", "light"),
    "review": (review, "review", "light"),
    "agent": (agent, "agent", "dark"),
}
"""Name -> (the way there, what is open, colour scheme)."""


def made(home: Path) -> tuple[dict[str, str], str]:
    """Runs to look at; (their labels by kind, the id of a problem that is nice to draw)."""
    run(home, "--multirun", "model=mock,gold", "difficulty=easy,hard", "count=3", "figures=false")
    run(home, "stage=evaluate", "track=review", "model=scripted_reviewer", "limit=2")
    run(home, "stage=evaluate", "track=agent", "cases=fix/failing-test")
    outputs = home / "outputs"
    labels = {kind: next(outputs.glob(f"*-{kind}-*")).name for kind in ("review", "agent")}
    sweep = next(path for path in (outputs / "sweeps").iterdir() if path.is_dir())
    rows = sorted(outputs.glob("sweeps/*/*hard*/dataset.jsonl"))[0].read_text(encoding="utf-8").splitlines()
    graphs = [row for row in map(json.loads, rows) if row["family"] == "dag_shortest_path"]
    return {**labels, "sweep": f"sweeps/{sweep.name}"}, max(graphs, key=lambda row: len(row["expected"]["path"]))["id"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, name what is missing")
    parser.add_argument("--only", help="one picture")
    chosen = parser.parse_args()
    missing = [name for name in PICTURES if not (ASSETS / f"console-{name}.png").is_file()]
    with tempfile.TemporaryDirectory() as home:
        labels, problem = made(Path(home))
        with served(Path(home)) as address, browser() as chromium:
            for name, (way, kind, scheme) in PICTURES.items():
                if chosen.only not in (None, name):
                    continue
                page = opened(chromium, scheme)
                way(page, f"{address}/?open={quote(labels[kind])}", problem)
                if not chosen.check:
                    ASSETS.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=ASSETS / f"console-{name}.png")
                print(f"{name}: as expected")
                page.close()
    for name in missing if chosen.check else ():
        print(f"docs/assets/console-{name}.png is missing: run scripts/screenshots.py")
    return 1 if chosen.check and missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
