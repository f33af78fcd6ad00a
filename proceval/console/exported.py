"""A release as the console reads it: published rows in place of a dataset, certificates out of their archive."""

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proceval.console import lines
from proceval.errors import InputError
from proceval.release import rows
from proceval.release.recheck import ARCHIVE
from proceval.release.write import MANIFEST, is_release
from proceval.schema import Certificate, Problem

__all__ = ["MANIFEST", "is_release", "parquet"]


def manifest(folder: Path) -> dict[str, Any]:
    """What a release says of itself. Raises InputError when it is not whole."""
    found = lines.document(folder / MANIFEST)
    if not isinstance(found, dict) or not isinstance(found.get("rows"), str):
        raise InputError(f"{folder / MANIFEST}: not the manifest of a release")
    return found


def parquet(folder: Path) -> Path | None:
    """The Parquet file of the rows, or None where there is none."""
    return next(iter(sorted((folder / "data").glob("*.parquet"))), None)


def row(folder: Path, identity: str) -> dict[str, Any] | None:
    """The published row of a problem, or None. Raises InputError for a row that is no JSON."""
    path = folder / manifest(folder)["rows"]
    for line in lines.containing(path, identity):
        try:
            found = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, the line about {identity}: not JSON ({error})") from error
        if isinstance(found, dict) and found.get("id") == identity:
            return found
    return None


def problem(folder: Path, identity: str) -> Problem | None:
    found = row(folder, identity)
    return None if found is None else rows.problem(found)


def certificates(folder: Path, identity: str) -> list[Certificate]:
    """The evidence in a published row, as the records that it was made from."""
    found = row(folder, identity)
    try:
        return [
            Certificate.model_validate({**item, "problem_id": identity, "answer": json.loads(item["answer"])})
            for item in (found or {}).get("evidence") or ()
        ]
    except (TypeError, KeyError, ValueError, ValidationError) as error:
        raise InputError(f"{folder}: the evidence of {identity} cannot be read ({error})") from error


def prompt(folder: Path, identity: str) -> str | None:
    """The prompt in code mode as it was published."""
    found = row(folder, identity)
    text = (found or {}).get("prompt_code")
    return text if isinstance(text, str) else None


def text(folder: Path, sha256: str) -> str:
    """The SMT-LIB text under a hash. Raises InputError where the archive does not give it."""
    path = folder / ARCHIVE
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(f"{sha256[:2]}/{sha256}.smt2").decode()
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {sha256} cannot be read ({error})") from error


def accepted(folder: Path) -> dict[str, bool]:
    """Problem id -> whether no mutant of its audit survived; problems that were not audited are left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = parquet(folder)
    if path is None:
        return {}
    try:
        found = pq.ParquetFile(path).read(["id", "audit.survived", "audit.mutants"]).to_pylist()
        return {one["id"]: one["audit"]["survived"] == 0 for one in found if one["audit"] and one["audit"]["mutants"]}
    except (pa.ArrowException, OSError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: cannot be read as a release's rows ({' '.join(str(error).split())[:200]})"
        ) from error


def fates(folder: Path) -> dict[str, int]:
    """How many mutants had which fate, as the manifest says; a release does not hold the mutants themselves."""
    audit = manifest(folder).get("audit")
    counts = audit.get("mutants") if isinstance(audit, dict) else None
    return (
        {str(fate): count for fate, count in counts.items() if isinstance(count, int)}
        if isinstance(counts, dict)
        else {}
    )
