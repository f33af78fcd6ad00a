"""What the stage hands to the pages: they are scripts of the server, so it lies in this process and not in arguments."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proceval.console.desk import Desk
from proceval.errors import InputError


@dataclass(frozen=True)
class Parts:
    """Where to look, what to ask, and who does the live work."""

    root: Path
    desk: Desk
    pass_k: Sequence[int]


_installed: list[Parts] = []


def install(parts: Parts) -> None:
    """Make these the parts of every page from now on."""
    _installed[:] = [parts]


def current() -> Parts:
    """The parts in use. Raises InputError where a page is run on its own."""
    if not _installed:
        raise InputError("the console has no parts; start it with: python -m proceval stage=console")
    return _installed[0]
