"""What one pass of the engine did, in counts; the verdicts themselves lie on disk."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from proceval.schema import UNSCORED, Verdict
from proceval.store import lines


@dataclass(frozen=True)
class EngineReport:
    """Totals of a run folder after a pass. Samples are counted once each, however often the run was resumed."""

    folder: Path
    planned: int
    """Samples asked for: problems x arms x samples."""
    outcomes: Mapping[str, int]
    """Samples by outcome; those of schema.UNSCORED are the unscored ones."""
    requests: int
    """Answers paid for in this pass."""
    attempts: int
    """Requests sent in this pass, failed ones included."""
    resumed: int
    """Answers found on disk and not paid for again."""
    faults: Mapping[str, int]
    """Failed attempts of this pass by kind."""
    prompt_tokens: int
    completion_tokens: int
    """Tokens of all scored samples whose usage is known."""
    cost_usd: float | None
    """What all answers on disk cost, or None when any price is unknown."""
    stopped: str | None
    """Why the pass ended before everything was asked, or None."""
    torn_bytes: int
    """Bytes of a half-written last line that were set aside when the run was resumed."""
    duplicates: int
    """Recorded answers that repeat a key; the first one counts."""
    concurrency: tuple[tuple[float, int], ...]
    """(seconds, limit) at every cut after a 429."""
    judge_requests: int = 0
    """Answers of judges paid for in this pass."""

    @property
    def unscored(self) -> int:
        return sum(self.outcomes.get(name, 0) for name in UNSCORED)

    @property
    def exit_status(self) -> int:
        """0, or 3 when a sample stayed unscored."""
        return 3 if self.unscored else 0

    @property
    def verdicts(self) -> Iterator[Verdict]:
        """All verdicts of the run in plan order, read from verdicts.jsonl."""
        return (Verdict.model_validate_json(line) for _, line in lines(self.folder / "verdicts.jsonl"))
