"""A release as a taskset for `verifiers` (0.4, `verifiers.v1`), for evaluation and for reinforcement learning.

verifiers finds a taskset by the name of an importable top-level module that exports it. Two lines make one:

    from proceval.interop.verifiers import Problems
    __all__ = ["Problems"]
"""

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from proceval.interop.judge import FinishReason, Mode, averdict, read


class ProblemData(vf.TaskData):
    """One published row on the wire; the whole row, because a trace is scored again without the release."""

    row: dict[str, Any]
    mode: Mode


class ProblemTask(vf.Task[ProblemData]):
    """One problem, rewarded by proceval's own judge."""

    @property
    def key(self) -> str:
        return f"{self.data.id}-{self.data.mode}"

    @vf.reward
    async def passed(self, trace: vf.Trace) -> float:
        """1.0 or 0.0. Raises where the sandbox failed: the trace then stays unscored instead of counting as wrong."""
        ended: FinishReason = "length" if trace.is_truncated else "stop"
        found = await averdict(self.data.row, last_reply(trace), mode=self.data.mode, finish_reason=ended)
        return float(found.outcome == "passed")


class ProblemsConfig(vf.TasksetConfig):
    """`release` is the folder that stage=export wrote, or a downloaded copy; `mode` is code or answer."""

    release: str = ""
    mode: Mode = "code"


class Problems(vf.Taskset[ProblemTask, ProblemsConfig]):
    """The problems of a release, in its order."""

    def load(self) -> Iterator[ProblemTask]:
        mode = self.config.mode
        for row in read(self.config.release):
            prompt = row[f"prompt_{mode}"]
            data = ProblemData(id=row["id"], name=f"{row['family']}-{row['id']}", prompt=prompt, row=row, mode=mode)
            yield ProblemTask(data, self.config.task)


def last_reply(trace: vf.Trace) -> str:
    """The model's last message as it was sent; empty when there is none."""
    if trace.root_reply is not None:
        return str(trace.root_reply)
    said = trace.assistant_messages
    return str(said[-1].content or "") if said else ""


__all__ = ["ProblemData", "ProblemTask", "Problems", "ProblemsConfig"]
