"""stage=release: generate, audit, verify, export and push in one command; the first step that finds something ends it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proceval.folder import RunFolder
from proceval.release import hub
from proceval.stage import progress


class Release:
    """Runs its steps in order; what fails a step is never published. Without repo_id the release stays here."""

    writes = True
    in_place = False
    then: Sequence[str] = ()

    def __init__(self, *, steps: Mapping[str, Any]) -> None:
        self.steps = dict(steps)

    def check(self, folder: RunFolder) -> None:
        push = self.steps["push"]
        if push.repo_id is not None:
            hub.check_name(push.repo_id)
        if folder.dataset is not None:
            del self.steps["generate"]
            self.steps["export"].check(folder)

    @property
    def made(self) -> tuple[Path, str] | None:
        """What the step that exports has left, once it has."""
        return getattr(self.steps["export"], "made", None)

    def run(self, folder: RunFolder) -> int:
        for name, step in self.steps.items():
            if name == "push" and step.repo_id is None:
                progress.say("push     not asked for: repo_id=USER/NAME would; the gate is passed all the same")
                return 0 if step.passes(step.found(folder)) else 1
            status: int = step.run(folder)
            if status:
                progress.say(f"release  stopped at {name}: nothing was published")
                return status
        return 0
