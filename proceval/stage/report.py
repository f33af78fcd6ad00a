"""stage=report: tables, Parquet, figures and the tracker, all recomputed from the run folder's records."""

import sys
from typing import Any

from proceval import config
from proceval.conftree import config_dir
from proceval.folder import RunFolder
from proceval.stage import progress


class Report:
    """Records first, then Parquet, then tables and figures, then the tracker, which can change none of them."""

    writes = True

    def __init__(self, *, tracker: Any, pass_k: list[int]) -> None:
        self.tracker, self.pass_k = tracker, pass_k

    def check(self, folder: RunFolder) -> None:
        folder.source()

    def run(self, folder: RunFolder, exit_status: int = 0) -> int:
        from rich.console import Console

        from proceval.report import markdown, parquet, plots, summary, tables

        found = summary.write(
            folder.path,
            exit_status=exit_status,
            versions=config.versions(),
            git_commit=config.git_commit(config_dir()),
            ks=self.pass_k,
        )
        parquet.write(folder.path)
        markdown.write(folder.path, found)
        Console(file=sys.stdout).print(tables.render(found))
        plots.draw(folder.path, found)
        self.tracker.write(folder.path, found, config.redact(folder.settings))
        self.tracker.close(exit_status)
        progress.where(folder.path, self._next(found))
        return 0

    def _next(self, found: dict[str, Any]) -> str:
        if not found.get("scores"):
            return "python -m proceval stage=evaluate with the same overrides and model=..."
        return "python -m proceval --multirun model=mock,gold difficulty=easy,hard"
