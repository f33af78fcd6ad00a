"""stage=selftest: does a track's own grading notice what it must? Each track brings its trials."""

from collections.abc import Sequence
from typing import Any

from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.stage import progress
from proceval.stage.evaluate import lacks, suits


class Selftest:
    """Prints what was tried; exit status 1 when something was not noticed, 3 when a judge could not be tested."""

    writes = True
    then: Sequence[str] = ("stage=benchmark",)
    in_place = False

    def __init__(self, *, track: Any, engine: Any, sandbox: Any) -> None:
        self.track, self.engine, self.sandbox = track, engine, sandbox

    def check(self, folder: RunFolder) -> None:
        if not hasattr(self.track, "selftest"):
            raise InputError(
                "this track has no self-test, since its scorer tests itself before every run; give track=review or track=agent"
            )
        # Before any question about a provider: these ask no model.
        self.sound = self.track.trials(progress.say)
        for judge in self.track.judges() if self.sound else ():
            suits(judge, "judge")
            if complaint := lacks(judge):
                raise InputError(complaint)

    def run(self, folder: RunFolder) -> int:
        if not self.sound:
            return 1
        found: int = self.track.selftest(folder, engine=self.engine, sandbox=self.sandbox, say=progress.say)
        return found
