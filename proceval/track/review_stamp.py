"""Stamps of tested judges: which judge passed both sides of which rubric, kept beside the runs."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proceval.errors import InputError
from proceval.folder import write_atomically
from proceval.schema import Criterion, ReviewCase
from proceval.scorer.judge import PROMPT
from proceval.seeding import digest

NOTE = "judges.json"
"""In the run folder: who judged, and what its stamps are called."""
SKILL = "skill.json"
"""In the run folder: the skill of the treatment arm where it lies in workspaces."""


def home(outputs: Path) -> Path:
    """Where stamps lie."""
    return outputs / ".selftests"


def stamp(criteria: Sequence[Criterion], judge: Any) -> str:
    """64 hex digits that follow from rubric, judge prompt, and the judge with its endpoint and parameters."""
    who = [judge.id, judge.base_url, dict(judge.parameters)]
    return digest([[criterion.model_dump() for criterion in criteria], PROMPT, who])


def give(folder: Path, criteria: Sequence[Criterion], judge: Any, *, suite: str, case: str) -> None:
    """Note that the judge failed the bad review of this rubric and passed the good one on every criterion."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"judge": judge.id, "parameters": dict(judge.parameters), "suite": suite, "case": case}
    write_atomically(folder / f"{stamp(criteria, judge)}.json", json.dumps(content, indent=1) + "\n")


def keep_skill(run_folder: Path, name: str, files: Mapping[str, str]) -> None:
    """Note which skill lies in the workspaces of a run, since no prompt and so no record tells.

    Raises InputError when it is not the one that recorded answers were given with.
    """
    path, text = run_folder / SKILL, json.dumps({"name": name, "sha256": digest(dict(files))}) + "\n"
    if not path.is_file():
        write_atomically(path, text)
    elif path.read_text(encoding="utf-8") != text:
        raise InputError(
            f"{path}: the skill is not the one that this run began with; give fresh=true, or the old skill"
        )


def note(run_folder: Path, stamps: Path, judges: Mapping[str, Any], cases: Sequence[ReviewCase]) -> None:
    """Write judges.json, unless it says so already."""
    content = {
        "stamps": os.path.relpath(stamps, run_folder),
        "judges": [
            {"name": name, "id": judge.id, "rubrics": {case.family: stamp(case.criteria, judge) for case in cases}}
            for name, judge in judges.items()
        ],
    }
    path, text = run_folder / NOTE, json.dumps(content, indent=1) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text)
