"""The gate before an upload: a release must be whole, agree with itself, and prove again what it says it proves.

Beyond what recheck.py does for strangers it builds every text again from its instance, which needs the families.
"""

import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from proceval.errors import InputError, Malformed
from proceval.folder import file_digest
from proceval.problem import specified
from proceval.protocols import Family
from proceval.release import recheck
from proceval.release.manifest import Tally
from proceval.release.rows import COLUMNS, Row, arrow_schema, problem
from proceval.seeding import text_digest
from sandbox.worker import Pool, Reply

Fault = tuple[str, str]
"""(file or row, sentence)."""
COUNTED = ("problems", "distribution", "families", "tests", "evidence", "audit")
TIMEOUT_S = 3600.0
"""The worker's own limits end a query long before."""


def faults(
    release: Path,
    *,
    families: Mapping[str, Family],
    again: int | str,
    workers: int | None,
    limits: Mapping[str, Any],
    advance: Callable[[int], None],
) -> Iterator[Fault]:
    """Everything about a release that does not hold; `again` is how many of its problems are proved again.

    Raises InputError for a folder that is no release.
    """
    try:
        told = recheck.manifest(release)
    except ValueError as error:
        raise InputError(f"{error}; stage=export makes a release") from error
    damaged = list(recheck.file_faults(release))
    yield from damaged
    yield from _counts(release, told, families)
    try:
        yield from _columns(release, told)
    except (OSError, ValueError) as error:  # Arrow's errors are ValueErrors or OSErrors
        yield "Parquet", f"cannot be read ({' '.join(str(error).split())[:150]})"
    if not any(name == recheck.ARCHIVE for name, _ in damaged):
        yield from _proofs(release, again, workers or os.cpu_count() or 1, limits, advance)


def _counts(release: Path, told: Mapping[str, Any], families: Mapping[str, Family]) -> Iterator[Fault]:
    """The rows against what the manifest counts, each row against the canary, its own id and its specifications."""
    tally, seen = Tally(), dict[str, int]()
    for number, (_, row) in enumerate(recheck.rows(release), 1):
        if list(row) != list(COLUMNS):
            yield f"row {number}", "does not have the columns of this version of proceval"
            continue
        if row["canary"] != told.get("canary"):
            yield f"row {number}, canary", "differs from the manifest's"
        if row["id"] in seen:
            yield f"row {number}, id", f"stands already in row {seen[row['id']]}"
        seen.setdefault(row["id"], number)
        yield from ((f"row {number}, {field}", sentence) for field, sentence in recheck.content_faults(row))
        yield from ((f"row {number}, {field}", sentence) for field, sentence in _specifications(row, families))
        if row["audit"] and row["audit"]["survived"]:
            yield f"row {number}, audit", f"{row['audit']['survived']} mutants survive its tests"
        tally.add(row)
    found = tally.facts()
    for name in COUNTED:
        if found[name] != told.get(name):
            yield "manifest.json", f"{name} is not what the rows hold"
    if str(told.get("canary")) not in (release / "README.md").read_text(encoding="utf-8"):
        yield "README.md", "does not hold the canary"


def _specifications(row: Row, families: Mapping[str, Family]) -> Iterator[Fault]:
    """Whether each proof begins with the text that the family writes for the very instance of its test."""
    try:
        found = problem(row)
    except InputError as error:
        yield "row", str(error)
        return
    family = families.get(found.family)
    if family is None or family.version != found.family_version:
        yield "family", f"{found.family} {found.family_version} is not among the families here, or not in this version"
        return
    tests = {**dict(enumerate(found.tests)), **{-1 - n: test for n, test in enumerate(found.examples)}}
    for item in row["evidence"]:
        test = tests.get(item["test"])
        try:
            text = specified(family, test.arguments).existence() if test else ""
        except Malformed as error:
            yield f"test {item['test']}", f"breaks the family's contract: {error}"
            continue
        if not item["queries"] or item["queries"][0]["smt_sha256"] != text_digest(text):
            yield f"evidence of test {item['test']}", "does not begin with the text that follows from its instance"


def _columns(release: Path, told: Mapping[str, Any]) -> Iterator[Fault]:
    """Parquet against JSON Lines: schema, Hugging Face's features, and every row."""
    import pyarrow.parquet as pq

    for name in told["files"]:
        if not name.endswith(".parquet"):
            continue
        table = pq.ParquetFile(release / name)
        if not table.schema_arrow.equals(arrow_schema(), check_metadata=True):
            yield name, "does not have the schema of this version of proceval"
            continue
        rows: Iterator[Row] = (row for batch in table.iter_batches(1024) for row in batch.to_pylist())
        for number, (one, other) in enumerate(zip_longest(rows, (row for _, row in recheck.rows(release))), 1):
            if one != other:
                yield name, f"row {number} is not the one of {told['rows']}"
                break


def _proofs(
    release: Path, again: int | str, workers: int, limits: Mapping[str, Any], advance: Callable[[int], None]
) -> Iterator[Fault]:
    """The labels of a sample, drawn by the manifest's hash, or of all problems: proved in workers that can be killed."""
    total = sum(1 for _ in recheck.rows(release))
    draw = Random(file_digest(release / "manifest.json"))
    chosen = set(draw.sample(range(total), total if isinstance(again, str) else min(again, total)))

    def work(row: Row, section: Callable[[str], None]) -> list[Fault]:
        def decide(query: str) -> str:
            section(str(row.get("id")))
            return recheck.by_z3(query, TIMEOUT_S)

        with zipfile.ZipFile(release / recheck.ARCHIVE) as archive:
            return list(recheck.row_faults(row, archive, decide))

    def picked() -> Iterator[tuple[int, Row]]:
        return ((n, row) for n, (_, row) in enumerate(recheck.rows(release), 1) if n - 1 in chosen)

    with Pool(work, workers=workers, **limits) as pool:
        replies = pool.map(row for _, row in picked())
        for done, ((number, _), reply) in enumerate(zip(picked(), replies, strict=True), 1):
            yield from ((f"row {number}, {field}", sentence) for field, sentence in _told(reply))
            advance(done)


def _told(reply: Reply) -> list[Fault]:
    if reply.status == "done":
        return list(reply.value)
    return [("evidence", f"could not be proved again: worker {reply.status} {(reply.error or '').strip()}".strip())]
