"""A dataset against what lies beside it: the record of its generation, its settings, its audit and its Parquet copy.

Whoever changes a dataset can change these too. What can be counted again from the rows and the rejections is counted; how
many tests a row was given is only told by the settings and by the audit.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from proceval import folder as files
from proceval.assembly import machine_dependent, shortfall
from proceval.errors import InputError
from proceval.guesses import floor
from proceval.protocols import Family
from proceval.register import Register
from proceval.release.content import Fault, same, short
from proceval.release.rows import differing
from proceval.report import parquet
from proceval.schema import AuditReport, Problem, Rejection

RECORD = "generation.json"
KEYS = (
    "problems",
    "sha256",
    "candidates",
    "rejected",
    "machine_dependent",
    "shortfalls",
    "guess_floor",
)
Cell = tuple[str, str]
"""(family name, tier)."""


def settings(source: Path) -> dict[str, Any]:
    """The configuration that the dataset of a folder was made with; empty where the folder does not tell."""
    import yaml

    try:
        found = yaml.safe_load((source / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    if not isinstance(found, dict):
        return {}
    derived = found.get("dataset")  # the configuration of a run on a dataset that was made with another one
    return found if derived is None or Path(str(derived)).resolve() == source.resolve() else {}


def record(file: Path, families: Mapping[str, Family], told: Mapping[str, Any]) -> Iterator[Fault]:
    """generation.json against the problems in `file` and the rejections beside it; (place, sentence).

    `told` are the settings. How many candidates there were is known within bounds: of one that was rejected at first the
    rejections do not say whether a problem came of it later.
    """
    source = file.parent
    try:
        found = json.loads((source / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        yield RECORD, f"cannot be read ({error})"
        return
    if not isinstance(found, dict):
        yield RECORD, "is no record of a generation"
        return
    for name in sorted(set(found) ^ set(KEYS)):
        yield RECORD, f"{name} {'is missing' if name in KEYS else 'is no key of such a record'}"
    rows, cells, whole = _cells(file)
    if found.get("problems") != rows:
        yield RECORD, f"{found.get('problems')} problems were generated, the dataset holds {rows}"
    hashes = found.get("sha256")
    for name in ("dataset.jsonl", "rejections.jsonl", "certificates/index.jsonl"):
        path = source / name
        known = hashes.get(name) if isinstance(hashes, dict) else None
        if not path.is_file() or files.file_digest(path) != known:
            yield RECORD, f"{name} is not the file that was generated"
    yield from _rejected(source, found, rows)
    if whole:  # a row that cannot be read is in no count, and is a difference already
        yield from _floors(found.get("guess_floor"), cells)
        yield from _shortfalls(found, cells, families, told.get("count"))


def _cells(file: Path) -> tuple[int, dict[Cell, dict[str, Any]], bool]:
    """(rows, guess floor of each cell, whether every row can be read). Of a cell in two places the last counts."""
    rows, whole = 0, True

    def readable() -> Iterator[Problem]:
        nonlocal rows, whole
        for rows, one in enumerate(files.each(file, Problem), 1):  # noqa: B007 - the last one counts
            if isinstance(one, Problem):
                yield one
            else:
                whole = False

    cells = {cell: floor(group) for cell, group in groupby(readable(), lambda p: (p.family, p.difficulty))}
    return rows, cells, whole


def _rejected(source: Path, found: Mapping[str, Any], rows: int) -> Iterator[Fault]:
    """What follows from rejections.jsonl."""
    path, reasons = source / "rejections.jsonl", Counter[str]()
    tickets = Register(
        "ticket (family TEXT, tier TEXT, number INTEGER, PRIMARY KEY (family, tier, number)) WITHOUT ROWID"
    )
    for one in files.each(path, Rejection) if path.is_file() and path.stat().st_size else ():
        if isinstance(one, InputError):
            yield "rejections.jsonl", str(one)
            continue
        reasons[one.reason] += 1
        tickets.put("INSERT OR IGNORE INTO ticket VALUES (?, ?, ?)", one.family, one.difficulty, one.index)
    (tried,) = tickets.one("SELECT count(*) FROM ticket")
    tickets.close()
    if not same(found.get("rejected"), reasons):
        yield f"{RECORD}, rejected", f"{short(found.get('rejected'))}, but rejections.jsonl holds {short(reasons)}"
    fired = machine_dependent(reasons)
    if not same(found.get("machine_dependent"), fired):
        yield f"{RECORD}, machine_dependent", f"{short(found.get('machine_dependent'))} instead of {short(fired)}"
    least, most = rows + reasons["duplicate"], rows + tried
    candidates = found.get("candidates")
    if type(candidates) is not int or not least <= candidates <= most:
        allowed = str(least) if least == most else f"a number from {least} to {most}"
        yield f"{RECORD}, candidates", f"{short(candidates)} instead of {allowed}"


def _floors(stored: Any, cells: Mapping[Cell, Mapping[str, Any]]) -> Iterator[Fault]:
    """The guess floors, field by field; a cell without a problem has one, too."""
    items = [item for item in stored if isinstance(item, dict)] if isinstance(stored, list) else []
    if not isinstance(stored, list) or len(items) != len(stored):
        yield f"{RECORD}, guess_floor", "is no list of cells"
    left = dict(cells)
    for number, item in enumerate(items):
        cell = (str(item.get("family")), str(item.get("difficulty")))
        again = {"family": cell[0], "difficulty": cell[1], **left.pop(cell, floor(()))}
        for name in [*again, *sorted(set(item) - set(again))]:
            if not same(item.get(name), again.get(name)):
                where = f"{RECORD}, guess_floor.{number}.{name}"
                yield where, f"{short(item.get(name))}, but {' '.join(reversed(cell))} gives {short(again.get(name))}"
    for family, tier in left:
        yield f"{RECORD}, guess_floor", f"{tier} {family} is missing"


def _shortfalls(
    found: Mapping[str, Any], cells: Mapping[Cell, Mapping[str, Any]], families: Mapping[str, Family], count: Any
) -> Iterator[Fault]:
    """The cells that have fewer problems than were asked for; `count` is that number, or one for each family."""
    stored = found.get("shortfalls")
    if not isinstance(stored, list) or not all(isinstance(item, dict) for item in stored):
        yield f"{RECORD}, shortfalls", "is no list of cells"
        return
    by_cell = {(str(item.get("family")), str(item.get("difficulty"))): item for item in stored}
    if len(by_cell) != len(stored):
        yield f"{RECORD}, shortfalls", "a cell stands twice"
    floors = found.get("guess_floor")
    named = [item for item in floors if isinstance(item, dict)] if isinstance(floors, list) else []
    for cell in dict.fromkeys([*by_cell, *((str(i.get("family")), str(i.get("difficulty"))) for i in named)]):
        family, item = families.get(cell[0]), by_cell.get(cell)
        asked = count.get(cell[0]) if isinstance(count, dict) else count
        asked = item.get("asked") if asked is None and item else asked
        if family is None or cell[1] not in family.tiers or type(asked) is not int:
            continue  # not known here; each row of such a cell says so
        have = cells[cell]["problems"] if cell in cells else 0
        again = shortfall(cell, have, families, asked) if have < asked else None
        if not same(item, again):
            names = [name for name in again or () if item and not same(item.get(name), (again or {})[name])]
            what = "should be there" if item is None else "should not be there" if again is None else "differs"
            yield f"{RECORD}, shortfalls", f"{' '.join(reversed(cell))} {what} {', '.join(names)}".rstrip()


def table(file: Path) -> Iterator[Fault]:
    """dataset.parquet against the dataset beside it, if there is one: every row and field, then its statistics and headers."""
    path = file.with_suffix(".parquet")
    if file.name != "dataset.jsonl" or not path.is_file():
        return
    whole = True

    def rows() -> Iterator[Any]:
        nonlocal whole
        for one in files.each(file, Problem):
            whole = whole and isinstance(one, Problem)
            yield parquet.dataset_row(one) if isinstance(one, Problem) else None

    for sentence in differing(path, parquet.dataset_schema(), rows(), file.name):
        whole = False
        yield path.name, sentence
    if whole and _retouched(path, parquet.encode(rows(), parquet.dataset_schema())):
        yield path.name, "holds the same rows, but other statistics or headers than are written with them"


def _retouched(path: Path, ours: bytes) -> bool:
    """Whether a Parquet file with our rows was changed where no row is: as long as ours and of the same writer, but other.

    Another version of the writer, or of its compressor, gives another file without anybody's doing.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = path.read_bytes()
    if len(found) != len(ours) or found == ours:
        return False
    return bool(pq.read_metadata(path).created_by == pq.read_metadata(pa.BufferReader(ours)).created_by)


