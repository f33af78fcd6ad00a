"""stage=push: the gate, then the upload; without HF_TOKEN the gate alone."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.protocols import Family
from proceval.release import gate, hub
from proceval.release.write import is_release
from proceval.stage import progress
from proceval.stage.export import place

SHOWN = 20


class Push:
    """Nothing that fails the gate leaves this machine; exit status 1 then, with a line a difference."""

    writes = False
    in_place = True
    then: Sequence[str] = ()

    def __init__(
        self,
        *,
        release: str | None,
        repo_id: str | None,
        private: bool,
        recheck: int | str,
        families: Mapping[str, Mapping[str, Family]],
        workers: int | None,
        limits: Mapping[str, Any],
    ) -> None:
        if recheck != "all" and (isinstance(recheck, str) or recheck < 1):
            raise InputError(f"recheck={recheck}: allowed is a number of problems from 1, or all")
        self.release, self.repo_id, self.private, self.recheck = release, repo_id, private, recheck
        self.families = {name: family for group in families.values() for name, family in group.items()}
        self.workers, self.limits = workers, dict(limits)

    def check(self, folder: RunFolder) -> None:
        hub.check_name(self.repo_id)
        self.found(folder)

    def run(self, folder: RunFolder) -> int:
        release = self.found(folder)
        if not self.passes(release):
            return 1
        repo_id, token = hub.check_name(self.repo_id), os.environ.get("HF_TOKEN")
        if not token:
            progress.say(f"push     skipped: HF_TOKEN is not set; nothing was sent to {repo_id}, the release is in {release}")
            return 0
        url = hub.upload(release, repo_id=repo_id, private=self.private, token=token)
        progress.say(f"push     {release} is in {repo_id}: {url}")
        return 0

    def passes(self, release: Path) -> bool:
        """Whether the release passes the gate; says what does not."""
        found = []
        with progress.bar("gate", None) as advance:
            for where, sentence in gate.faults(
                release,
                families=self.families,
                again=self.recheck,
                workers=self.workers,
                limits=self.limits,
                advance=advance,
            ):
                found.append(where)
                if len(found) <= SHOWN:
                    print(f"{where}: {sentence}")
        if len(found) > SHOWN:
            print(f"... and {len(found) - SHOWN} more")
        proved = "all" if self.recheck == "all" else f"up to {self.recheck}"
        progress.say(f"gate     {release}: files, rows, counts and the proofs of {proved} problems; differences: {len(found)}")
        return not found

    def found(self, folder: RunFolder) -> Path:
        """The release that is meant. Raises InputError when there is none."""
        given = Path(folder.dataset) if folder.dataset else None
        if self.release is None and given is not None and is_release(given):
            return given
        release = place(self.release, folder)
        if not is_release(release):
            raise InputError(f"{release}: no release there; run stage=export first, or give release=FOLDER")
        return release
