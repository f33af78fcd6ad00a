"""What the Problems page shows: the list with its status, and one problem with all its evidence."""

import gzip
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proceval.console import columns, exported, lines
from proceval.console.places import Place
from proceval.errors import InputError
from proceval.report.evidence import TIERS
from proceval.schema import AuditReport, Certificate, Message, Problem
from proceval.seeding import text_digest

ACCEPTED, WITHHELD, UNAUDITED = "accepted", "withheld", "not audited"


def table(place: Place) -> Any:
    """Every problem of a place once: id, family, domain, difficulty, tests, status, and folder (index of its home)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for number, folder in enumerate(place.folders):
        rows = columns.problems(folder)
        found.append(rows.append_column("folder", pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows)))
    whole = pa.concat_tables(found, promote_options="permissive").unify_dictionaries().combine_chunks()
    if len(found) > 1:
        whole = _once(whole)
    ids = whole["id"]
    audited: dict[str, bool] = {}
    for folder in place.folders:
        audited.update(columns.accepted(folder))
    said = {True: ACCEPTED, False: WITHHELD, None: UNAUDITED}
    status = pa.array([said[audited.get(one)] for one in ids.to_pylist()], pa.string())
    if pc.sum(pc.is_null(ids)).as_py():
        raise InputError(f"{place.path}: a problem without an id; this is no dataset of proceval")
    return columns.compact(whole.append_column("status", status), ["status"])


def _once(whole: Any) -> Any:
    """The first row of every id: jobs of a sweep share their datasets."""
    import pyarrow as pa

    seen: set[str] = set()
    first = []
    for number, one in enumerate(whole["id"].to_pylist()):
        if one not in seen:
            seen.add(one)
            first.append(number)
    return whole.take(pa.array(first, pa.int64()))


def tiers(names: list[str]) -> list[str]:
    """Tiers from easy to frontier, others behind."""
    return sorted(names, key=lambda name: (TIERS.index(name) if name in TIERS else len(TIERS), name))


# ------------------------------------------------------------------------------------------ one problem


def problem(folder: Path, identity: str) -> Problem | None:
    """One problem whole, or None. Raises InputError when its record is broken."""
    if exported.is_release(folder):
        return exported.problem(folder, identity)
    if (folder / "dataset.jsonl").is_file():
        found = lines.records(folder / "dataset.jsonl", Problem, identity)
        return next((one for one in found if one.id == identity), None)
    if (folder / "dataset.parquet").is_file():
        return _from_parquet(folder / "dataset.parquet", identity)
    return None


def _from_parquet(path: Path, identity: str) -> Problem | None:
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq
    from pydantic import ValidationError

    try:
        rows = pq.read_table(path, filters=[("id", "=", identity)]).to_pylist()
        if not rows:
            return None
        row = {name: rows[0][name] for name in Problem.model_fields}
        for name in ("arguments", "expected"):
            row[name] = json.loads(row[name])
        for name in ("examples", "tests"):
            row[name] = [
                {**test, "arguments": json.loads(test["arguments"]), "expected": json.loads(test["expected"])}
                for test in row[name]
            ]
        return Problem.model_validate(row)
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError, ValidationError) as error:
        raise InputError(f"{path}: problem {identity} cannot be read ({' '.join(str(error).split())[:200]})") from error


def certificates(folder: Path, identity: str) -> list[Certificate]:
    """The proofs of a problem's tests, the main one first, examples last."""
    found: Iterable[Certificate]
    if exported.is_release(folder):
        found = exported.certificates(folder, identity)
    else:
        found = lines.records(folder / "certificates" / "index.jsonl", Certificate, identity)
    return sorted((c for c in found if c.problem_id == identity), key=lambda c: (c.test < 0, abs(c.test)))


def smt(folder: Path, sha256: str) -> str:
    """The SMT-LIB text of a query. Raises InputError for one that is missing, broken, or does not have this hash."""
    path = folder / "certificates" / sha256[:2] / f"{sha256}.smt2.gz"
    if exported.is_release(folder):
        text = exported.text(folder, sha256)
    else:
        try:
            text = gzip.decompress(path.read_bytes()).decode()
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read ({error})") from error
    if text_digest(text) != sha256:
        raise InputError(f"{folder}, query {sha256}: the text does not have the hash that its certificate names")
    return text


def audit(folder: Path, identity: str) -> AuditReport | None:
    """The audit of a problem, or None where there was none."""
    found = lines.records(folder / "audit.jsonl", AuditReport, identity)
    return next((one for one in found if one.problem_id == identity), None)


def recorded_prompt(folder: Path, identity: str) -> tuple[Message, ...] | None:
    """The first request about a problem as a model really got it, or None where none was asked."""
    from proceval.schema import Response

    found = lines.records(folder / "records.jsonl", Response, identity)
    return next((one.messages for one in found if one.problem_id == identity and one.turn == 0), None)


@dataclass(frozen=True)
class Floor:
    """What guessing scores in one family and tier."""

    problems: int
    commonest_share: float | None
    shortcut_share: float | None
    best_shortcut: str | None


def floor(folder: Path, family: str, tier: str) -> Floor | None:
    """The guess floor as the generation recorded it, or None where it is not known."""
    facts = lines.document(folder / "generation.json")
    if facts is None and exported.is_release(folder):
        facts = exported.manifest(folder).get("generation")
    cells = facts.get("guess_floor", []) if isinstance(facts, dict) else []
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict) and (cell.get("family"), cell.get("difficulty")) == (family, tier):
            shortcut = cell.get("best_shortcut")
            return Floor(
                int(cell.get("problems") or 0), cell.get("commonest_share"), cell.get("shortcut_share"), shortcut
            )
    return None
