"""A run as the report reads it: fixed names, typed records, and nothing assumed to be there."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from proceval.errors import InputError
from proceval.schema import AuditReport, Certificate, Problem, Record, Rejection, Response, Verdict

R = TypeVar("R", bound=Record)

READ = {
    "config.yaml": "the resolved configuration",
    "dataset.jsonl": "problems",
    "certificates/index.jsonl": "proofs",
    "rejections.jsonl": "rejected candidates",
    "generation.json": "how the dataset was made",
    "audit.jsonl": "mutation audits",
    "records.jsonl": "model responses",
    "verdicts.jsonl": "verdicts",
}
"""Files that a report is made from, and what is not known when one is missing."""


@dataclass(frozen=True)
class Run:
    """Typed views on the files of one run; a missing file is an empty view, and a torn last line is not read.

    Where a key occurs twice (a run that was resumed or scored again) the last verdict or response counts; evidence,
    which can be far larger than memory, is streamed and its first record counts.
    Every view raises InputError that names file and line for anything else that is not such a record.
    """

    path: Path

    def missing(self) -> list[str]:
        """Names of the files of READ that this run does not have."""
        return [name for name in READ if not (self.path / name).is_file()]

    def problems(self) -> list[Problem]:
        return list({p.id: p for p in self.each("dataset.jsonl", Problem)}.values())

    def certificates(self) -> Iterator[Certificate]:
        return first_of_each(self.each("certificates/index.jsonl", Certificate), lambda c: (c.problem_id, c.test))

    def rejections(self) -> Iterator[Rejection]:
        return self.each("rejections.jsonl", Rejection)

    def audits(self) -> Iterator[AuditReport]:
        return first_of_each(self.each("audit.jsonl", AuditReport), lambda a: (a.problem_id, a.audit))

    def responses(self) -> list[Response]:
        return list({r.key: r for r in self.each("records.jsonl", Response)}.values())

    def verdicts(self) -> list[Verdict]:
        return list({sample_key(v): v for v in self.each("verdicts.jsonl", Verdict)}.values())

    def torn(self) -> dict[str, int]:
        """Files whose last line was cut short and is not read -> its number."""
        found = {}
        for name in READ:
            path = self.path / name
            if name.endswith(".jsonl") and path.is_file():
                number, line = 0, b"\n"
                with path.open("rb") as file:
                    for number, line in enumerate(file, start=1):  # noqa: B007 - the last one counts
                        pass
                if not line.endswith(b"\n") and _torn(line):
                    found[name] = number
        return found

    def document(self, name: str) -> Any:
        """The content of a JSON file such as generation.json, or None where there is none."""
        path = self.path / name
        return _parse(path.read_bytes(), path, 1) if path.is_file() else None

    def each(self, name: str, record: type[R]) -> Iterator[R]:
        """Records of one JSONL file in file order, read line by line."""
        path = self.path / name
        if not path.is_file():
            return
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n") and _torn(line):
                    return
                if not line.strip():
                    continue
                try:
                    yield record.model_validate(_parse(line, path, number))
                except _NotJson as error:
                    bad, total = _unreadable(path)
                    raise InputError(f"{error}; of {total} lines {bad} cannot be read, this one first") from error
                except ValidationError as error:
                    first = error.errors()[0]
                    where = ".".join(str(part) for part in first["loc"]) or "record"
                    message = f"{path}, line {number}: not a {record.__name__}: {where}: {first['msg']}."
                    raise InputError(message) from error


def sample_key(record: Verdict | Response) -> tuple[str, ...]:
    """What makes a sample one sample: model, base_url, arm, strategy, mode, problem id and the sample's number."""
    return (
        record.model, record.base_url or "", record.arm, record.strategy, record.mode,
        record.problem_id, f"{record.sample:09d}",
    )  # fmt: skip


def replace(path: Path, content: bytes) -> None:
    """Write a whole file or nothing: a reader sees the old bytes or the new ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def printable(text: str) -> str:
    """The text as valid UTF-8 without control characters: lone surrogates and controls become visible escapes.

    Model text may hold terminal escapes; the JSONL keeps it as it came.
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode("ascii") for c in text)


def first_of_each(records: Iterator[R], key: Callable[[R], tuple[object, ...]]) -> Iterator[R]:
    """The records without those whose key was seen before."""
    seen: set[tuple[object, ...]] = set()
    for record in records:
        if key(record) not in seen:
            seen.add(key(record))
            yield record


def _parse(line: bytes, path: Path, number: int) -> Any:
    try:
        return json.loads(line, parse_constant=_refuse)
    except ValueError as error:
        raise _NotJson(f"{path}, line {number}: not JSON: {error}") from error


class _NotJson(InputError):
    """A line or file that is no JSON at all."""


def _unreadable(path: Path) -> tuple[int, int]:
    """(lines that are no JSON, lines) of a file."""
    with path.open("rb") as file:
        broken = [_torn(line) for line in file if line.strip()]
    return sum(broken), len(broken)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _torn(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return True
    return False
