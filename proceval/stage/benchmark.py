"""stage=benchmark: the main job, step by step; each step is a stage that could be run alone."""

from collections.abc import Mapping
from typing import Any

from proceval.errors import ProcevalError
from proceval.folder import RunFolder


class Benchmark:
    """Runs its steps in order; a finding or an unscored sample does not keep the later steps from reporting it."""

    writes = True
    then = ["--multirun", "model=mock,gold", "difficulty=easy,hard"]
    in_place = False

    def __init__(self, *, steps: Mapping[str, Any]) -> None:
        self.steps = dict(steps)

    def check(self, folder: RunFolder) -> None:
        if folder.dataset is not None:
            folder.source()
            self.steps.pop("generate", None)

    def run(self, folder: RunFolder) -> int:
        report = self.steps.pop("report")
        report.start()
        worst = 0
        try:
            for step in self.steps.values():
                worst = max(worst, step.run(folder))
        except ProcevalError as error:
            report.run(folder, exit_status=error.exit_status)
            raise
        report.run(folder, exit_status=worst)
        return worst
