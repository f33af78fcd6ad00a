"""A run folder: fixed names, atomic writes, and how a stage finds what the stage before it wrote.

config.yaml        resolved configuration, secrets removed, with its identity, versions and git commit
dataset.jsonl      one Problem a line, in index order
dataset.parquet    the same for columnar readers
generation.json    counts, rejections by reason, guess floors, shortfalls
rejections.jsonl   one Rejection a line
certificates/      index.jsonl (one Certificate a line); by SHA-256 the SMT-LIB texts, ab/abcd....smt2.gz, and the data
                   of direct arguments, ab/abcd....json.gz
audit.jsonl        one AuditReport a line
audit.parquet      one mutant a row
cases.jsonl        one case a line, as it was asked: of tracks that have their own cases
records.jsonl      one Response a line: what was paid for
faults.jsonl       requests that failed for good; retried by the next run
verdicts.jsonl     one Verdict a line, recomputed from the records
records.parquet    responses and verdicts joined
sandbox.json       which layers the verdicts' sandbox lacked on this machine
summary.json, report.md, figures/, wandb/, status.json
"""

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from proceval import nearest
from proceval.credentials import redact
from proceval.errors import Finding, InputError
from proceval.schema import AuditReport, Certificate, Problem, Record, Rejection
from proceval.store import lock
from proceval.words import shown

R = TypeVar("R", bound=Record)

GENERATION = ("domain", "difficulty", "prover", "audit", "seed", "count")
"""Keys that a dataset's bytes follow from."""
ANSWERED = (*GENERATION[:2], "model", "strategy", "track", "sandbox", *GENERATION[2:], "samples", "limit")
"""Keys that tell one evaluation from another, the most telling first."""

GENERATED = ("dataset.jsonl", "generation.json", "rejections.jsonl", "certificates")
"""What stage=generate leaves, and what a later run with the same inputs takes over instead of proving it again."""
MEASURED = (
    "dataset.parquet",
    "audit.jsonl",
    "audit.parquet",
    "material.jsonl",
    "verdicts.jsonl",
    "records.parquet",
    "generation.partial.jsonl",
)
MADE_FROM = ".inputs"


