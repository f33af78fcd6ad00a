"""Tables of what a folder holds, read by column: from Parquet where it is fresh, else from the JSON Lines beside it.

A table holds only what lists and counts need; the texts of one problem or one sample are fetched when it is opened.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proceval.console import exported
from proceval.errors import InputError
from proceval.schema import AuditReport

BLOCK_BYTES = 16 << 20
"""JSON Lines parsed at once; a longer line makes the reader try again with the larger one."""
LONGEST_LINE_BYTES = 512 << 20
_CLEAN = re.compile(rb'\{"problem_id":"([^"\\]*)"')

VERDICT = {
    "model": "text", "base_url": "text", "arm": "text", "strategy": "text", "mode": "text", "problem_id": "text",
    "family": "text", "domain": "text", "difficulty": "text", "prompt_sha256": "text", "sample": "count",
    "outcome": "text", "fault": "text", "extraction": "text", "turns": "count", "prompt_tokens": "count",
    "completion_tokens": "count", "cost_usd": "real", "latency_s": "real",
}  # fmt: skip
MUTANT = {
    "problem_id": "text", "family": "text", "difficulty": "text", "accepted": "flag", "fault": "text", "mutant": "text",
    "operator": "text", "line": "count", "before": "text", "after": "text", "fate": "text", "kill_kind": "text",
}  # fmt: skip


def fresh(folder: Path, parquet: str, *sources: str) -> bool:
    """Whether the Parquet copy exists and is no older than the JSON Lines that it was made from."""
    copy = folder / parquet
    if not copy.is_file():
        return False
    made = copy.stat().st_mtime_ns
    return all(not (folder / name).is_file() or (folder / name).stat().st_mtime_ns <= made for name in sources)


def problems(folder: Path) -> Any:
    """id, family, domain, difficulty, tests (how many); no rows where the folder has no dataset."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = ["id", "family", "domain", "difficulty"]
    published = exported.parquet(folder) if exported.is_release(folder) else None
    if published is not None:
        found = from_parquet(published, [*texts, "tests"], leaves=["tests.list.element.origin"])
    elif fresh(folder, "dataset.parquet", "dataset.jsonl"):
        found = from_parquet(folder / "dataset.parquet", [*texts, "tests"], leaves=["tests.list.element.origin"])
    elif (folder / "dataset.jsonl").is_file():
        tests = pa.list_(pa.struct([("origin", pa.string())]))
        schema = pa.schema([*((name, pa.string()) for name in texts), ("tests", tests)])
        found = from_json(folder / "dataset.jsonl", schema)
    else:
        return pa.table({**{name: pa.array([], pa.string()) for name in texts}, "tests": pa.array([], pa.int64())})
    counted = pc.cast(pc.list_value_length(found["tests"]), pa.int64())
    return compact(found.drop_columns(["tests"]).append_column("tests", counted), ("family", "domain", "difficulty"))


def verdicts(folder: Path) -> Any:
    """One row a judged sample, without its texts; no rows where nothing was judged."""
    import pyarrow.compute as pc

    schema = _schema(VERDICT)
    if fresh(folder, "records.parquet", "records.jsonl", "verdicts.jsonl"):
        found = from_parquet(folder / "records.parquet", list(VERDICT))
        found = found.filter(pc.is_valid(found["outcome"]))
    elif (folder / "verdicts.jsonl").is_file():
        found = from_json(folder / "verdicts.jsonl", schema)
    else:
        found = schema.empty_table()
    return compact(typed(found, schema), [name for name, kind in VERDICT.items() if kind == "text"])


def accepted(folder: Path) -> dict[str, bool]:
    """Problem id -> whether its audit accepted it; empty where nothing was audited."""
    if exported.is_release(folder):
        return exported.accepted(folder)
    if fresh(folder, "audit.parquet", "audit.jsonl"):
        found = from_parquet(folder / "audit.parquet", ["problem_id", "accepted"])
        pairs = compact(found, ["problem_id"]).group_by(["problem_id", "accepted"]).aggregate([])
        told: dict[str, bool] = {}
        for identity, good in zip(pairs["problem_id"].to_pylist(), pairs["accepted"].to_pylist(), strict=True):
            told[identity] = told.get(identity, True) and bool(good)
        return told
    return dict(_accepted(folder / "audit.jsonl"))


