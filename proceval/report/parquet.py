"""Columnar copies of the records: dataset.parquet, audit.parquet and records.parquet, with the same types in every run.

Arguments, expected values and parameters are canonical JSON text, since integers may exceed 64 bits; a column that is
empty or all null keeps its type; nothing in a file depends on when it was written.
"""

import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from proceval.report.run import Run, printable, replace, sample_key
from proceval.schema import SCHEMA_VERSION, AuditReport, Problem, Response, Test, Verdict
from proceval.seeding import canonical

Row = dict[str, Any]

ROW_GROUP = 4096
"""Rows held at once on the way to Arrow."""


def write(folder: Path) -> list[str]:
    """Write each table whose records the run has, whole or not at all; the names of the files written."""
    run = Run(Path(folder))
    tables: dict[str, tuple[str, Any, Callable[[Run], Iterable[Row]]]] = {
        "dataset.parquet": ("dataset.jsonl", dataset_schema(), dataset_rows),
        "audit.parquet": ("audit.jsonl", audit_schema(), audit_rows),
        "records.parquet": ("records.jsonl verdicts.jsonl", records_schema(), records_rows),
    }
    written = []
    for name, (sources, schema, rows) in tables.items():
        if any((run.path / source).is_file() for source in sources.split()):
            replace(run.path / name, encode(rows(run), schema))
            written.append(name)
    return written


def encode(rows: Iterable[Row], schema: Any) -> bytes:
    """Parquet bytes of the rows: equal rows give equal bytes under one pyarrow version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    source = iter(rows)
    with pq.ParquetWriter(buffer, schema, compression="zstd") as writer:
        while batch := list(islice(source, ROW_GROUP)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
    return buffer.getvalue()


# ---------------------------------------------------------------------------------------------- dataset


def dataset_schema() -> Any:
    """One row per problem; `examples` and `tests` are lists of (arguments, expected, origin)."""
    import pyarrow as pa

    text = pa.string()
    tests = list_of(pa.struct([("arguments", text), ("expected", text), ("origin", text)]))
    return columns(
        id=text, family=text, family_version=pa.int32(), domain=text, difficulty=text, statement=text,
        entry_point=text, parameters=list_of(text), arguments=text, expected=text, reference=text,
        examples=tests, tests=tests,
    )  # fmt: skip


def dataset_rows(run: Run) -> Iterator[Row]:
    """Problems in the order of the dataset."""
    yield from map(dataset_row, run.problems())


def dataset_row(problem: Problem) -> Row:
    """One problem's row of dataset.parquet."""
    return {
        **problem.model_dump(include={"id", "family", "family_version", "domain", "difficulty", "entry_point"}),
        "statement": printable(problem.statement),
        "parameters": list(problem.parameters),
        "arguments": canonical(problem.arguments),
        "expected": canonical(problem.expected),
        "reference": printable(problem.reference),
        "examples": [_test(test) for test in problem.examples],
        "tests": [_test(test) for test in problem.tests],
    }


def _test(test: Test) -> Row:
    return {"arguments": canonical(test.arguments), "expected": canonical(test.expected), "origin": test.origin}


# ---------------------------------------------------------------------------------------------- audit


def audit_schema() -> Any:
    """One row per mutant of each audited problem; an audit without mutants keeps one row whose mutant is null."""
    import pyarrow as pa

    text, number = pa.string(), pa.int32()
    return columns(
        problem_id=text, family=text, domain=text, difficulty=text, audit=text, template_sha256=text,
        accepted=pa.bool_(), fault=text, mutant=text, operator=text, line=number, column=number, before=text,
        after=text, fate=text, kill_kind=text, killed_by=number, reason=text,
    )  # fmt: skip


def audit_rows(run: Run) -> Iterator[Row]:
    """Mutants by audit in file order; family, domain and difficulty are null for a problem outside the dataset."""
    known = {p.id: p for p in run.problems()}
    for report in run.audits():
        head = _audit_head(report, known.get(report.problem_id))
        if not report.mutants:
            yield head
        for mutant in report.mutants:
            fields = mutant.model_dump(exclude={"id"})
            texts = {name: printable(value) for name, value in fields.items() if isinstance(value, str)}
            yield head | {"mutant": mutant.id} | fields | texts


