"""A sweep's jobs: where each one lies, its own log, how it ended, and who tells the terminal, under any Hydra launcher.

One at a time, everything a job says is shown as it happens. Side by side, a line is shown for each job that ends, and the
end of its log at once when it did not end fine; a thread of the launching process reads that from the sweep's folder, so
that it works wherever the job ran. A job's folder holds `log.txt` and, once it ended, `status.json`.
"""

import hashlib
import json
import math
import os
import re
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from proceval import credentials
from proceval.errors import STATES, InputError
from proceval.folder import write_atomically
from proceval.grammar import quoted, read
from proceval.stage import progress
from proceval.store import InUse, lock
from proceval.words import counted, shown

ONE_BY_ONE = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"
SWEEP_DIR, EXCLUDED = "hydra.sweep.dir", "hydra.job.config.override_dirname.exclude_keys"
NO_RESULT = ("fresh", "workers", "outputs", "hydra", "tracker", "figures")
"""Keys that a sweep's folder does not follow from: the same sweep resumes under another launcher."""
SHOWN_LINES, LOOK_EVERY_S = 20, 0.5


# ------------------------------------------------------------------------------------------ the command line


def folder(arguments: Sequence[str], found: Sequence[Override]) -> Path:
    """Where a sweep lies: it follows from its words, swept ones first, so that the same command resumes it."""
    own = next((o for o in reversed(found) if o.key_or_group == SWEEP_DIR and not o.is_sweep_override()), None)
    if own is not None:
        return Path(str(own.value()))
    telling = [o for o in found if re.split("[./]", o.key_or_group)[0] not in NO_RESULT]
    telling.sort(key=lambda o: (not o.is_sweep_override(), o.key_or_group))
    words = [str(o.input_line) for o in telling]
    roots = [str(o.value()) for o in found if o.key_or_group == "outputs" and not o.is_sweep_override()]
    credentials.watch(
        given=credentials.given({o.key_or_group: o.value() for o in telling if not o.is_sweep_override()})
    )
    name = (
        re.sub(r"[^A-Za-z0-9._]+", "-", "+".join(map(credentials.word, words))).strip("-.")[:60].rstrip("-.") or "sweep"
    )
    digits = hashlib.sha256(repr(sorted(words)).encode()).hexdigest()[:8]
    return Path(roots[-1] if roots else "outputs") / "sweeps" / f"{name}-{digits}"


def added(sweep: Path, found: Sequence[Override]) -> list[str]:
    """Words for Hydra: the sweep's folder, and which keys are the same in all jobs and so tell nothing in a folder's name.

    They are words and no environment, which need not reach a worker on another machine; what the user said stands.
    """
    said = {o.key_or_group for o in found}
    same = [o.key_or_group for o in found if not o.is_sweep_override()]
    ours = {SWEEP_DIR: quoted(os.path.abspath(sweep)), EXCLUDED: f"[{','.join(quoted(key) for key in same)}]"}
    return [f"{key}={value}" for key, value in ours.items() if key not in said]


def planned(found: Sequence[Override], params: Sequence[Override] = ()) -> int:
    """How many jobs these words and the sweeper's own parameters make."""
    sizes = {
        o.key_or_group: len(list(o.sweep_string_iterator())) if o.is_sweep_override() else 1 for o in (*params, *found)
    }
    return math.prod(sizes.values())


# ------------------------------------------------------------------------------------------ one job