def _accepted(path: Path) -> Iterator[tuple[str, bool]]:
    """The same from JSON Lines: a line is only parsed when it says that something survived or broke."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            clean = _CLEAN.match(line) if line.endswith(b'"fault":null}\n') and b'"survived"' not in line else None
            if clean:
                yield clean[1].decode(), True
            elif line.endswith(b"\n"):
                try:
                    report = AuditReport.model_validate_json(line)
                except ValidationError as error:
                    raise InputError(f"{path}: a line is no audit report ({_short(error)})") from error
                yield report.problem_id, report.accepted


def mutants(folder: Path) -> Any:
    """One row a mutant of each audited problem; a problem whose audit broke has one row without a mutant."""
    schema = _schema(MUTANT)
    if fresh(folder, "audit.parquet", "audit.jsonl"):
        found = from_parquet(folder / "audit.parquet", list(MUTANT))
    elif (folder / "audit.jsonl").is_file():
        found = _flattened(folder / "audit.jsonl")
    else:
        found = schema.empty_table()
    texts = [name for name, kind in MUTANT.items() if kind == "text"]
    return compact(typed(found, schema), texts)


def _flattened(path: Path) -> Any:
    """audit.jsonl with a row a mutant: family and tier are not in it, and are joined by whoever knows the problems."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types = {"text": pa.string(), "count": pa.int64()}
    own = {"id": "text", **{n: MUTANT[n] for n in ("operator", "line", "before", "after", "fate", "kill_kind")}}
    inner = pa.struct([*((n, types[kind]) for n, kind in own.items()), ("tier", pa.string())])
    schema = pa.schema([("problem_id", pa.string()), ("fault", pa.string()), ("mutants", pa.list_(inner))])
    read = from_json(path, schema).combine_chunks()
    lists = pc.fill_null(pc.list_value_length(read["mutants"]), 0)
    parents = pc.list_parent_indices(read["mutants"])
    flat = pc.list_flatten(read["mutants"])
    fate, tier = pc.struct_field(flat, "fate"), pc.struct_field(flat, "tier")
    survived = pc.and_(pc.equal(fate, "survived"), pc.equal(pc.fill_null(tier, "gate"), "gate"))
    withheld = pc.unique(parents.filter(survived))
    numbers = pa.array(range(len(read)), pa.int64())
    good = pc.and_(pc.invert(pc.is_in(numbers, value_set=withheld)), pc.is_null(read["fault"]))
    columns = {
        "problem_id": read["problem_id"].take(parents),
        "fault": read["fault"].take(parents),
        "accepted": good.take(parents),
        "mutant": pc.struct_field(flat, "id"),
        **{n: pc.struct_field(flat, n) for n in own if n != "id"},
    }
    bare = pc.equal(lists, 0)
    empty = {
        "problem_id": read["problem_id"].filter(bare),
        "fault": read["fault"].filter(bare),
        "accepted": good.filter(bare),
    }
    target = _schema(MUTANT)
    return pa.concat_tables([_filled(columns, target), _filled(empty, target)])


def _filled(columns: Mapping[str, Any], schema: Any) -> Any:
    import pyarrow as pa

    rows = len(columns["problem_id"])
    return pa.table(
        {field.name: columns.get(field.name, pa.nulls(rows, field.type)) for field in schema}, schema=schema
    )


def from_parquet(path: Path, columns: Sequence[str], *, leaves: Sequence[str] = ()) -> Any:
    """Some columns of a Parquet file. Raises InputError naming the file for one that is broken or somebody else's."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
        missing = [name for name in columns if name not in schema.names]
        if missing:
            raise InputError(f"{path}: no column {missing[0]!r}; a file of proceval has {', '.join(columns)}")
        whole = {leaf.partition(".")[0] for leaf in leaves}
        texts = [name for name in columns if name not in whole and pa.types.is_string(schema.field(name).type)]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            return file.read([*(name for name in columns if name not in whole), *leaves])
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet ({_short(error)})") from error


def from_json(path: Path, schema: Any) -> Any:
    """The named fields of a JSON Lines file; others are skipped, and so is a last line that is being written.

    Raises InputError naming the file for lines that are no such records.
    """
    import pyarrow as pa
    from pyarrow import json

    options = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        if not path.stat().st_size:
            return schema.empty_table()
        with pa.memory_map(str(path)) as mapped:
            whole = mapped.read_buffer()
            content = whole.slice(0, _end_of_lines(path))
            if not content.size:
                return schema.empty_table()
            for size in (BLOCK_BYTES, LONGEST_LINE_BYTES):
                try:
                    found = json.read_json(pa.BufferReader(content), json.ReadOptions(block_size=size), options)
                    break
                except pa.ArrowInvalid as error:
                    if "straddling" not in str(error) or size == LONGEST_LINE_BYTES:
                        raise
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not the JSON Lines that proceval writes ({_short(error)})") from error
    empty = [name for name in schema.names if found.num_rows and found[name].null_count == found.num_rows]
    if schema.names[0] in empty or ("problem_id" in empty):
        raise InputError(f"{path}: no record has a {schema.names[0]!r}; these are not records of proceval")
    return found


def _end_of_lines(path: Path) -> int:
    """Bytes up to and including the last line end."""
    with path.open("rb") as file:
        end = file.seek(0, 2)
        while end:
            start = max(0, end - (1 << 16))
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
    return 0


def _schema(columns: Mapping[str, str]) -> Any:
    import pyarrow as pa

    types = {"text": pa.string(), "count": pa.int64(), "real": pa.float64(), "flag": pa.bool_()}
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


def typed(table: Any, schema: Any) -> Any:
    """The schema's columns in its order and types; texts that are stored once each stay so."""
    for field in schema:
        if not hasattr(table[field.name].type, "value_type"):
            place = table.schema.get_field_index(field.name)
            table = table.set_column(place, field.name, table[field.name].cast(field.type))
    return table.select(schema.names)


def compact(table: Any, names: Sequence[str]) -> Any:
    """The table with columns of few distinct texts stored once each."""
    for name in names:
        place = table.schema.get_field_index(name)
        column = table[name].unify_dictionaries().combine_chunks()
        if not hasattr(column, "dictionary"):
            column = column.dictionary_encode()
        table = table.set_column(place, name, column)
    return table


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


# ------------------------------------------------------------------------------------------ choosing rows


def matching(table: Any, wanted: Mapping[str, Sequence[str]], *, start: str = "", column: str = "id") -> Any:
    """The rows whose columns hold one of the wanted values (none wanted: any) and whose `column` starts with `start`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, values in wanted.items():
        if values:
            table = table.filter(pc.is_in(pc.cast(table[name], pa.string()), value_set=pa.array(values, pa.string())))
    if start:
        table = table.filter(pc.starts_with(pc.cast(table[column], pa.string()), start))
    return table


def values(table: Any, name: str) -> list[str]:
    """The distinct values of a column, nulls left out, in order."""
    return sorted(value for value in table[name].unique().to_pylist() if value is not None)


def page(table: Any, number: int, size: int) -> Any:
    """The rows of one page, counted from 0."""
    return table.slice(number * size, size)
