"""stage=report: tables, Parquet, figures and the tracker, all recomputed from the run folder's records."""

import sys
from pathlib import Path
from typing import Any

from proceval import config
from proceval.conftree import config_dir
from proceval.folder import RunFolder
from proceval.stage import progress


class Report:
    """Records first, then Parquet, then figures and tables, then the tracker, which can change none of them.

    With dataset=FOLDER it reports on that run folder, or on all jobs of that sweep folder, in place.
    """

    writes = True
    then = ["--multirun", "model=mock,gold", "difficulty=easy,hard"]
    in_place = True

    def __init__(self, *, tracker: Any, pass_k: list[int], figures: bool) -> None:
        self.tracker, self.pass_k, self.figures = tracker, pass_k, figures

    def check(self, folder: RunFolder) -> None:
        if not is_sweep(folder.path):
            folder.source()

    def start(self) -> None:
        """Let the tracker fork while this process has one thread."""
        self.tracker.start()

    def run(self, folder: RunFolder, exit_status: int = 0) -> int:
        from proceval.report import markdown, parquet, plots, summary

        if is_sweep(folder.path):
            sweep(folder.path, self.pass_k)
            return 0
        self.start()
        found = summary.write(
            folder.path,
            exit_status=exit_status,
            versions=config.versions(),
            git_commit=config.git_commit(config_dir()),
            ks=self.pass_k,
        )
        parquet.write(folder.path)
        if self.figures:
            plots.draw(folder.path, found)
        markdown.write(folder.path, found)
        _show(found)
        self.tracker.write(folder.path, found, config.redact(folder.settings))
        self.tracker.close(exit_status)
        return 0


def is_sweep(path: Path) -> bool:
    """Whether a folder is a sweep's: it holds job folders and no dataset of its own."""
    return not (path / "dataset.jsonl").exists() and any(path.glob("[0-9]*/status.json"))


def sweep(path: Path, pass_k: list[int]) -> None:
    """One table, one Parquet file and one set of figures over all jobs of a sweep, the failed ones among them."""
    from proceval.report import sweep as jobs

    _show(jobs.aggregate(path, ks=pass_k))
    progress.where(path, f"python -m proceval stage=report dataset={path}   (rebuilds this table)")


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console

    from proceval.report import tables

    Console(file=sys.stdout).print(tables.render(found))
