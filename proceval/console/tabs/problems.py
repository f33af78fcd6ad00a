"""The Problems page: what was made, and one problem with its picture, prompt, proof and tests."""

import json
from pathlib import Path
from typing import Any

import streamlit as st

from proceval.console import columns, drawing, exported, parts, problems
from proceval.console.look import NOTHING, literal, number, percent
from proceval.console.tabs import shelf, show
from proceval.errors import InputError
from proceval.schema import Certificate, Problem, Test

FILTERS = {"domain": "Domain", "family": "Family", "difficulty": "Tier", "status": "Status"}


def page() -> None:
    place = shelf.opened()
    table = shelf.problem_table(place)
    st.title("Problems")
    if not table.num_rows:
        show.empty("This place holds no dataset.", "python -m proceval stage=generate")
    _counts(table)
    wanted = show.choices(table, FILTERS, "problems")
    st.session_state.setdefault("problems_start", st.query_params.get("problem", ""))
    start = st.text_input("Id starts with", key="problems_start", placeholder="first characters of an id").strip()
    found = columns.matching(table, wanted, start=start)
    at = show.paged(found.num_rows, "problems", "problems")
    rows = columns.page(found, at, show.PAGE).to_pylist()
    ids = [row["id"] for row in rows]
    labels = {row["id"]: f"{row['id']}  ·  {row['difficulty']} {row['family']}" for row in rows}
    shown = [{name: row[name] for name in ("id", "domain", "family", "difficulty", "status", "tests")} for row in rows]
    one = show.chosen(shown, ids, labels, "problems", "Problem")
    if one is not None:
        folder = place.folders[next(row["folder"] for row in rows if row["id"] == one)]
        _problem(folder, one, next(row["status"] for row in rows if row["id"] == one))


def _counts(table: Any) -> None:
    statuses = {row["values"]: row["counts"] for row in table["status"].cast("string").value_counts().to_pylist()}
    found = {
        "problems": f"{table.num_rows:,}",
        "families": str(len(columns.values(table, "family"))),
        **{status: f"{statuses[status]:,}" for status in sorted(statuses)},
    }
    show.facts(found)


def _problem(folder: Path, identity: str, status: str) -> None:
    problem = problems.problem(folder, identity)
    if problem is None:
        st.warning("This problem is no longer in the dataset; choose another one.")
        return
    st.subheader(f"{literal(problem.difficulty)} {literal(problem.family)}", divider="gray")
    floor = problems.floor(folder, problem.family, problem.difficulty)
    shares = [share for share in (floor.commonest_share, floor.shortcut_share) if share is not None] if floor else []
    show.facts({
        "id": problem.id, "status": status, "proved answer": _cut(json.dumps(problem.expected), 40),
        "hidden tests": str(len(problem.tests)), "guess floor of the cell": percent(max(shares, default=None)),
    })  # fmt: skip
    names = ("Instance", "Prompt", "Proof", "Tests", "Reference", "Guess floor")
    instance, prompt, proof, tests, reference, guess = st.tabs(names)
    with instance:
        _instance(problem)
    with prompt:
        _prompt(folder, problem)
    with proof:
        _proof(folder, problem)
    with tests:
        _tests(problem)
    with reference:
        st.caption("What the audit mutates; it must give the proved answer on every test.")
        show.text(problem.reference, language="python")
    with guess:
        _floor(floor)


def _instance(problem: Problem) -> None:
    drawn = drawing.draw(problem.arguments, problem.expected)
    for place, (caption, picture) in zip(st.columns(max(1, len(drawn))), drawn, strict=False):
        place.image(picture, alt=caption)
        place.caption(literal(caption))
    if not drawn:
        st.caption("This instance is too large to draw, or of a shape that is not drawn.")
    left, right = st.columns([3, 1])
    with left:
        st.caption("arguments")
        show.text(_arguments(problem.arguments), language="json", most=240)
    with right:
        st.caption("proved answer")
        show.text(json.dumps(problem.expected), language="json")


def _arguments(arguments: dict[str, Any]) -> str:
    """One line an argument, so that a long list does not become a long column."""
    return "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in arguments.items()) + "\n}"


def _prompt(folder: Path, problem: Problem) -> None:
    recorded = problems.recorded_prompt(folder, problem.id)
    published = exported.prompt(folder, problem.id) if exported.is_release(folder) else None
    if published is not None:
        st.caption("The prompt in code mode as it was published with the release.")
        show.text(published)
        return
    if recorded is not None:
        st.caption("The request as a model got it, from records.jsonl.")
    else:
        st.caption("What track= would send; no request about this problem is recorded here.")
    for message in recorded if recorded is not None else parts.current().desk.track.prompt(problem):
        st.caption(literal(message.role))
        show.text(message.content)


# ------------------------------------------------------------------------------------------ proof