@dataclass(frozen=True)
class RunFolder:
    """One run's folder with what identifies it."""

    path: Path
    settings: dict[str, Any]
    inputs: str
    """Identity of the dataset that this configuration generates: 64 hex digits."""
    outputs: Path
    dataset: str | None

    @contextmanager
    def open(self, *, fresh: bool, writes: bool) -> Iterator[None]:
        """Hold the folder alone while a stage writes; a live holder refuses, a dead one is taken over.

        A stage that only reads leaves nothing behind. Raises InputError when another process holds the folder.
        """
        if not writes:
            self._drop_if_empty()
            yield
            return
        self.path.mkdir(parents=True, exist_ok=True)
        with lock(self.path):
            if fresh:
                for item in self.path.iterdir():
                    if item.name != "lock":
                        shutil.rmtree(item) if item.is_dir() and not item.is_symlink() else item.unlink()
            yield

    def _drop_if_empty(self) -> None:
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    # -------------------------------------------------------------------------------------- writing

    def write_config(
        self, settings: dict[str, Any], *, identity: str, versions: dict[str, Any], git_commit: str | None
    ) -> None:
        import yaml

        body = {**settings, "identity": identity, "versions": versions, "git_commit": git_commit}
        write_atomically(self / "config.yaml", yaml.safe_dump(body, sort_keys=False, allow_unicode=True))

    def check_owner(self, identity: str) -> None:
        """Raises InputError for a folder of another configuration: its name ends with the beginning of an identity alone.

        A folder that was given another name, as a job of a sweep is, may hold any configuration.
        """
        import yaml

        path = self / "config.yaml"
        if not path.is_file() or not self.path.name.endswith(f"-{identity[:8]}"):
            return
        try:
            found = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (ValueError, yaml.YAMLError):
            return  # whatever it is, it is replaced
        if isinstance(found, dict) and found.get("identity", identity) != identity:
            raise InputError(
                f"{shown(self.path)} holds a run of another configuration, whose identity begins with the same "
                f"{identity[:8]}; give another outputs= for this one"
            )

    def outdated(self) -> bool:
        """Whether this folder's dataset was made from other inputs, such as a family that has changed since."""
        note = self / MADE_FROM
        return note.is_file() and note.read_text(encoding="utf-8").strip() != self.inputs

    def clear(self) -> None:
        """Remove the dataset and what was measured of it; paid responses stay, since they are found by problem."""
        for name in (*GENERATED, MADE_FROM, *MEASURED):
            if (self / name).is_dir():
                shutil.rmtree(self / name)
            else:
                (self / name).unlink(missing_ok=True)

    def made(self) -> None:
        """Note what the dataset that is made here is made from."""
        write_atomically(self / MADE_FROM, self.inputs + "\n")

    def publish(self) -> None:
        """Let later runs with the same inputs find this dataset."""
        pointer = self.outputs / ".datasets" / f"{self.inputs}.json"
        pointer.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(pointer, json.dumps({"folder": os.path.relpath(self.path, self.outputs)}) + "\n")

    # -------------------------------------------------------------------------------------- finding

    def published(self) -> Path | None:
        """The folder of an earlier run whose dataset has the same inputs, or None."""
        pointer = self.outputs / ".datasets" / f"{self.inputs}.json"
        try:
            folder = self.outputs / str(json.loads(pointer.read_text(encoding="utf-8"))["folder"])
        except (OSError, ValueError, KeyError, TypeError):
            return None  # the pointer only saves work
        return folder if (folder / "generation.json").is_file() and untouched(folder) else None

    @contextmanager
    def generating(self) -> Iterator[None]:
        """Held while the dataset of these inputs is made, so that the jobs of a sweep prove it once."""
        waiting = self.outputs / ".datasets" / self.inputs
        waiting.mkdir(parents=True, exist_ok=True)
        with lock(waiting, wait=True):
            yield

    def shard(self, index: int, count: int) -> Path:
        """Where one shard of the dataset of these inputs lies once it is whole."""
        return self.outputs / ".datasets" / self.inputs / f"{index:05d}-of-{count:05d}.jsonl"

    def source(self) -> Path:
        """The folder to read the dataset from: `dataset=`, this folder, or the stage before with the same inputs.

        Raises InputError when there is none.
        """
        file = self.given()
        if file is not None:
            with closing(read(file, Problem)) as problems:
                next(problems, None)  # whatever else it is, it is said before any work
            return file.parent
        if (self / "dataset.jsonl").is_file():
            if not untouched(self.path):
                raise Finding(
                    f"{self / 'dataset.jsonl'} is not what was generated; stage=verify dataset={self.path} names what differs"
                )
            return self.path
        earlier = self.published()
        if earlier is None:
            raise InputError(
                f"no dataset in {shown(self.path)}, nor one made with the same words"
                f"{self.nearest(GENERATION, 'dataset.jsonl')}; run stage=generate with the same words, or give dataset=PATH"
            )
        return earlier

    def given(self) -> Path | None:
        """The file that `dataset=` names, None without that key. Raises InputError where there is none."""
        if self.dataset is None:
            return None
        place = Path(self.dataset)
        file = place / "dataset.jsonl" if place.is_dir() else place
        if not file.is_file():
            raise InputError(f"dataset={self.dataset}: no such file, and no folder that holds a dataset.jsonl")
        return file

    def nearest(self, keys: Iterable[str], holds: str) -> str:
        """Which run of `outputs` that holds such a file comes nearest in these keys, to stand behind a complaint."""
        return nearest.sentence(self.outputs, self.settings, keys, holds, self.path)

    def problems(self) -> Iterator[Problem]:
        """The problems of this run, one at a time, in dataset order."""
        source = self.source()
        return read(self.given() or source / "dataset.jsonl", Problem)

    def adopt(self, source: Path, names: Iterable[str]) -> None:
        """Copy what another folder holds into this one, so that a run folder is whole by itself."""
        for name in names:
            here, there = self / name, source / name
            if here.exists() or not there.exists() or source.resolve() == self.path.resolve():
                continue
            staged = self / f".{name}.partial"
            if staged.exists():
                shutil.rmtree(staged) if staged.is_dir() else staged.unlink()
            shutil.copytree(there, staged) if there.is_dir() else shutil.copyfile(there, staged)
            os.replace(staged, here)


