"""The published row: one problem with its prompts and its evidence, in columns that every reader types alike.

The columns follow from the records, so that a field added there is published here. What has no one type (arguments,
answers) is canonical JSON text, in which integers of any size are exact; integers in columns of their own are small.
One row is the same object in JSON Lines and in Parquet.
"""

import json
import typing
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from types import UnionType
from typing import Any, Literal

from pydantic import BaseModel

from proceval.errors import InputError
from proceval.schema import AuditReport, Certificate, Problem
from proceval.seeding import canonical

Row = dict[str, Any]
Column = Any
"""A type: `string`, `int64`, `float64` or `bool`; a list of one column; or a dict of columns by name."""

JSON = "json"
"""Column of canonical JSON text: published as `string`."""
FATES = ("killed", "timeout", "equivalent", "duplicate", "survived", "broken")
MISSING: Any = object()
"""In the place of a row that a file does not have."""
_SIMPLE = {str: "string", int: "int64", float: "float64", bool: "bool"}


def column(annotation: Any) -> Column:
    """The column that holds a record's field."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    if origin is Literal:
        return "string"
    if origin in (typing.Union, UnionType):
        return column(next(part for part in parts if part is not type(None)))
    if origin is tuple:
        return [column(parts[0])]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {name: column(field.annotation) for name, field in annotation.model_fields.items()}
    return JSON


PROBLEM: dict[str, Column] = column(Problem)
_CERTIFICATE: dict[str, Column] = {name: kind for name, kind in column(Certificate).items() if name != "problem_id"}
_AUDIT: dict[str, Column] = {"audit": "string", "template_sha256": "string", "mutants": "int64"} | dict.fromkeys(
    FATES, "int64"
)
PROMPTS = ("prompt_code", "prompt_answer")
COLUMNS: dict[str, Column] = {
    **PROBLEM,
    **dict.fromkeys(PROMPTS, "string"),
    "evidence": [_CERTIFICATE],
    "audit": _AUDIT,
    "canary": "string",
}
"""Every column of a row, in order."""


def published(
    problem: Problem,
    certificates: Iterable[Certificate],
    audit: AuditReport | None,
    prompts: Mapping[str, str],
    canary: str,
) -> Row:
    """The row of one problem; `audit` is None where the tests were not measured."""
    return {
        **_filled(PROBLEM, problem.model_dump()),
        **{name: prompts[name] for name in PROMPTS},
        "evidence": [_filled(_CERTIFICATE, item.model_dump()) for item in certificates],
        "audit": audit and _measured(audit),
        "canary": canary,
    }


def problem(row: Mapping[str, Any]) -> Problem:
    """The problem of a published row, as proceval itself reads it. Raises InputError for what is no such row."""
    try:
        return Problem.model_validate({name: _read(kind, row[name]) for name, kind in PROBLEM.items()})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a row of a proceval release: {' '.join(str(error).split())[:200]}") from error


def features(kind: Column) -> Any:
    """A column in the words of Hugging Face's `Features`, as they stand in Parquet's metadata."""
    if isinstance(kind, dict):
        return {name: features(part) for name, part in kind.items()}
    if isinstance(kind, list):
        return {"feature": features(kind[0]), "_type": "List"}
    return {"dtype": _stored(kind), "_type": "Value"}


def card_features(columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    """The same in the form that a dataset card's YAML header has."""

    def told(kind: Column) -> dict[str, Any]:
        if isinstance(kind, dict):
            return {"struct": card_features(kind)}
        if isinstance(kind, list):
            inner = kind[0]
            return {"list": card_features(inner) if isinstance(inner, dict) else _stored(inner)}
        return {"dtype": _stored(kind)}

    return [{"name": name, **told(kind)} for name, kind in columns.items()]


def arrow_schema() -> Any:
    """The Arrow schema of the rows, with Hugging Face's features in its metadata."""
    import pyarrow as pa

    def arrow(kind: Column) -> Any:
        if isinstance(kind, dict):
            return pa.struct([(name, arrow(part)) for name, part in kind.items()])
        if isinstance(kind, list):
            return pa.list_(pa.field("element", arrow(kind[0])))
        return pa.type_for_alias(_stored(kind))

    told = json.dumps({"info": {"features": features(COLUMNS)}}, separators=(",", ":"))
    return pa.schema([(name, arrow(kind)) for name, kind in COLUMNS.items()], metadata={"huggingface": told})


def differing(path: Path, schema: Any, rows: Iterable[Row | None], beside: str) -> Iterator[str]:
    """A Parquet file against the rows of the file beside it: schema, then every row and field; None stands for any row.

    A file that cannot be read is a difference too.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path)
        if not table.schema_arrow.equals(schema, check_metadata=True):
            yield "does not have the schema of this version of proceval"
            return
        found: Iterator[Row] = (row for batch in table.iter_batches(1024) for row in batch.to_pylist())
        for number, (one, other) in enumerate(zip_longest(found, rows, fillvalue=MISSING), 1):
            if MISSING in (one, other):
                yield f"has {'fewer' if one is MISSING else 'more'} rows than {beside}: row {number}"
                return
            names = [name for name in schema.names if one[name] != other[name]] if other is not None else []
            if names:
                yield f"row {number} is not the one of {beside}: {', '.join(names)}"
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        yield f"cannot be read ({' '.join(str(error).split())[:150]})"


def _stored(kind: str) -> str:
    return "string" if kind == JSON else kind


def _filled(columns: Mapping[str, Column], values: Mapping[str, Any]) -> Row:
    return {name: _written(kind, values[name]) for name, kind in columns.items()}


def _written(kind: Column, value: Any) -> Any:
    if kind == JSON:
        return canonical(value)
    if value is None:
        return None
    if isinstance(kind, dict):
        return _filled(kind, value)
    return [_written(kind[0], item) for item in value] if isinstance(kind, list) else value


def _read(kind: Column, value: Any) -> Any:
    if kind == JSON:
        return json.loads(value)
    if isinstance(kind, dict):
        return {name: _read(part, value[name]) for name, part in kind.items()}
    return [_read(kind[0], item) for item in value] if isinstance(kind, list) else value


def _measured(report: AuditReport) -> Row:
    fates = {fate: sum(mutant.fate == fate for mutant in report.mutants) for fate in FATES}
    facts = {"audit": report.audit, "template_sha256": report.template_sha256, "mutants": len(report.mutants)}
    return {**facts, **fates}
