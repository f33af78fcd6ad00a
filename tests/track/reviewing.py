"""A small suite of reviews, and stages run in this process: shared by the tests of the review track."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from proceval import config
from proceval.folder import RunFolder

RUBRIC = """# last.py

What people should know.

## must-flag

### off-by-one

The review names `last` and says that it reads one item too many.

Signs: `last`, `one item`

## must-not-flag

### early-return

The review leaves the early return alone.

Signs: `early return`, `bad`

## engagement

### names-both

The review names both functions.

Signs: `first`, `both`
"""
GOOD = "`last` reads one item too many; `first` is right.\n\nI have looked at both, `first` and `last`.\n"
BAD = "An early return is bad.\n"
SKILL = "---\nname: plain-sight-review\ndescription: how\n---\n\nLook at bounds.\n"


def suite(folder: Path, **cases: Mapping[str, str]) -> Path:
    """A suite with a case `one`, and `cases` by name: files to add or, where the text is empty, to leave out."""
    for name, changes in (cases or {"one": {}}).items():
        files = {
            "input/src/last.py": "def last(items):\n    return items[len(items)]\n",
            "input/first.py": "def first(items):\n    return items[0]\n",
            "prompt.md": "Please review the two files.\n",
            "rubric.md": RUBRIC,
            "selftest/good.md": GOOD,
            "selftest/bad.md": BAD,
        } | dict(changes)
        for path, text in files.items():
            if text:
                target = folder / "cases" / name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
    (folder / "skill.md").write_text(SKILL, encoding="utf-8")
    (folder / "suite.yaml").write_text("name: small\n", encoding="utf-8")
    return folder


class NoSandbox:
    """No review of these tests runs any code."""

    name = "none"

    def missing_layers(self) -> tuple[str, ...]:
        return ()

    def start(self) -> None:
        """Nothing to start."""

    def close(self) -> None:
        """Nothing to close."""


@cache
def _composed(*words: str) -> str:
    settings = config.compose("track=review", "model=scripted_reviewer", "tracker=off", "samples=1", "track.homes=[]",
                              "figures=false", *words)  # fmt: skip
    return json.dumps(settings)


def run(home: Path, *words: str, model: Any = None, stage: str = "evaluate") -> tuple[int, Path]:
    """Run a stage of track=review with these words; its exit status and its folder."""
    chosen = [word for word in words if not word.startswith("suite.dir=")]
    settings = json.loads(_composed(f"stage={stage}", *chosen))
    for word in set(words) - set(chosen):  # set here, so that equal words are composed once
        for node in (settings, settings["stage"]):
            if "track" in node:
                node["track"]["suite"] = word.partition("=")[2]
    made = config.build(settings["stage"], "stage")
    made.sandbox = NoSandbox()
    if model is not None:
        made.model = model
    folder = RunFolder(
        path=home / config.identity(settings)[:12],
        settings=settings,
        inputs=config.generation_identity(settings),
        outputs=home,
        dataset=None,
    )
    made.check(folder)
    with folder.open(fresh=False, writes=True):
        return made.run(folder), folder.path
