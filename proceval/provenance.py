"""Where a result comes from: versions, commit, and the source text that shapes a problem."""

import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from proceval.seeding import digest

SHAPES = ("domain", "prover", "audit")
"""Packages, and below them modules, whose source decides what a data set holds."""
MODULES = ("smt", "problem", "seeding", "assembly", "guesses", "journal")


@cache
def source_digest() -> str:
    """SHA-256 over the source of everything that shapes a problem: a family that was edited makes another dataset."""
    here = Path(__file__).parent
    files = sorted(path for name in SHAPES for path in (here / name).rglob("*.py"))
    files += [here / f"{name}.py" for name in MODULES]
    return digest([[path.relative_to(here).as_posix(), path.read_text(encoding="utf-8")] for path in files])


def versions() -> dict[str, Any]:
    """Versions of what a result depends on; None for a package that is not installed."""

    def of(name: str) -> str | None:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return None

    from proceval import __version__

    return {
        "proceval": __version__,
        "python": platform.python_version(),
        "platform": platform.system().lower() + "-" + platform.machine(),
        "solvers": {name: of(name) for name in ("z3-solver", "cvc5")},
        "packages": {name: of(name) for name in ("hydra-core", "pydantic", "litellm", "pyarrow", "wandb", "seaborn")},
    }


@cache
def git_commit(start: Path) -> str | None:
    """The commit that the checkout around `start` stands on, `-dirty` where tracked files were edited; None outside one.

    A checkout that does not track config.yaml in `start` is somebody else's and counts as none. Where git cannot be
    asked, the commit is read from .git, with `-unchecked` behind it.
    """
    git = ["git", "--no-optional-locks", "-C", str(start), "-c", "core.fsmonitor=false"]
    try:
        tracked = subprocess.run([*git, "ls-files", "--error-unmatch", "config.yaml"], capture_output=True, timeout=20)
        if tracked.returncode == 1:
            return None
        describe = [*git, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
        run = subprocess.run(describe, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        run = None
    if run is not None and run.returncode == 0:
        return run.stdout.strip()
    head = _head(start)
    return head and f"{head}-unchecked"


def _head(start: Path) -> str | None:
    """The commit by the files of .git alone."""
    for folder in (start, *start.parents):
        git = folder / ".git"
        if not git.is_dir():
            continue
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return head
        reference = git / head[5:]
        if reference.is_file():
            return reference.read_text(encoding="utf-8").strip()
        packed = git / "packed-refs"
        lines = packed.read_text(encoding="utf-8").splitlines() if packed.is_file() else []
        return next((line.split()[0] for line in lines if line.endswith(" " + head[5:])), None)
    return None
