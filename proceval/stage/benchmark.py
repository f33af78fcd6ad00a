"""stage=benchmark: the main job, step by step; each step is a stage that could be run alone."""

from collections.abc import Mapping
from typing import Any

from proceval.errors import InputError
from proceval.folder import RunFolder


class Benchmark:
    """Runs its steps in order; a finding or an unscored sample does not keep the later steps from reporting it."""

    then = ["--multirun", "model=mock,gold", "difficulty=easy,hard"]
    in_place = False
    tracked = True

    def __init__(self, *, steps: Mapping[str, Any]) -> None:
        self.steps = dict(steps)
        self.writes = bool(self.steps["evaluate"].writes)

    def check(self, folder: RunFolder) -> None:
        evaluate = self.steps["evaluate"]
        if not evaluate.track.proved:
            self.then = ["stage=selftest"]
            for name in ("generate", "audit"):
                self.steps.pop(name, None)
            evaluate.check(folder)
            return
        evaluate.check_models()
        evaluate.check_sandbox()
        if folder.dataset is not None:
            folder.source()
            self.steps.pop("generate", None)

    def run(self, folder: RunFolder) -> int:
        evaluate = self.steps["evaluate"]
        if not self.writes or (evaluate.dry_run and not evaluate.track.proved):  # nothing to report
            return int(evaluate.run(folder))
        report = self.steps.pop("report")
        report.start()
        with _Reported(report, folder) as so_far:
            for step in self.steps.values():
                so_far.worst = max(so_far.worst, step.run(folder))
        return so_far.worst


class _Reported:
    """Around the steps: however they end, what was recorded is reported with their exit status; an interrupt ends at once."""

    def __init__(self, report: Any, folder: RunFolder):
        self.report, self.folder, self.worst = report, folder, 0

    def __enter__(self) -> "_Reported":
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None:
            self.report.run(self.folder, exit_status=self.worst)
        elif isinstance(error, Exception) and not isinstance(error, InputError):
            self.report.run(self.folder, exit_status=getattr(error, "exit_status", 1), failure=str(error))
