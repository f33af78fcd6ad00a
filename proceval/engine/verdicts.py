"""The verdicts of one pass: appended as they come, put into plan order at the end, whole or not at all."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from proceval.schema import Verdict
from proceval.store import Log

Number = TypeVar("Number", int, float)


class Verdicts:
    """verdicts.jsonl in the making; memory grows by one number a sample."""

    def __init__(self, folder: Path, *, planned: int):
        self._folder = folder
        self._staged = folder / ".verdicts.jsonl.partial"
        self._staged.unlink(missing_ok=True)
        self._log = Log(self._staged, fsync_s=float("inf"))
        self._offsets = [-1] * planned
        self.outcomes: Counter[str] = Counter()
        self.prompt_tokens = 0
        self.completion_tokens = 0

    @property
    def done(self) -> int:
        return self.outcomes.total()

    def add(self, index: int, verdict: Verdict) -> None:
        """Take the verdict of the sample with this place in the plan."""
        self._offsets[index] = self._log.append(verdict.model_dump_json(ensure_ascii=True))
        self.outcomes[verdict.outcome] += 1
        self.prompt_tokens += verdict.prompt_tokens or 0
        self.completion_tokens += verdict.completion_tokens or 0

    def publish(self, order: Sequence[int]) -> None:
        """Replace verdicts.jsonl, in the given order of indices; every sample must have its verdict."""
        ordered = self._folder / ".verdicts.jsonl.ordered"
        with ordered.open("wb") as out:
            for index in order:
                out.write(self._log.read(self._offsets[index]) + b"\n")
            out.flush()
            os.fsync(out.fileno())
        os.replace(ordered, self._folder / "verdicts.jsonl")

    def close(self) -> None:
        self._log.close()
        self._staged.unlink(missing_ok=True)


def total(values: Sequence[Number | None]) -> Number | None:
    """The sum; None when there is nothing or anything is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
