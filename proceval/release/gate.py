"""The gate before an upload: a release must be whole, agree with itself, and prove again what it says it proves.

Beyond what recheck.py does for strangers it builds every text and every prompt again from its instance, the card from the
manifest, and asks oracle and reference, which needs the families. What it takes on trust is in docs/recheck.md.
"""

import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from proceval.errors import InputError, Malformed
from proceval.folder import file_digest, line, rejections
from proceval.problem import specified
from proceval.protocols import Family
from proceval.release import recheck
from proceval.release.canary import canary
from proceval.release.card import card
from proceval.release.content import Unreadable, as_made, claims, content
from proceval.release.manifest import Tally
from proceval.release.rows import COLUMNS, FATES, PROMPTS, Row, arrow_schema, differing, problem
from proceval.schema import Problem
from proceval.seeding import text_digest
from sandbox.worker import Pool, Reply

Fault = tuple[str, str]
"""(file or row, sentence)."""
Prompts = Callable[[Problem], Mapping[str, str]]
"""The prompts of a problem, as export builds them."""
COUNTED = ("problems", "distribution", "families", "tests", "evidence", "audit")
TIMEOUT_S = 3600.0
"""The worker's own limits end a query long before."""


def faults(
    release: Path,
    *,
    families: Mapping[str, Family],
    prompts: Prompts,
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
    try:
        yield from _files(release, told)
        yield from _rejections(release, told)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        yield "manifest.json", f"is not made as a manifest is ({type(error).__name__}: {error})"
    yield from _counts(release, told, families, prompts)
    yield from _columns(release, told)
    if not any(name == recheck.ARCHIVE for name, _ in damaged):
        yield from _proofs(release, families, again, workers or os.cpu_count() or 1, limits, advance)


def _files(release: Path, told: Mapping[str, Any]) -> Iterator[Fault]:
    """The names that a release has and no others; recheck.py and the card byte by byte."""
    named = re.fullmatch(r"data/([a-z]+(?:_[a-z0-9]+)*)\.jsonl", told["rows"])
    if named is None:
        yield "manifest.json", f"rows is {told['rows']!r}; allowed is data/SPLIT.jsonl"
        return
    parquet = f"data/{named[1]}-00000-of-00001.parquet"
    allowed = {told["rows"], parquet, recheck.ARCHIVE, "README.md", "recheck.py", "rejections.jsonl"}
    yield from ((name, "is no file of a release") for name in sorted(set(told["files"]) - allowed))
    yield from ((name, "is missing from the manifest") for name in sorted(allowed - set(told["files"])))
    if _bytes(release / "recheck.py") != Path(recheck.__file__).read_bytes():
        yield "recheck.py", "is not the one of this version of proceval"
    found = _bytes(release / "README.md").decode(errors="replace")
    title, named_set = (
        re.search(r"^# (.{1,100})$", found, re.M),
        re.search(r'load_dataset\("([\w./-]+)", split=', found),
    )
    if not title or not named_set:
        yield "README.md", "is not the card of a release"
    elif found != card(told, title=title[1], repo_id=named_set[1], split=named[1], parquet=parquet):
        yield "README.md", "is not the card that follows from the manifest"


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _rejections(release: Path, told: Mapping[str, Any]) -> Iterator[Fault]:
    """The rejected candidates against the manifest's count by reason."""
    try:
        found = dict(Counter(one.reason for one in rejections(release)))
    except InputError as error:
        yield "rejections.jsonl", str(error)
        return
    if found != told["generation"]["rejected"]:
        yield "rejections.jsonl", "does not hold the rejections that the manifest counts"


def _counts(
    release: Path, told: Mapping[str, Any], families: Mapping[str, Family], prompts: Prompts
) -> Iterator[Fault]:
    """The rows against what the manifest counts, each row against the canary, its own id and its specifications."""
    tally, seen, whole = Tally(), dict[str, int](), sha256()
    least, known = _suite_least(told), True
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
        yield from ((f"row {number}, {field}", sentence) for field, sentence in _said(row, least))
        if row["audit"] and row["audit"]["survived"]:
            yield f"row {number}, audit", f"{row['audit']['survived']} mutants survive its tests"
        made = _made(row, families)
        known = known and made is not None
        if made is not None:
            whole.update(line(made).encode())
            yield from ((f"row {number}, {field}", sentence) for field, sentence in _asked(row, made, prompts))
        tally.add(row)
    found = tally.facts()
    for name in COUNTED:
        if found[name] != told.get(name):
            yield "manifest.json", f"{name} is not what the rows hold"
    if known and whole.hexdigest() != told.get("dataset_sha256"):
        yield "manifest.json", "dataset_sha256 is not the hash of these problems"
    if told.get("canary") != canary(str(told.get("dataset_sha256"))):
        yield "manifest.json", "canary does not follow from dataset_sha256"
    if str(told.get("canary")) not in (release / "README.md").read_text(encoding="utf-8"):
        yield "README.md", "does not hold the canary"


def _suite_least(told: Mapping[str, Any]) -> int:
    """Hidden tests that a problem has at least: the main instance and the companions that the settings ask for."""
    try:
        return 1 + int(told["generation"]["settings"]["audit"]["suite_least"])
    except (KeyError, TypeError, ValueError):
        return 1


def _said(row: Row, least: int) -> Iterator[Fault]:
    """The size of a row's suite, and its audit as far as it can be told from the row."""
    if len(row["tests"]) < least:
        yield "tests", f"{len(row['tests'])} hidden tests; the settings ask for {least} at least"
    audit = row["audit"]
    if audit and audit["template_sha256"] != text_digest(row["reference"]):
        yield "audit", "is not about this reference"
    if audit and sum(audit[fate] for fate in FATES) != audit["mutants"]:
        yield "audit", "the fates do not add up to the mutants"


def _made(row: Row, families: Mapping[str, Family]) -> Problem | None:
    """The problem as it was generated; None for what is no row, or of no family here: faults of their own."""
    try:
        found = problem(row)
    except InputError:
        return None
    return as_made(found, families[found.family]) if found.family in families else None


def _asked(row: Row, made: Problem, prompts: Prompts) -> Iterator[Fault]:
    try:
        built = prompts(made)
    except (KeyError, TypeError, ValueError) as error:
        yield "prompts", f"cannot be built from the row ({error!r})"
        return
    yield from ((name, "is not the prompt that follows from the row") for name in PROMPTS if row[name] != built[name])


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
    for name in told["files"]:
        if name.endswith(".parquet"):
            rows = (row if list(row) == list(COLUMNS) else None for _, row in recheck.rows(release))
            yield from ((name, sentence) for sentence in differing(release / name, arrow_schema(), rows, told["rows"]))


def _proofs(
    release: Path,
    families: Mapping[str, Family],
    again: int | str,
    workers: int,
    limits: Mapping[str, Any],
    advance: Callable[[int], None],
) -> Iterator[Fault]:
    """Every row against its family, oracle and reference; the labels of a sample, drawn by the manifest's hash, or of all
    problems proved again. In workers that can be killed."""
    total = sum(1 for _ in recheck.rows(release))
    draw = Random(file_digest(release / "manifest.json"))
    chosen = set(draw.sample(range(total), total if isinstance(again, str) else min(again, total)))

    def work(job: tuple[Row, bool], section: Callable[[str], None]) -> list[Fault]:
        row, proved = job

        def decide(query: str) -> str:
            section(str(row.get("id")))
            return recheck.by_z3(query, TIMEOUT_S)

        with zipfile.ZipFile(release / recheck.ARCHIVE) as archive:
            again = list(recheck.row_faults(row, archive, decide)) if proved else []
            return [*again, *_family(row, families, archive)]

    def jobs() -> Iterator[tuple[Row, bool]]:
        return ((row, n in chosen) for n, (_, row) in enumerate(recheck.rows(release)))

    done = 0
    with Pool(work, workers=workers, **limits) as pool:
        for number, reply in enumerate(pool.map(jobs()), 1):
            yield from ((f"row {number}, {field}", sentence) for field, sentence in _told(reply))
            done += number - 1 in chosen
            advance(done)


def _family(row: Row, families: Mapping[str, Family], archive: zipfile.ZipFile) -> Iterator[Fault]:
    """A row against what its family says, where that is here; where it is not, `_specifications` has said so."""

    def read(digest: str) -> str:
        try:
            return recheck.text(archive, digest, "json")
        except recheck.Unreadable as error:
            raise Unreadable(str(error)) from error

    try:
        found = problem(row)
    except InputError:
        return
    family = families.get(found.family)
    if family is not None and family.version == found.family_version:
        yield from content(found, family)
        yield from claims(found, family, row["evidence"], read)


def _told(reply: Reply) -> list[Fault]:
    if reply.status == "done":
        return list(reply.value)
    return [("evidence", f"could not be checked: worker {reply.status} {(reply.error or '').strip()}".strip())]
