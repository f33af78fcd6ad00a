"""The published row: exact, typed alike everywhere, and read back as the same problem."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proceval.errors import InputError
from proceval.release import rows
from proceval.schema import AuditReport, Certificate, Mutant, Opinion, Problem, Query, Test

PINNED = Path(__file__).parent / "golden_columns.json"
HUGE = 10**40 + 1
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def a_problem(arguments, expected) -> Problem:
    test = Test(arguments=arguments, expected=expected, origin="main")
    return Problem(
        id="0" * 20, family="f", family_version=1, domain="d", difficulty="easy", statement="Do.", entry_point="f",
        parameters=tuple(arguments), arguments=arguments, expected=expected, reference="def f(): ...\n", examples=(),
        tests=(test,),
    )  # fmt: skip


def a_certificate(answer, *, opinions=()) -> Certificate:
    query = Query(kind="existence", smt_sha256="a" * 64, verdict="sat", resource_count=None)
    return Certificate(
        problem_id="0" * 20, test=0, status="unique", answer=answer, reason=None, solver="z3", queries=(query,),
        oracle="scan", opinions=opinions,
    )  # fmt: skip


def stored(row) -> tuple[rows.Row, rows.Row]:
    """The row as it comes back from JSON Lines and from Parquet."""
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist([row], schema=rows.arrow_schema()), buffer)
    return json.loads(json.dumps(row)), pq.read_table(pa.BufferReader(buffer.getvalue())).to_pylist()[0]


PROMPTS = {"prompt_code": "code?", "prompt_answer": "answer?"}


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), values, min_size=1), values)
def test_a_row_gives_its_problem_back_exactly(arguments, expected):
    problem = a_problem(arguments, expected)
    row = rows.published(problem, [a_certificate(expected)], None, PROMPTS, "canary")
    assert list(row) == list(rows.COLUMNS)
    for back in stored(row):
        assert back == row
        again = rows.problem(back)
        assert again == problem
        assert json.dumps(again.arguments, sort_keys=True) == json.dumps(arguments, sort_keys=True), "True is not 1"


def test_integers_beyond_64_bits_are_exact():
    row = rows.published(a_problem({"n": HUGE}, [HUGE, -HUGE]), [a_certificate(HUGE)], None, PROMPTS, "canary")
    for back in stored(row):
        assert rows.problem(back).expected == [HUGE, -HUGE]
        assert json.loads(back["evidence"][0]["answer"]) == HUGE


def test_the_columns_are_as_pinned_because_a_change_breaks_those_who_load_them():
    """Golden. A field that is added to a record is published here: pin it, and say so in the changelog."""
    assert json.loads(PINNED.read_text()) == rows.features(rows.COLUMNS)


def test_every_field_of_the_evidence_is_published():
    row = rows.published(
        a_problem({"n": 1}, 2),
        [a_certificate(2, opinions=(Opinion(by="direct", existence="checked", uniqueness="checked"),))],
        None,
        PROMPTS,
        "canary",
    )
    assert set(row["evidence"][0]) == set(Certificate.model_fields) - {"problem_id"}
    assert set(row["evidence"][0]["opinions"][0]) == set(Opinion.model_fields)
    assert set(rows.PROBLEM) == set(Problem.model_fields)


def test_a_measured_row_counts_its_mutants():
    mutant = Mutant(
        id="m",
        operator="o",
        line=1,
        column=0,
        before="<",
        after=">",
        fate="killed",
        kill_kind="value",
        killed_by=0,
        reason=None,
    )
    report = AuditReport(
        problem_id="0" * 20, audit="standard 1", template_sha256="t", mutants=(mutant, mutant), fault=None
    )
    row = rows.published(a_problem({"n": 1}, 2), [], report, PROMPTS, "canary")
    assert row["audit"]["killed"] == row["audit"]["mutants"] == 2
    assert row["audit"]["survived"] == 0
    for back in stored(row):
        assert back == row


@pytest.mark.parametrize(
    "row", [{}, {"id": 1}, {name: "{" for name in rows.PROBLEM}], ids=["empty", "short", "no JSON"]
)
def test_what_is_no_row_is_refused_in_one_sentence(row):
    with pytest.raises(InputError, match="not a row of a proceval release") as caught:
        rows.problem(row)
    assert "\n" not in str(caught.value)
