"""What a sample leaves for people under <run>/<arm>/<group>/<id>/: transcript.jsonl, checks.json and workspace.diff."""

import json
from pathlib import Path

from proceval.folder import write_atomically
from proceval.protocols import Judgement, Task
from proceval.scorer.expectations import Graded
from sandbox.fixture import shown


def folder(task: Task) -> Path:
    """The sample's own folder; samples after the first have their number behind the case's name."""
    name = task.case.family if task.sample == 0 else f"{task.case.family}.{task.sample}"
    path = Path(task.folder) / task.arm / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def transcript(task: Task, text: str) -> None:
    """Every message in order, the prompt first, with what each answer took."""
    write_atomically(folder(task) / "transcript.jsonl", shown(text))


def checks(task: Task, judgement: Judgement, graded: Graded | None) -> None:
    """The judgement with every check and what its command printed, and the changes where there was something to see."""
    notes = graded.notes if graded is not None else ()
    found = {
        "case": task.case.family,
        "outcome": judgement.outcome,
        "fault": judgement.fault,
        "detail": judgement.detail,
        "score": judgement.score,
        "checks": [
            grade.model_dump(exclude_defaults=True) | ({"printed": notes[n]} if n < len(notes) and notes[n] else {})
            for n, grade in enumerate(judgement.grades)
        ],
    }
    write_atomically(folder(task) / "checks.json", json.dumps(found, indent=1) + "\n")
    if graded is not None:
        write_atomically(folder(task) / "workspace.diff", shown(graded.diff))