def read(path: Path, kind: type[R]) -> Generator[R]:
    """The records of a JSONL file, one at a time.

    Raises InputError naming file, line and field; a file without a single record is an error too.
    """
    for record in each(path, kind):
        if isinstance(record, InputError):
            raise record
        yield record


def each(path: Path, kind: type[R]) -> Generator[R | InputError]:
    """The same, with the error in the place of a line that is no such record. Raises InputError for no or an empty file."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    number = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                yield InputError(f"{path}, line {number}: cut short (no line end); the file is not whole")
                continue
            try:
                record: R | InputError = kind.model_validate_json(line)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                where = ".".join(["", *map(str, first["loc"])]).replace(".", ", field ", 1)
                why = first["msg"].replace(" at line 1 column ", " at column ")  # a line has no further lines
                record = InputError(f"{path}, line {number}{where}: {why}")
            yield record
    if number == 0:
        raise InputError(f"{path}: empty, not a single {kind.__name__.lower()}")


def facts(folder: Path) -> dict[str, Any]:
    """generation.json. Raises InputError when it is not whole."""
    path = folder / "generation.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not {"problems", "rejected", "shortfalls", "machine_dependent", "sha256"} <= set(found):
            raise ValueError("keys are missing")
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not a generation record ({error}); remove the folder or give fresh=true") from error
    return dict(found)


def untouched(folder: Path) -> bool:
    """Whether a dataset still has the bytes that its generation recorded; True where nothing was recorded."""
    if not (folder / "generation.json").is_file():
        return True
    recorded = facts(folder)["sha256"]
    return (folder / "dataset.jsonl").is_file() and file_digest(folder / "dataset.jsonl") == recorded["dataset.jsonl"]


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def certificates(source: Path) -> Iterator[Certificate]:
    return read(source / "certificates" / "index.jsonl", Certificate)


def rejections(source: Path) -> Iterator[Rejection]:
    path = source / "rejections.jsonl"
    return read(path, Rejection) if path.is_file() and path.stat().st_size else iter(())


def audits(source: Path) -> Iterator[AuditReport]:
    return read(source / "audit.jsonl", AuditReport)


def write_records(path: Path, records: Iterable[Record]) -> int:
    """Write a JSONL file whole or not at all; returns how many lines."""
    count = 0
    staged = path.with_name(f".{path.name}.partial")
    with staged.open("w", encoding="utf-8") as out:
        for record in records:
            out.write(line(record))
            count += 1
        out.flush()
        os.fsync(out.fileno())
    os.replace(staged, path)
    return count


def line(record: Record) -> str:
    """A record as one line of JSON: fixed key order, ASCII, integers of any size exact."""
    return (
        json.dumps(record.model_dump(mode="python"), separators=(",", ":"), ensure_ascii=True, allow_nan=False) + "\n"
    )


def write_atomically(path: Path, text: str) -> None:
    """Replace a small file whole or not at all; credentials are left out."""
    # Jobs side by side share what lies above their folders.
    staged = path.with_name(f".{path.name}.{os.getpid()}.partial")
    staged.write_text(redact(text), encoding="utf-8")
    os.replace(staged, path)


def write_text(folder: Path, sha256: str, text: str, kind: Literal["smt2", "json"]) -> None:
    """Store one text of a certificate under its hash; a text that is already there is left alone."""
    path = text_path(folder, sha256, kind)
    if path.is_file():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}.partial")  # shards side by side may have the same text
    staged.write_bytes(gzip.compress(text.encode(), compresslevel=6, mtime=0))
    os.replace(staged, path)


def text_path(folder: Path, sha256: str, kind: Literal["smt2", "json"]) -> Path:
    """Where a text of a certificate lies: an SMT-LIB query, or the data of a direct argument."""
    return folder / sha256[:2] / f"{sha256}.{kind}.gz"
