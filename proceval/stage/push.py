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
from proceval.stage.export import place, texts

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
        prompts: Mapping[str, Any],
        workers: int | None,
        limits: Mapping[str, Any],
    ) -> None:
        if recheck != "all" and (isinstance(recheck, str) or recheck < 1):
            raise InputError(f"recheck={recheck}: allowed is a number of problems from 1, or all")
        self.release, self.repo_id, self.private, self.recheck = release, repo_id, private, recheck
        self.families = {name: family for group in families.values() for name, family in group.items()}
        self.prompts, self.workers, self.limits = dict(prompts), workers, dict(limits)

    def check(self, folder: RunFolder) -> None:
        hub.check_name(self.repo_id)
        self.found(folder)

    def run(self, folder: RunFolder) -> int:
        release = self.found(folder)
        if not self.passes(release):
            return 1
        repo_id, token = hub.check_name(self.repo_id), os.environ.get("HF_TOKEN")
        if not token:
            progress.say(
                f"push     skipped: HF_TOKEN is not set; nothing was sent to {repo_id}, the release is in {release}"
            )
            return 0
        url = hub.upload(release, repo_id=repo_id, private=self.private, token=token)
        progress.say(f"push     {release} is in {repo_id}: {url}")
        return 0

    def passes(self, release: Path) -> bool:
        """Whether the release passes the gate; says what does not."""
        return passes(release, self.families, self.prompts, self.recheck, self.workers, self.limits)

    def found(self, folder: RunFolder) -> Path:
        """The release that is meant. Raises InputError when there is none."""
        given = Path(folder.dataset) if folder.dataset else None
        if self.release is None and given is not None and is_release(given):
            return given
        release = place(self.release, folder)
        if not is_release(release):
            raise InputError(f"{release}: no release there; run stage=export first, or give release=FOLDER")
        return release


def passes(
    release: Path,
    families: Mapping[str, Family],
    prompts: Mapping[str, Any],
    again: int | str,
    workers: int | None,
    limits: Mapping[str, Any],
) -> bool:
    """Whether a release passes the gate; prints a line for each thing that does not hold."""
    found = 0
    with progress.bar("gate", None) as advance:
        faults = gate.faults(
            release,
            families=families,
            prompts=texts(prompts),
            again=again,
            workers=workers,
            limits=limits,
            advance=advance,
        )
        for found, (where, sentence) in enumerate(faults, 1):
            if found <= SHOWN:
                print(f"{where}: {sentence}")
    if found > SHOWN:
        print(f"... and {found - SHOWN} more")
    proved = "all" if again == "all" else f"up to {again}"
    progress.say(f"gate     {release}: files, rows, counts and the proofs of {proved} problems; differences: {found}")
    return not found