def _proof(folder: Path, problem: Problem) -> None:
    certificates = problems.certificates(folder, problem.id)
    if not certificates:
        st.info("No certificate of this problem lies here. It can still be proved now, from its arguments alone.")
    by_test = {certificate.test: certificate for certificate in certificates}
    tests = {n: t for n, t in enumerate(problem.tests)} | {-1 - n: t for n, t in enumerate(problem.examples)}
    number_ = st.selectbox(
        "Test", list(tests), key=f"proof_test_{problem.id}", format_func=lambda n: f"{_name(n)} ({tests[n].origin})"
    )
    stored = by_test.get(number_)
    if stored is not None:
        _certificate(folder, stored)
    _again(problem, tests[number_], number_, stored)


def _name(number_: int) -> str:
    return f"test {number_}" if number_ >= 0 else f"example {-1 - number_}"


def _certificate(folder: Path, stored: Certificate) -> None:
    show.facts({
        "status": stored.status, "answer": _cut(json.dumps(stored.answer), 40), "solver": stored.solver,
        "oracle that agreed": stored.oracle,
        "second opinions": "; ".join(f"{o.by} {o.existence}/{o.uniqueness}" for o in stored.opinions) or NOTHING,
    })  # fmt: skip
    chosen = stored.queries if len(stored.queries) <= 2 else (stored.queries[0], stored.queries[-1])
    if len(stored.queries) > 2:
        st.caption(f"{len(stored.queries)} queries lead from the first witness to the answer; the first and the last:")
    first = ""
    for place, query in zip(st.columns(len(chosen) or 1), chosen, strict=False):
        with place:
            meaning = "an answer exists" if query.kind == "existence" else "no other answer exists"
            st.markdown(f"**{query.kind}: {query.verdict}** · {meaning} · {number(query.resource_count)} steps")
            try:
                text = problems.smt(folder, query.smt_sha256)
            except InputError as error:
                st.warning(literal(error))
                continue
            st.caption(f"SHA-256 {query.smt_sha256[:16]}… · {len(text):,} characters")
            added = text[len(first) :] if first and text.startswith(first) else ""
            show.text(
                f"; the existence query, and on top of it:\n{added}" if added else text, language="lisp", most=360
            )
            first = first or text


def _again(problem: Problem, test: Test, number_: int, stored: Certificate | None) -> None:
    """The button that proves a test now; its result stays until another test is chosen."""
    key = (problem.id, number_)
    if st.button("Prove it again now", key="prove", type="primary", icon=":material/verified:"):
        with st.spinner("The solver is at work ..."):
            st.session_state["proved"] = (key, parts.current().desk.prove(problem.family, test.arguments))
    at, live = st.session_state.get("proved", (None, None))
    if at != key:
        st.caption("Rebuilds both queries from the arguments and decides them in a worker that can be killed.")
        return
    if live.proof is None:
        st.error(f"No verdict: {literal(live.reason)}")
        return
    proof = live.proof
    agrees = proof.status == "unique" and json.dumps(proof.answer) == json.dumps(test.expected)
    steps = sum(query.resource_count or 0 for query in proof.queries)
    said = (
        f"**{proof.status}**, answer {literal(_cut(json.dumps(proof.answer), 60))}, by {literal(proof.solver)} in "
        f"{live.wall_s:.2f} s ({len(proof.queries)} queries, {steps:,} steps)"
    )
    (st.success if agrees else st.error)(said + ("" if agrees else "; **this is not the stored answer**"))
    if stored is not None:
        same = tuple(stored.queries) == tuple(proof.queries)
        st.caption(
            "The queries have the hashes, verdicts and step counts of the certificate."
            if same
            else "The queries differ from the certificate's: another solver version, or an edited file."
        )
    elif proof.texts:
        for query, place in zip(proof.queries[:: max(1, len(proof.queries) - 1)], st.columns(2), strict=False):
            with place:
                st.markdown(f"**{query.kind}: {query.verdict}**")
                show.text(proof.texts[query.smt_sha256], language="lisp", most=360)


# ------------------------------------------------------------------------------------------ tests, floor


def _tests(problem: Problem) -> None:
    every = [*((n, t) for n, t in enumerate(problem.tests)), *((-1 - n, t) for n, t in enumerate(problem.examples))]
    st.caption("Hidden tests first, the main instance leading; examples are shown to the model.")
    st.dataframe(
        [
            {
                "test": _name(n), "origin": test.origin, "expected": _cut(json.dumps(test.expected), 60),
                "arguments": _cut(json.dumps(test.arguments), 400),
            }
            for n, test in every
        ],
        hide_index=True,
    )  # fmt: skip
    with st.expander("All arguments in full"):
        for n, test in every:
            st.caption(_name(n))
            show.text(_arguments(test.arguments), language="json", most=160)


def _floor(floor: problems.Floor | None) -> None:
    if floor is None:
        st.info("The guess floor of this family and tier is not recorded here (generation.json is missing).")
        return
    show.facts({
        "problems in the cell": f"{floor.problems:,}", "commonest answer": percent(floor.commonest_share),
        "best shortcut": floor.best_shortcut if floor.shortcut_share and floor.best_shortcut else NOTHING,
        "which gets": percent(floor.shortcut_share),
    })  # fmt: skip
    st.caption("What guessing scores here. Few problems make it high by arithmetic alone.")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


if __name__ == "__main__":
    page()