class Job:
    """Around one job of a sweep: its output also goes to log.txt, its end to status.json, and the next job starts.

    An error that nobody expected is written to the log and makes the status 1: it is that job's, not the sweep's. A job
    that another process works at is left alone: `refused` says so, and nothing is written.
    """

    def __init__(self, path: Path, words: Sequence[str], launcher: str):
        self.path, self.live = path, launcher == ONE_BY_ONE
        # Hydra escapes what its grammar would read
        self.words = [re.sub(r"\\(.)", r"\1", credentials.word(word).removeprefix("++")) for word in words]
        self._withholds = any(credentials.word(word) != word for word in words)
        self.status, self.identity, self.reason, self.refused = 1, "", "", False
        self._stack = ExitStack()

    def __enter__(self) -> "Job":
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._stack.enter_context(lock(self.path))
        except InUse as error:
            self.refused, self.status = True, error.exit_status
            progress.say(f"proceval: job {self.path.name} is being run by process {error.holder}; it is left to it")
            return self
        if self._withholds:
            credentials.withhold(self.path.parent / "multirun.yaml")  # Hydra's own, which holds every word
        self.before = status_of(self.path)
        self._write({"exit_status": None, "state": "died", "overrides": self.words})  # should it be killed from here on
        self._started = time.monotonic()
        log = self._stack.enter_context(
            (self.path / "log.txt").open("a", encoding="utf-8", errors="replace", buffering=1)
        )
        self._stack.enter_context(redirect_stdout(Tee(log, sys.stdout if self.live else None)))
        self._stack.enter_context(redirect_stderr(Tee(log, sys.stderr if self.live else None)))
        if self.live:
            progress.say(f"job {self.path.name}")
        return self

    def stands(self, identity: str) -> bool:
        """Whether an earlier run of this very job, with the same versions and configuration, ended fine."""
        self.identity = identity
        return self.before.get("exit_status") == 0 and self.before.get("identity") == identity

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self.refused:
            return False
        swallowed = isinstance(error, Exception)
        if swallowed:
            traceback.print_exception(error, file=sys.stderr)
            self.status, self.reason = 1, f"{kind.__name__ if kind else ''}: {error}"[:300]
        elif error is not None:
            self.status = 130 if isinstance(error, KeyboardInterrupt) else 1
        body = {
            "exit_status": self.status,
            "state": "raised" if swallowed else STATES.get(self.status, f"status {self.status}"),
            "reason": self.reason,
            "seconds": round(time.monotonic() - self._started, 1),
            "overrides": self.words,
            "identity": self.identity,
        }
        self._write(body)
        self._stack.close()
        if self.live:
            progress.say(ended(self.path, body))
        return swallowed

    def _write(self, body: dict[str, Any]) -> None:
        write_atomically(self.path / "status.json", json.dumps(body) + "\n")


class Tee:
    """A text stream that writes to a log and, where there is one, to the terminal."""

    def __init__(self, log: TextIO, terminal: TextIO | None):
        self.log, self.terminal = log, terminal
        self.encoding = "utf-8"

    def write(self, text: str) -> int:
        self.log.write(text)
        if self.terminal is not None:
            self.terminal.write(text)
        return len(text)

    def flush(self) -> None:
        if not self.log.closed:
            self.log.flush()
        if self.terminal is not None:
            self.terminal.flush()

    def isatty(self) -> bool:
        return self.terminal is not None and self.terminal.isatty()

    def fileno(self) -> int:
        return (self.terminal or self.log).fileno()


