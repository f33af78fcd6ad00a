"""What a review leaves for people: RUN/ARM/CASE/{transcript.md, grades.json, no-rewrite.txt}."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from proceval.folder import write_atomically
from proceval.protocols import Judgement, Submission, Task
from proceval.scorer.judge import Ruling


def place(task: Task) -> Path:
    """The folder of a sample: the first one's is the case's, further ones lie below it."""
    folder = Path(task.folder).joinpath(task.arm, task.case.family)
    return folder / f"sample-{task.sample + 1}" if task.sample else folder


def write(
    task: Task,
    submission: Submission,
    found: tuple[Judgement, Ruling | None],
    changes: Sequence[str] | None,
    judges: Sequence[Any],
) -> None:
    """Replace the three files of a sample."""
    judgement, ruling = found
    folder = place(task)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "transcript.md", submission.transcript.rstrip() + "\n")
    write_atomically(folder / "no-rewrite.txt", _untouched(changes))
    content = {
        "case": task.case.family,
        "arm": task.arm,
        "sample": task.sample,
        "outcome": judgement.outcome,
        "fault": judgement.fault,
        "detail": judgement.detail,
        "score": judgement.score,
        "grades": [grade.model_dump() for grade in judgement.grades],
        "judges": _votes(task, ruling, judges),
        "violations": list(ruling.violations) if ruling is not None else [],
    }
    write_atomically(folder / "grades.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _votes(task: Task, ruling: Ruling | None, judges: Sequence[Any]) -> list[dict[str, Any]]:
    rows = ruling.votes if ruling is not None else ()
    return [
        {
            "judge": judge.id,
            "votes": [
                {"id": criterion.id, "passed": vote.passed, "evidence": vote.evidence}
                for criterion, vote in zip(task.case.criteria, row, strict=True)
            ],
        }
        for judge, row in zip(judges, rows, strict=False)
    ]


def _untouched(changes: Sequence[str] | None) -> str:
    if changes is None:
        return "untouched: the reviewer was given the files to read and nothing to write to\n"
    return (
        "\n".join(["REWROTE", *changes]) + "\n" if changes else "untouched: names, modes and bytes are as they were\n"
    )
