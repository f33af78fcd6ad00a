"""Which tables a report has; terminal and Markdown only dress them."""

from proceval.report import agent, review_sheets
from proceval.report.cells import Sheet
from proceval.report.evidence import Plain
from proceval.report.evidence_sheets import audit, guesses, operators, problems, rejections
from proceval.report.score_sheets import by_family, evaluation, examples, jobs, reliability

OF_ALL = ("config.yaml", "records.jsonl", "verdicts.jsonl")
"""Files that every evaluation has; the others are of proved problems."""


def sheets(summary: Plain) -> list[Sheet]:
    """What a terminal shows, in reading order; a section that the run does not have is one sentence."""
    made = [] if _own_cases(summary) else [problems(summary), audit(summary)]
    return [*jobs(summary), *review_sheets.sheets(summary), *made, *evaluation(summary), *agent.sheets(summary)]


def details(summary: Plain) -> list[Sheet]:
    """What only report.md adds: rejections, operators, guess floors, families, pass^k, an example of each failure."""
    found = [rejections(summary), operators(summary), guesses(summary), by_family(summary), reliability(summary)]
    found = [*review_sheets.details(summary), *found, examples(summary)]
    return [sheet for sheet in found if sheet.rows]


def heading(summary: Plain) -> list[str]:
    """Where the run came from, and what it lacks."""
    versions = summary["versions"]
    commit = summary["git_commit"]
    parts = [f"{name} {versions[name]}" for name in ("proceval", "python") if isinstance(versions.get(name), str)]
    if commit:
        name, dash, mark = commit.partition("-")
        parts.append(f"commit {name[:12]}{dash}{mark}")
    lines = [", ".join(parts)] if parts else []
    setup = summary.get("setup")
    lines += [", ".join(f"{key} {value}" for key, value in setup.items())] if setup else []
    lines += _layers(summary.get("sandbox") or {})
    missing = {name: what for name, what in summary["missing"].items() if not _own_cases(summary) or name in OF_ALL}
    if missing:
        lacking = ", ".join(f"{name} ({what})" for name, what in missing.items())
        lines.append(f"not in this run: {lacking}")
    for name, number in (summary.get("torn") or {}).items():
        lines.append(
            f"! {name}: 1 line cannot be read, line {number}, which was cut short; what it held is missing here"
        )
    lost = (summary.get("responses") or {}).get("lost_samples")
    if lost:
        lines.append(
            f"! records.jsonl: no answer for {lost} of the samples that verdicts.jsonl judges; records were lost"
        )
    return lines


def _layers(sandbox: Plain) -> list[str]:
    """What the verdicts' sandbox and the workspaces were without."""
    found = [(f"sandbox {sandbox.get('sandbox')}", sandbox.get("missing_layers"))]
    found.append(("workspaces", sandbox.get("workspace_missing_layers")))
    return [f"! {name} ran without: {'; '.join(map(str, layers))}" for name, layers in found if layers]


def _own_cases(summary: Plain) -> bool:
    """Whether the run is of a track that has no dataset."""
    return bool(summary.get("agent") or summary.get("review"))