def status_of(path: Path) -> dict[str, Any]:
    """A job's status.json, or nothing where it left none that can be read."""
    try:
        found = json.loads((path / "status.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("exit_status"), int) else {}


def jobs(sweep: Path) -> list[Path]:
    """The job folders of a sweep by number."""
    found = [p for p in sweep.iterdir() if p.is_dir() and p.name.partition("-")[0].isdigit()] if sweep.is_dir() else []
    return sorted(found, key=lambda path: int(path.name.partition("-")[0]))


def exit_statuses(sweep: Path) -> list[int]:
    """Exit status of every job that started; one that left none ended badly and counts as 1."""
    return [int(status_of(path).get("exit_status", 1)) for path in jobs(sweep)]


def ended(path: Path, body: dict[str, Any]) -> str:
    """One line on how a job ended, with the place of its log unless that was fine."""
    line = f"job {path.name}: {body.get('state', '?')} after {body.get('seconds', '?')} s"
    if body.get("exit_status") == 0:
        return line
    reason = f": {body['reason']}" if body.get("reason") else ""
    return f"{line}{reason}; log {min(os.path.relpath(path / 'log.txt'), str(path / 'log.txt'), key=len)}"


# ------------------------------------------------------------------------------------------ many jobs


class Watch(Callback):
    """Hydra calls it when a sweep starts; it goes to workers with Hydra's context, so it holds nothing itself."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        params = OmegaConf.to_container(config.hydra.sweeper.get("params") or OmegaConf.create({}))
        assert isinstance(params, dict)
        given = OverridesParser.create().parse_overrides([f"{key!s}={value!s}" for key, value in params.items()])
        own = [o for o in read(sys.argv[1:]) if not o.key_or_group.startswith("hydra")]
        _started.jobs = planned(own, given)
        if config.hydra.launcher._target_ != ONE_BY_ONE:
            _started.follower = Follower(Path(os.path.relpath(config.hydra.sweep.dir)), _started.jobs)


class Follower:
    """A thread that shows each job of a sweep as it ends, and the end of its log when it did not end fine."""

    def __init__(self, sweep: Path, count: int):
        self.sweep, self.count, self.since, self.seen = sweep, count, time.time(), set[Path]()
        progress.say(f"sweep    {counted(count, 'job')} side by side in {sweep}; a line for each that ends")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Show what ended last, and end the thread."""
        self._stopping.set()
        self._thread.join()
        self._look()

    def _follow(self) -> None:
        while not self._stopping.wait(LOOK_EVERY_S):
            self._look()

    def _look(self) -> None:
        for path in jobs(self.sweep):
            body = status_of(path)
            if path in self.seen or not body or (path / "status.json").stat().st_mtime < self.since - 1:
                continue
            self.seen.add(path)
            progress.say(f"[{len(self.seen)}/{self.count}] {ended(path, body)}")
            if body["exit_status"] != 0:
                progress.say("\n".join(f"  | {line}" for line in last_lines(path / "log.txt")))


@dataclass
class _Started:
    """What this process knows of the sweep that it started."""

    jobs: int = 0
    follower: Follower | None = None


_started = _Started()


def last_lines(path: Path) -> list[str]:
    """The end of a job's log."""
    return path.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN_LINES:] if path.is_file() else []


class Launch:
    """Around a whole sweep, which it holds: what breaks a launcher (a worker killed, a lost node) is told, no traceback.

    Errors of the command line pass through. Raises InputError where another process runs the same sweep.
    """

    def __init__(self, sweep: Path, passing: tuple[type[BaseException], ...]):
        self.sweep, self.passing, self.broken = sweep, passing, False

    def __enter__(self) -> "Launch":
        self.sweep.mkdir(parents=True, exist_ok=True)
        self._lock = lock(self.sweep)
        try:
            self._lock.__enter__()
        except InUse as error:
            raise InputError(
                f"this sweep is being run by process {error.holder}; its table will stand in {shown(self.sweep)}, and once "
                "it has ended the same command resumes"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if _started.follower is not None:
            _started.follower.stop()
            _started.follower = None
        if {path.name for path in self.sweep.iterdir()} <= {"lock", "multirun.yaml"}:
            shutil.rmtree(self.sweep)  # nothing was started
        self._lock.__exit__(None, None, None)
        if not isinstance(error, Exception) or isinstance(error, self.passing):
            return False
        self.broken = True
        self.sweep.mkdir(parents=True, exist_ok=True)
        with (self.sweep / "launcher.log").open("a", encoding="utf-8") as log:
            traceback.print_exception(error, file=log)
        first = (str(error).strip().splitlines() or ["no reason given"])[0]
        progress.say(
            f"proceval: the launcher broke, {type(error).__name__}: {first[:300]}; see {self.sweep / 'launcher.log'}"
        )
        return True


def missing(sweep: Path) -> int:
    """How many jobs of the sweep that was started last have no folder yet."""
    return max(0, _started.jobs - len(jobs(sweep)))
