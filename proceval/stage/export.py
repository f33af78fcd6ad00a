"""stage=export: the release folder: rows as JSON Lines and Parquet, proofs, manifest, card, and what a stranger rechecks with."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from proceval import folder as files
from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.release.source import source
from proceval.release.write import write
from proceval.schema import Problem
from proceval.stage import progress
from proceval.words import counted, shown


class Export:
    """Writes `release`, by default release/ in the run folder, whole or not at all."""

    writes = True
    in_place = True
    then: Sequence[str] = ()
    made: tuple[Path, str]
    """The release, and the command with which anybody proves it again."""

    def __init__(
        self,
        *,
        release: str | None,
        repo_id: str | None,
        title: Annotated[str, Field(min_length=1, max_length=100)],
        split: Annotated[str, Field(pattern=r"^[a-z]+(_[a-z0-9]+)*$")],
        prompts: Mapping[str, Any],
    ) -> None:
        self.release, self.repo_id, self.title, self.split = release, repo_id, title, split
        self.prompts = dict(prompts)

    def check(self, folder: RunFolder) -> None:
        if folder.dataset is not None and not Path(folder.dataset).exists():
            raise InputError(f"dataset={folder.dataset}: no such folder")
        if folder.dataset is not None and not Path(folder.dataset).is_dir():
            raise InputError(f"dataset={folder.dataset}: a release is made from a whole run folder; give the folder")
        source(folder.source())

    def run(self, folder: RunFolder) -> int:
        made_in = source(folder.source())
        target = place(self.release, folder)
        total = made_in.facts["problems"]
        with progress.bar("export", total) as advance:
            facts = write(
                made_in,
                target,
                title=self.title,
                split=self.split,
                repo_id=self.repo_id,
                prompts=texts(self.prompts),
                advance=advance,
            )
        progress.say(
            f"export   {counted(facts['problems'], 'problem')} with "
            f"{counted(sum(facts['tests'].values()), 'proved answer')}: {target}"
            f" (manifest {files.file_digest(target / 'manifest.json')[:16]})"
        )
        self.made = made_at(target)
        return 0


def texts(prompts: Mapping[str, Any]) -> Callable[[Problem], Mapping[str, str]]:
    """What stands in a row's prompt columns, by these tracks."""
    return lambda problem: {
        f"prompt_{mode}": track.prompt(problem, "default")[-1].content for mode, track in prompts.items()
    }


def made_at(release: Path) -> tuple[Path, str]:
    """Where a release lies, and the command that proves it again without proceval."""
    return release, shlex.join(["python", "-I", shown(release / "recheck.py")])


def place(release: str | None, folder: RunFolder) -> Path:
    """Where the release of a run lies: `release`, or release/ in the run folder."""
    return Path(release) if release else folder.path / "release"