def _audit_head(report: AuditReport, problem: Problem | None) -> Row:
    return {
        "problem_id": report.problem_id,
        "family": problem and problem.family,
        "domain": problem and problem.domain,
        "difficulty": problem and problem.difficulty,
        "audit": report.audit,
        "template_sha256": report.template_sha256,
        "accepted": report.accepted,
        "fault": None if report.fault is None else printable(report.fault),
    }


# ---------------------------------------------------------------------------------------------- records


def records_schema() -> Any:
    """One row per sample: its verdict, and the list of its responses in order of turns.

    The verdict's columns are null for a sample that was answered and not judged yet; `responses` is empty where the
    provider never answered. The text of each response is its last completion; the prompt lies in records.jsonl.
    """
    import pyarrow as pa

    text, number, count, real = pa.string(), pa.int32(), pa.int64(), pa.float64()
    response = pa.struct([
        ("key", text), ("turn", number), ("text", text), ("finish_reason", text), ("prompt_tokens", count),
        ("completion_tokens", count), ("reasoning_tokens", count), ("cost_usd", real), ("latency_s", real),
        ("attempts", number), ("parameters", text),
    ])  # fmt: skip
    test = pa.struct([("test", number), ("outcome", text), ("detail", text)])
    return columns(
        model=text, base_url=text, arm=text, strategy=text, mode=text, problem_id=text, family=text, domain=text,
        difficulty=text, prompt_sha256=text, sample=number, outcome=text, fault=text, scored=pa.bool_(),
        passed=pa.bool_(), extraction=text, detail=text, turns=number, prompt_tokens=count, completion_tokens=count,
        cost_usd=real, latency_s=real, tests=list_of(test), responses=list_of(response),
    )  # fmt: skip


def records_rows(run: Run) -> Iterator[Row]:
    """Samples sorted by model, base_url, arm, strategy, mode, problem and sample: arrival order does not matter."""
    responses: dict[tuple[str, ...], list[Response]] = defaultdict(list)
    for response in run.responses():
        responses[sample_key(response)].append(response)
    verdicts = {sample_key(v): v for v in run.verdicts()}
    known = {p.id: p for p in run.problems()}
    for key in sorted(responses.keys() | verdicts.keys()):
        turns = sorted(responses.get(key, []), key=lambda r: r.turn)
        verdict = verdicts.get(key)
        row = _judged(verdict) if verdict else _unjudged(turns[0], known.get(turns[0].problem_id))
        yield row | {"responses": [_response(r) for r in turns]}


def _judged(verdict: Verdict) -> Row:
    tests = [{**t.model_dump(), "detail": printable(t.detail)} for t in verdict.tests]
    row = verdict.model_dump(exclude={"tests"})
    row |= {name: printable(row[name]) for name in ("detail", "extraction")}
    return row | {"scored": verdict.scored, "passed": verdict.passed if verdict.scored else None, "tests": tests}


def _unjudged(first: Response, problem: Problem | None) -> Row:
    names = {"model", "base_url", "arm", "strategy", "mode", "problem_id", "prompt_sha256", "sample"}
    place = problem.model_dump(include={"family", "domain", "difficulty"}) if problem else {}
    return first.model_dump(include=names) | place


def _response(response: Response) -> Row:
    done = response.completion.model_dump()
    return done | {
        "key": response.key,
        "turn": response.turn,
        "attempts": response.attempts,
        "parameters": canonical(response.parameters),
        "text": printable(done["text"]),
    }


def columns(**types: Any) -> Any:
    """A schema of named columns that says which version of the records it shows."""
    import pyarrow as pa

    return pa.schema(list(types.items()), metadata={"proceval_schema_version": str(SCHEMA_VERSION)})


def list_of(item: Any) -> Any:
    """A list under the item name that Parquet itself uses, so that a schema reads back equal."""
    import pyarrow as pa

    return pa.list_(pa.field("element", item))
