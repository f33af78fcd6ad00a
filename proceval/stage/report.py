"""stage=report: tables, Parquet, figures and the tracker, all recomputed from the run folder's records."""

import sys
from pathlib import Path
from typing import Any

from proceval import config, naming, paired, provenance
from proceval.conftree import config_dir
from proceval.errors import InputError
from proceval.folder import ANSWERED, RunFolder, read
from proceval.schema import Verdict
from proceval.stage import progress
from proceval.words import shown


class Report:
    """Records first, then Parquet, then figures and tables, then the tracker, which can change none of them.

    With dataset=FOLDER it reports on that run folder, or on all jobs of that sweep folder, in place.
    """

    then = ["--multirun", "model=mock,gold", "difficulty=easy,hard"]
    in_place = True
    tracked = True

    def __init__(self, *, tracker: Any, pass_k: list[int], figures: bool, compare: list[str] | None) -> None:
        self.tracker, self.pass_k, self.figures = tracker, pass_k, figures
        self.pair = [Path(name) for name in compare or ()]
        self.writes = not self.pair

    def check(self, folder: RunFolder) -> None:
        for run in self.pair:
            if not (run / "verdicts.jsonl").is_file():
                raise InputError(
                    f"compare: {run} holds no verdicts.jsonl; give two evaluated run folders, compare=[A,B]"
                )
        evaluated = (folder.path / "verdicts.jsonl").is_file()  # also of a track that has no dataset
        if not self.pair and not is_sweep(folder.path) and not evaluated:
            need_verdicts(folder)

    def start(self) -> None:
        """Let the tracker fork while this process has one thread."""
        self.tracker.start()

    def run(self, folder: RunFolder, exit_status: int = 0, failure: str | None = None) -> int:
        if self.pair:
            return self._compare()
        from proceval.report import markdown, parquet, plots, summary

        if is_sweep(folder.path):
            show_sweep(folder.path, self.pass_k)
            return 0
        settings = recorded(folder)
        if not failure and folder.dataset is None and not (folder / "verdicts.jsonl").is_file():
            progress.say(f"report   nothing was evaluated here{folder.nearest(ANSWERED, 'verdicts.jsonl')}")
        self.start()
        with progress.bar("report", 3) as advance:
            found = summary.write(
                folder.path,
                exit_status=exit_status,
                versions=provenance.versions(),
                git_commit=provenance.git_commit(config_dir()),
                ks=self.pass_k,
                setup=naming.described(settings),
            )
            advance(1)
            parquet.write(folder.path)
            advance(2)
            if self.figures:
                plots.draw(folder.path, found)
            markdown.write(folder.path, found)
            advance(3)
        _show(found)
        self.tracker.write(folder.path, found | {"failure": failure}, config.redact(settings))
        self.tracker.close(exit_status)
        return 0

    def _compare(self) -> int:
        """The paired comparison of two runs on the samples that both scored."""
        first, second = (list(read(run / "verdicts.jsonl", Verdict)) for run in self.pair)
        names = [self.pair[0].name, self.pair[1].name]
        try:
            found = paired.compare(first, second)
        except ValueError as error:
            raise InputError(f"compare: {error}") from error
        for sentence in paired.sentences(found, first=names[0], second=names[1]):
            print(sentence)
        return 0


def need_verdicts(folder: RunFolder) -> None:
    """Raises InputError where there is nothing to report: no dataset, and of a track with cases of its own no verdicts."""
    if folder.dataset is not None and Path(folder.dataset).is_file():
        raise InputError(f"dataset={folder.dataset}: a report is made from a whole run folder; give the folder")
    track = naming.option(folder.settings["track"])
    if track == "solve" or folder.dataset is not None:
        folder.source()
        return
    near = folder.nearest(
        ("track", "model", "strategy", "sandbox", "samples", "limit", "cases", "suite"), "verdicts.jsonl"
    )
    raise InputError(
        f"no verdicts in {shown(folder.path)}{near}; run track={track} with the same words, or give dataset=PATH"
    )


def recorded(folder: RunFolder) -> dict[str, Any]:
    """The settings that a run was made with: its own config.yaml where an older run is reported, whatever is said now."""
    path = folder / "config.yaml"
    if folder.dataset is None or not path.is_file():
        return folder.settings
    import yaml

    try:
        found = dict(yaml.safe_load(path.read_text(encoding="utf-8")))
        for name in ("identity", "versions", "git_commit"):
            found.pop(name, None)
        naming.described(found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise InputError(
            f"{path}: not the configuration of a run ({type(error).__name__}); give the run folder"
        ) from error
    return found


class Untold:
    """Around a stage that has no tracker of its own: where it fails or ends with a finding, the tracker gets a failed run.

    The tracker's process is forked before the stage starts threads, and ends without a run when all is fine.
    """

    def __init__(self, stage: Any, folder: RunFolder):
        self.folder, self.status = folder, 0
        self.tracker: Any = None
        if stage.writes and not getattr(stage, "tracked", False):
            self.tracker = config.build(folder.settings["tracker"], "tracker")

    def __enter__(self) -> "Untold":
        if self.tracker is not None:
            self.tracker.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if self.tracker is None:
            return
        if isinstance(error, Exception):
            self.status = getattr(error, "exit_status", 1)
        if self.status and not isinstance(error, KeyboardInterrupt):
            found = known(self.folder.path, self.status) | {"failure": None if error is None else str(error)}
            self.tracker.write(self.folder.path, found, config.redact(self.folder.settings))
        self.tracker.close(self.status)


def known(path: Path, exit_status: int) -> dict[str, Any]:
    """The summary of a run that may not be whole; its sections are null where a record cannot be read."""
    from proceval.report import summary
    from proceval.report.run import Run

    try:
        return summary.summarise(Run(path), [1]) | {"exit_status": exit_status}
    except InputError:
        return dict.fromkeys(summary.SECTIONS) | {"exit_status": exit_status}


def is_sweep(path: Path) -> bool:
    """Whether a folder is a sweep's: it holds job folders and no dataset of its own."""
    return not (path / "dataset.jsonl").exists() and any(path.glob("[0-9]*/status.json"))


def show_sweep(path: Path, pass_k: list[int]) -> None:
    """One table, one Parquet file and one set of figures over all jobs of a sweep, the failed ones among them."""
    from proceval.report import sweep as jobs

    _show(jobs.aggregate(path, ks=pass_k))


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console

    from proceval.report import tables

    console = Console(file=sys.stdout)
    with console.capture() as drawn:
        console.print(tables.render(found))
    sys.stdout.write(tables.bare(drawn.get()))
    sys.stdout.flush()
