"""One sample whole: prompt, completion, the program found in it, what every test said, and whose the failure is."""

import json
from typing import Any

import streamlit as st

from proceval.compare import same
from proceval.compare import show as value_shown
from proceval.console import parts, problems, runs
from proceval.console.look import literal, number
from proceval.console.places import Place
from proceval.console.tabs import show
from proceval.report.scores import outcome_owner
from proceval.schema import Problem, Response
from proceval.scorer.extract import extract
from sandbox.contract import Result


def whole(place: Place, folder: int, wanted: runs.Key) -> None:
    """Everything on record about a sample. Raises InputError where its records are broken."""
    found = runs.sample(place, folder, wanted)
    verdict = found.verdict
    problem = problems.problem(place.folders[folder], verdict.problem_id)
    st.subheader(f"{literal(verdict.outcome.replace('_', ' '))} · {literal(verdict.model)}", divider="gray")
    show.facts({
        "problem": verdict.problem_id, "sample": str(verdict.sample), "outcome": verdict.outcome,
        "owner of the failure": outcome_owner().get(verdict.outcome, "unknown"), "fault": verdict.fault,
        "turns": str(verdict.turns),
    })  # fmt: skip
    reasons = [r for t in found.turns if (r := t.completion.reasoning_tokens) is not None]
    show.facts({
        "prompt tokens": number(verdict.prompt_tokens), "completion tokens": number(verdict.completion_tokens),
        "of them reasoning": number(sum(reasons)) if reasons else "–",
        "cost": number(verdict.cost_usd, " USD", 6), "latency": number(verdict.latency_s, " s", 2),
        "found by rule": verdict.extraction,
    })  # fmt: skip
    if verdict.detail:
        st.caption("in one line")
        show.text(verdict.detail)
    names = ("Completion", "Program", "Tests", "Prompt", "Request")
    completion, program, tests, prompt, request = st.tabs(names)
    with completion:
        _completions(found.turns)
    with program:
        code = _program(problem, found)
    with tests:
        _tests(problem, found, code)
    with prompt:
        _prompt(found.turns)
    with request:
        _request(found)


def _completions(turns: tuple[Response, ...]) -> None:
    if not turns:
        st.info("No completion is recorded: nobody answered, or nobody was asked, which is not the model's failure.")
    for turn in turns:
        done = turn.completion
        tokens = number(done.completion_tokens)
        st.caption(
            f"turn {turn.turn} · finish reason {literal(done.finish_reason)} · {tokens} tokens · exactly as it came"
        )
        show.text(done.text)


def _program(problem: Problem | None, found: runs.Sample) -> str | None:
    """The program of the turn that was submitted, as the scorer reads it; None where there is none."""
    if found.verdict.mode != "code" or problem is None:
        st.info("No program is looked for here: only code mode asks for one.")
        return None
    code = None
    for turn in found.turns:
        read = extract(turn.completion.text, problem.entry_point, problem.parameters)
        if len(found.turns) > 1:
            st.caption(f"turn {turn.turn} · rule {literal(read.rule)}")
        if read.code is None:
            st.info(f"No program that defines {literal(problem.entry_point)} was found ({literal(read.rule)}).")
        else:
            show.text(read.code, language="python")
            code = read.code
    return code


def _tests(problem: Problem | None, found: runs.Sample, code: str | None) -> None:
    told = {one.test: one for one in found.verdict.tests}
    rows = []
    for n, test in enumerate(problem.tests if problem else ()):
        one = told.get(n)
        rows.append({
            "test": n, "origin": test.origin, "verdict": one.outcome if one else "not run",
            "detail": one.detail if one else "", "expected": _short(test.expected), "arguments": _short(test.arguments),
        })  # fmt: skip
    if problem is None:
        rows = [{"test": one.test, "verdict": one.outcome, "detail": one.detail} for one in told.values()]
    st.caption("Judging stops at the first test that does not pass.")
    st.dataframe(rows, hide_index=True)
    if problem is None or code is None:
        return
    key = found.verdict.problem_id, found.verdict.model, found.verdict.arm, found.verdict.sample
    if st.button("Run it on every test now", key="run_sample", icon=":material/play_arrow:"):
        with st.spinner("In the sandbox ..."):
            inputs = [test.arguments for test in problem.tests]
            st.session_state["sample_ran"] = (key, parts.current().desk.run(code, problem.entry_point, inputs))
    at, ran = st.session_state.get("sample_ran", (None, None))
    if at != key:
        st.caption("Runs the program above in the sandbox, which never sees an expected value.")
        return
    if ran.fault is not None:
        st.warning(f"The sandbox failed, which says nothing about the program: {literal(ran.fault)}")
        return
    st.dataframe(
        [
            {
                "test": n, "verdict": _live(test.expected, got),
                "returned": value_shown(got.wire) if got.wire is not None else "", "expected": _short(test.expected),
                "error": f"{got.exception}: {got.message}" if got.exception else "", "cpu_s": got.cpu_s,
            }
            for n, (test, got) in enumerate(zip(problem.tests, ran.results, strict=True))
        ],
        hide_index=True,
    )  # fmt: skip
    if ran.missing_layers:
        st.caption(literal(f"without these layers of the sandbox: {', '.join(ran.missing_layers)}"))
    if ran.stdout:
        st.caption("what it printed")
        show.text(ran.stdout, most=160)


def _live(expected: Any, got: Result) -> str:
    if same(expected, got.wire):
        return "passed"
    return "wrong_answer" if got.kind == "returned" else got.kind


def _prompt(turns: tuple[Response, ...]) -> None:
    if not turns or not turns[-1].messages:
        st.info("The prompt is not recorded here: records.jsonl holds it, records.parquet does not.")
        return
    for message in turns[-1].messages:
        st.caption(literal(message.role))
        show.text(message.content)


def _request(found: runs.Sample) -> None:
    verdict = found.verdict
    facts: dict[str, Any] = {
        "model": verdict.model, "base_url": verdict.base_url, "arm": verdict.arm, "strategy": verdict.strategy,
        "mode": verdict.mode, "prompt_sha256": verdict.prompt_sha256,
        "requests": [
            {"key": turn.key, "turn": turn.turn, "attempts": turn.attempts, "parameters": turn.parameters}
            for turn in found.turns
        ],
    }  # fmt: skip
    show.text(json.dumps(facts, indent=2), language="json")
    for fault in found.faults:
        st.warning(literal(f"{fault.kind} after {fault.attempts} attempts: {fault.message}"))


def _short(value: Any) -> str:
    said = json.dumps(value)
    return said if len(said) <= 200 else f"{said[:199]}…"
