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
from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from proceval.errors import STATES, InputError
from proceval.folder import write_atomically
from proceval.stage import progress
from proceval.words import counted, overrides, sweeping

ONE_BY_ONE = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"
SWEEP_DIR, EXCLUDED = "hydra.sweep.dir", "hydra.job.config.override_dirname.exclude_keys"
NO_RESULT = ("fresh", "workers", "outputs", "hydra", "tracker", "figures")
"""Keys that a sweep's folder does not follow from: the same sweep resumes under another launcher."""
LISTS = ("domain", "difficulty", "pass_k", "compare")
SHOWN_LINES, LOOK_EVERY_S = 20, 0.5
_ITEM = re.compile(r"""(?:"[^"]*"|'[^']*'|[^,"'])+""")
"""Of a list, up to the next comma outside of quotes."""


# ------------------------------------------------------------------------------------------ the command line


def legible(arguments: Sequence[str]) -> list[str]:
    """The same words, those in quotes that Hydra could not read: a path or id with spaces, brackets or an equals sign.

    In a list each of the items gets its own quotes, in a sweep each of the values between commas.
    """
    own = set(overrides(list(arguments)))
    return [_legible(word, sweeping(list(arguments))) if word in own else word for word in arguments]


def _legible(word: str, many: bool) -> str:
    key, sign, value = word.partition("=")
    if not sign or _parsed(word) is not None:
        return word
    if value.startswith("[") and value.endswith("]") and "[" not in value[1:]:
        items = [one if _parsed(f"x=[{one}]") else _quoted(one) for one in _ITEM.findall(value[1:-1])]
        listed = f"{key}=[{','.join(items)}]"
        if _parsed(listed) is not None:
            return listed
    values = value.split(",") if many and "'" not in value and '"' not in value else [value]
    quoted = f"{key}={','.join(_quoted(one) for one in values)}"
    return word if _parsed(quoted) is None else quoted


def _parsed(word: str) -> list[Override] | None:
    try:
        return OverridesParser.create().parse_overrides([word])
    except HydraException:
        return None


def read(arguments: Sequence[str]) -> list[Override]:
    """The overrides of a command line. Raises InputError for a word that Hydra cannot read, and for a sweep without
    `--multirun`."""
    found: list[Override] = []
    for word in overrides(list(arguments)):
        parsed = _parsed(word)
        key, _, value = word.partition("=")
        swept = [str(one) for o in parsed or () if o.is_sweep_override() for one in o.sweep_string_iterator()]
        if twice := next((one for one in swept if swept.count(one) > 1), None):
            raise InputError(f"{word}: {twice} stands there twice, and would be run twice; name it once")
        if parsed is None:
            raise InputError(
                f"cannot read {word!r}: write KEY=VALUE, a value with signs of its own in quotes within quotes"
            )
        if any(one.is_sweep_override() for one in parsed) and not sweeping(list(arguments)):
            listed = f" (or write a list, {key}=[{value}])" if key in LISTS else ""
            raise InputError(f"{word}: several values; add --multirun to sweep over them{listed}")
        found += parsed
    return found


def folder(arguments: Sequence[str], found: Sequence[Override]) -> Path:
    """Where a sweep lies: it follows from its words, swept ones first, so that the same command resumes it."""
    own = next((o for o in reversed(found) if o.key_or_group == SWEEP_DIR and not o.is_sweep_override()), None)
    if own is not None:
        return Path(str(own.value()))
    telling = [o for o in found if re.split("[./]", o.key_or_group)[0] not in NO_RESULT]
    telling.sort(key=lambda o: (not o.is_sweep_override(), o.key_or_group))
    words = [str(o.input_line) for o in telling]
    roots = [str(o.value()) for o in found if o.key_or_group == "outputs" and not o.is_sweep_override()]
    name = re.sub(r"[^A-Za-z0-9._]+", "-", "+".join(words)).strip("-.")[:60].rstrip("-.") or "sweep"
    digits = hashlib.sha256(repr(sorted(words)).encode()).hexdigest()[:8]
    return Path(roots[-1] if roots else "outputs") / "sweeps" / f"{name}-{digits}"


def added(sweep: Path, found: Sequence[Override]) -> list[str]:
    """Words for Hydra: the sweep's folder, and which keys are the same in all jobs and so tell nothing in a folder's name.

    They are words and no environment, which need not reach a worker on another machine; what the user said stands.
    """
    said = {o.key_or_group for o in found}
    same = [o.key_or_group for o in found if not o.is_sweep_override()]
    ours = {SWEEP_DIR: _quoted(os.path.abspath(sweep)), EXCLUDED: f"[{','.join(_quoted(key) for key in same)}]"}
    return [f"{key}={value}" for key, value in ours.items() if key not in said]


def planned(found: Sequence[Override], params: Sequence[Override] = ()) -> int:
    """How many jobs these words and the sweeper's own parameters make."""
    sizes = {
        o.key_or_group: len(list(o.sweep_string_iterator())) if o.is_sweep_override() else 1 for o in (*params, *found)
    }
    return math.prod(sizes.values())


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# ------------------------------------------------------------------------------------------ one job


class Job:
    """Around one job of a sweep: its output also goes to log.txt, its end to status.json, and the next job starts.

    An error that nobody expected is written to the log and makes the status 1: it is that job's, not the sweep's.
    """

    def __init__(self, path: Path, words: Sequence[str], launcher: str):
        self.path, self.live = path, launcher == ONE_BY_ONE
        self.words = [re.sub(r"\\(.)", r"\1", word) for word in words]  # Hydra escapes what its grammar would read
        self.status, self.identity, self.reason = 1, "", ""
        self._stack = ExitStack()

    def __enter__(self) -> "Job":
        self.path.mkdir(parents=True, exist_ok=True)
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
        swallowed = isinstance(error, Exception)
        if swallowed:
            traceback.print_exception(error, file=sys.stderr)
            self.status, self.reason = 1, f"{kind.__name__ if kind else ''}: {error}"[:300]
        elif error is not None:
            self.status = 130 if isinstance(error, KeyboardInterrupt) else 1
        self._stack.close()
        body = {
            "exit_status": self.status,
            "state": "raised" if swallowed else STATES.get(self.status, f"status {self.status}"),
            "reason": self.reason,
            "seconds": round(time.monotonic() - self._started, 1),
            "overrides": self.words,
            "identity": self.identity,
        }
        self._write(body)
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
    """Around a whole sweep: what breaks a launcher (a worker killed for its memory, a lost node) is told and no traceback.

    Errors of the command line pass through.
    """

    def __init__(self, sweep: Path, passing: tuple[type[BaseException], ...]):
        self.sweep, self.passing, self.broken = sweep, passing, False

    def __enter__(self) -> "Launch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if _started.follower is not None:
            _started.follower.stop()
            _started.follower = None
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
