"""Progress and closing lines in the terminal: on standard error, so that standard output stays the report."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from proceval.words import shown


class Advance(Protocol):
    """Tell the bar how far the work is."""

    def __call__(self, done: int, total: int | None = None) -> None: ...


@contextmanager
def bar(label: str, total: int | None) -> Iterator[Advance]:
    """A progress bar in a terminal, nothing elsewhere (a log file needs no animation)."""
    if not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(file=sys.__stderr__)  # past whoever also keeps a log: a bar is only for the screen
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(label, total=total)

        def advance(done: int, total: int | None = None) -> None:
            progress.update(task, completed=done, total=total)

        yield advance


def say(text: str) -> None:
    """One line about what happened."""
    print(text, file=sys.stderr, flush=True)


def where(folder: Path, then: str) -> None:
    """The last lines of every run: where the results are, and the next sensible command."""
    say(f"results  {shown(folder)}")
    say(f"next     {then}")
