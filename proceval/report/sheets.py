"""Which tables a report has; terminal and Markdown only dress them."""

from proceval.report.cells import Sheet
from proceval.report.evidence import Plain
from proceval.report.evidence_sheets import audit, guesses, operators, problems, rejections
from proceval.report.score_sheets import by_family, evaluation, examples, jobs


def sheets(summary: Plain) -> list[Sheet]:
    """What a terminal shows, in reading order; a section that the run does not have is one sentence."""
    return [*jobs(summary), problems(summary), audit(summary), *evaluation(summary)]


def details(summary: Plain) -> list[Sheet]:
    """What only report.md adds: rejections by reason, operators, guess floors, families, an example of each failure."""
    found = [rejections(summary), operators(summary), guesses(summary), by_family(summary), examples(summary)]
    return [sheet for sheet in found if sheet.rows]


def heading(summary: Plain) -> list[str]:
    """Where the run came from, and what it lacks."""
    versions = summary["versions"]
    commit = summary["git_commit"]
    parts = [f"{name} {versions[name]}" for name in ("proceval", "python") if isinstance(versions.get(name), str)]
    parts += [f"commit {commit[:12]}"] if commit else []
    lines = [", ".join(parts)] if parts else []
    setup = summary.get("setup")
    lines += [", ".join(f"{key} {value}" for key, value in setup.items())] if setup else []
    if summary["missing"]:
        lacking = ", ".join(f"{name} ({what})" for name, what in summary["missing"].items())
        lines.append(f"not in this run: {lacking}")
    return lines
