"""summary.json: everything a run says, as plain JSON that a machine or a later stage can read.

    schema_version   1
    exit_status      what the run ended with (0, 1 finding, 3 unscored, ...), or null
    git_commit       or null outside a checkout
    versions         of proceval, Python, solvers and packages
    sandbox          its name, missing_layers, workspace_missing_layers (null: no workspaces), or null
    setup            short names of the parts that made it: model, strategy, track, sandbox, ..., or null
    missing          files this run does not have: {name: what is therefore not known}
    torn             files whose last line was cut short: {name: number of that line}
    generation       candidates tried, shortfalls (cells with fewer problems than asked), machine_dependent
    problems         total, by_domain, by_family, by_tier, by_family_and_tier, tests_per_problem
    guesses          family -> tier -> guess floor (guesses.py)
    rejected         candidates that did not become problems: total, by_reason, by_family
    proofs           certificates by_status, queries, resource_count {median, max}, solvers, opinions, by_family
    audit            mutants by_fate, by_operator, by_kill_kind, score, main_score, accepted, withheld, faults
    responses        paid responses; samples that were answered and not judged yet, and judged ones whose answer is gone
    review           of reviews: contestants with arms, uplift and criteria; judges; finding; see review.py, or null
    agent            of agents: contestants with cells overall, by_group and by_case, or null
    scores           ks, and contestants with cells overall, by_domain, by_family, by_tier, by_family_and_tier

A section whose file is missing is null, and so is every figure that is undefined; nothing undefined is ever 0.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proceval.report import agent, review
from proceval.report.evidence import (
    Plain,
    summarise_audit,
    summarise_guesses,
    summarise_problems,
    summarise_proofs,
    summarise_rejections,
)
from proceval.report.run import READ, Run, replace, sample_key
from proceval.report.scores import summarise_scores
from proceval.sandboxing import recorded
from proceval.schema import SCHEMA_VERSION

SECTIONS = (
    "missing", "torn", "generation", "problems", "guesses", "rejected", "proofs", "audit", "responses", "sandbox", "review",
    "agent", "scores",
)  # fmt: skip
"""What `summarise` gives."""


def write(
    folder: Path,
    *,
    exit_status: int | None,
    versions: Mapping[str, Any],
    git_commit: str | None,
    ks: Sequence[int],
    setup: Mapping[str, Any] | None = None,
) -> Plain:
    """Replace summary.json whole and return what was written. Raises InputError for a record that cannot be read."""
    found = {
        "schema_version": SCHEMA_VERSION,
        "exit_status": exit_status,
        "git_commit": git_commit,
        "versions": dict(versions),
        "setup": dict(setup) if setup else None,
        **summarise(Run(Path(folder)), ks),
    }
    text = json.dumps(found, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    replace(Path(folder) / "summary.json", text.encode("ascii"))
    return found


def summarise(run: Run, ks: Sequence[int]) -> Plain:
    """The sections of a summary that follow from the run's records alone."""
    missing = run.missing()
    problems = run.problems()
    known = {p.id: p for p in problems}

    def has(name: str) -> bool:
        return name not in missing

    verdicts = run.verdicts()
    return {
        "missing": {name: READ[name] for name in missing},
        "torn": run.torn(),
        "generation": _generation(run.document("generation.json")),
        "problems": summarise_problems(problems) if has("dataset.jsonl") else None,
        "guesses": summarise_guesses(problems) if has("dataset.jsonl") else None,
        "rejected": summarise_rejections(run.rejections()) if has("rejections.jsonl") else None,
        "proofs": summarise_proofs(run.certificates(), known) if has("certificates/index.jsonl") else None,
        "audit": summarise_audit(run.audits(), problems) if has("audit.jsonl") else None,
        "responses": _responses(run, {sample_key(v) for v in verdicts if v.turns}) if has("records.jsonl") else None,
        "sandbox": recorded(run.path),
        "review": review.summarise(run, verdicts),
        "agent": agent.summarise(verdicts),
        "scores": summarise_scores(verdicts, ks) if verdicts else None,
    }


def _generation(facts: Any) -> Plain | None:
    """What generation.json says that the records do not; a key it lacks is null."""
    names = ("candidates", "shortfalls", "machine_dependent")
    return {name: facts.get(name) for name in names} if isinstance(facts, dict) else None


def _responses(run: Run, judged: set[tuple[str, ...]]) -> Plain:
    responses = run.responses()
    answered = {sample_key(r) for r in responses}
    return {
        "total": len(responses),
        "samples": len(answered),
        "unjudged_samples": len(answered - judged),
        "lost_samples": len(judged - answered),
    }
