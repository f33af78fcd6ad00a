"""Which samples a run consists of: every problem, arm and sample number exactly once."""

from collections.abc import Sequence
from dataclasses import dataclass

from proceval.errors import InputError
from proceval.protocols import Case


@dataclass(frozen=True)
class Sample:
    """One sample of one problem under one arm; `number` counts from 0."""

    index: int
    problem: Case
    arm: str
    number: int


class Plan:
    """All samples, breadth first: every problem once before any problem twice, so that a run cut short covers all."""

    def __init__(self, problems: Sequence[Case], *, arms: Sequence[str], samples: int):
        if not problems:
            raise InputError("nothing to evaluate: no problem and no case was given")
        if samples < 1:
            raise InputError(f"samples={samples}: must be at least 1")
        seen: dict[str, int] = {}
        for position, problem in enumerate(problems, 1):
            if problem.id in seen:
                first = seen[problem.id]
                raise InputError(f"problem id {problem.id} occurs twice, at positions {first} and {position}")
            seen[problem.id] = position
        self.problems, self.arms, self.samples = problems, tuple(arms), samples

    def __len__(self) -> int:
        return len(self.problems) * len(self.arms) * self.samples

    def __getitem__(self, index: int) -> Sample:
        rest, problem = divmod(index, len(self.problems))
        number, arm = divmod(rest, len(self.arms))
        return Sample(index, self.problems[problem], self.arms[arm], number)

    def report_order(self) -> list[int]:
        """Indices by problem, then arm, then sample number."""
        width, arms = len(self.problems), len(self.arms)
        return [
            (number * arms + arm) * width + problem
            for problem in range(width)
            for arm in range(arms)
            for number in range(self.samples)
        ]