class Suites:
    """How many tests each problem was given, as far as the folder tells."""

    def __init__(self, source: Path, told: Mapping[str, Any]) -> None:
        self.faults: list[Fault] = []
        self._audited = Register("suite (problem TEXT PRIMARY KEY, tests INTEGER) WITHOUT ROWID")
        audit = told.get("audit")
        least = audit.get("suite_least") if isinstance(audit, dict) else None
        self.least = 1 + least if type(least) is int else None
        """Hidden tests of a problem at the least: the main instance and the companions that the settings ask for."""
        path = source / "audit.jsonl"
        self.measured = path.is_file() and path.stat().st_size > 0
        for one in files.each(path, AuditReport) if self.measured else ():
            if isinstance(one, InputError):
                self.faults.append(("audit.jsonl", str(one)))
                continue
            tests = 1 + max((test for mutant in one.mutants for test in mutant.kills), default=-1)
            self._audited.put("INSERT OR REPLACE INTO suite VALUES (?, ?)", one.problem_id, tests)

    def short(self, problem: Problem) -> Iterator[Fault]:
        """Whether tests of a problem are gone."""
        has = len(problem.tests)
        if self.least is not None and has < self.least:
            yield "tests", f"{has} hidden tests; config.yaml asks for {self.least} at least"
        found = self._audited.one("SELECT tests FROM suite WHERE problem = ?", problem.id)
        if found is not None and has < found[0]:
            yield "tests", f"{has} hidden tests; test {found[0] - 1} kills a mutant in audit.jsonl"

    def limit(self) -> str | None:
        """What cannot be told about tests that were taken out together with their certificates; None where much can."""
        if self.measured or self.least is not None:
            return None
        return "no config.yaml or audit.jsonl of this dataset here: a test taken out with its certificate cannot be noticed"

    def close(self) -> None:
        self._audited.close()
