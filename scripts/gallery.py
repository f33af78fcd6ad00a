"""Write GALLERY.md and the pictures it shows, one section a family, from a dataset made for it; `--check` fails when stale.

Everything in it follows from seed 0, so that equal code gives equal bytes: no time, version or machine is in it.
"""

import argparse
import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from proceval import config  # noqa: E402
from proceval import folder as files  # noqa: E402
from proceval.console.drawing import draw  # noqa: E402
from proceval.report.run import Run  # noqa: E402
from proceval.report.summary import summarise  # noqa: E402

TIERS = ("easy", "medium", "hard", "extreme", "frontier")
COUNT = 20
PICTURES = "docs/assets/gallery"
MOST_LINES = 24
"""Lines of a query that are shown."""

HEAD = f"""# Gallery

Every family that proceval ships: what is asked, one small instance, what the solver is told, and what proving and testing
it costs. Written by `python scripts/gallery.py` from {COUNT} problems of each family and tier, seed 0.

Work is the solver's own count (z3's `rlimit-count`), the same on every machine. The guess floor is what the commonest answer
and the best shortcut (echo of a number, a size, a constant) would score. A mutant is `killed` by a test, `timeout` where
only the step budget stops it, `equivalent` where the ledger proves it, `duplicate` where its text is another mutant's.

"""


def run(home: Path, *words: str) -> Path:
    """The folder of one run in `home`."""
    before = set(home.glob("outputs/[!.]*"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "proceval", *words, "tracker=off"]
    subprocess.run(command, cwd=home, env=environment, check=True, capture_output=True, text=True)
    (made,) = set(home.glob("outputs/[!.]*")) - before
    return made


def sections(home: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """(family, Markdown, pictures by file name) in the order of the configuration."""
    tiers = f"difficulty=[{','.join(TIERS)}]"
    generated = run(home, "stage=generate", tiers, f"count={COUNT}")
    audited = run(home, "stage=audit", tiers, f"count={COUNT}", f"dataset={generated}")
    facts = summarise(Run(audited), [1])
    certificates = {(c.problem_id, c.test): c for c in files.certificates(audited)}
    problems = list(Run(audited).problems())
    for name, family in families(tiers).items():
        shown = min(
            (p for p in problems if p.family == name),
            key=lambda p: (p.difficulty != "easy", -len(str(p.arguments)), p.id),
        )
        proof = certificates[shown.id, 0]
        pictures = {f"{name}-{place}.svg": svg for place, (_, svg) in enumerate(draw(shown.arguments, shown.expected))}
        texts = [text(audited, query.smt_sha256) for query in proof.queries]
        yield name, section(name, family, shown, proof, texts, facts, list(pictures)), pictures


def families(tiers: str) -> dict[str, Any]:
    """Every family of the default configuration, built for all tiers."""
    built = config.build(config.compose(tiers)["domain"], "domain")
    return {name: family for domain in built.values() for name, family in domain.items()}


def text(folder: Path, sha256: str) -> str:
    return gzip.decompress((folder / "certificates" / sha256[:2] / f"{sha256}.smt2.gz").read_bytes()).decode()


def section(
    name: str, family: Any, problem: Any, proof: Any, texts: list[str], facts: dict[str, Any], pictures: list[str]
) -> str:
    spec = family.specification(problem.arguments)
    rules = dict.fromkeys(label for label, _ in spec.rules)
    added = "\n".join(line for line in texts[-1].splitlines() if line not in texts[0].splitlines())
    parts = [f"## {name}", "", family.statement, "", "### One instance", ""]
    parts += [f"![{name}: instance {place}]({PICTURES}/{picture})\n" for place, picture in enumerate(pictures)]
    parts += [
        "```python",
        f"{family.entry_point}(**{json.dumps(problem.arguments)})",
        f"# returns {problem.expected!r}",
        "```",
        "",
    ]
    parts += ["### What the solver is told", "", *(f"- {rule}" for rule in rules), ""]
    parts += [
        f"The answer is {GOALS[spec.goal]}.",
        "",
        "```smt2",
        shortened(texts[0]),
        f"(check-sat)   ; {proof.queries[0].verdict}",
        "",
    ]
    parts += [
        "; and for uniqueness, on top of it",
        shortened(added),
        f"(check-sat)   ; {proof.queries[-1].verdict}",
        "```",
        "",
    ]
    opinions = ", ".join(sorted({opinion.by for opinion in proof.opinions})) or "none"
    parts += [
        f"Independent oracle: {family.oracle_name}. Evidence without a solver: {opinions}. Logic: {family.logic}. "
    ]
    parts += [
        f"Reference: {family.source}." if family.source else "",
        "",
        "### Tiers",
        "",
        *table(name, family, facts),
        "",
    ]
    return "\n".join(parts)


GOALS = {
    "answer": "what any model says, and no model says anything else",
    "least": "the least model, and no model misses a member of it",
    "minimise": "the cheapest model, and no other is as cheap",
}


def shortened(query: str) -> str:
    lines = [line if len(line) <= 160 else line[:150] + " ..." for line in query.strip().splitlines()]
    return "\n".join(
        lines
        if len(lines) <= MOST_LINES
        else [*lines[: MOST_LINES - 1], f"; ... {len(lines) - MOST_LINES + 1} lines more"]
    )


def table(name: str, family: Any, facts: dict[str, Any]) -> list[str]:
    """A row a tier with sizes and guess floor, then proof cost and mutants of the family."""
    lines = ["| tier | sizes | problems | commonest answer | best shortcut |", "| --- | --- | ---: | ---: | --- |"]
    for tier in TIERS:
        level, floor = family.levels[tier], facts["guesses"][name].get(tier)
        sizes = ", ".join(
            f"{key} {value[0]} to {value[1]}" if isinstance(value, tuple) else f"{key} {value}" for key, value in level
        )
        if floor is None:
            continue
        lines.append(
            f"| {tier} | {sizes} | {floor['problems']} | {percent(floor['commonest_share'])} "
            f"| {percent(floor['shortcut_share'])} ({floor['best_shortcut']}) |"
        )
    proofs, audit = facts["proofs"]["by_family"][name], facts["audit"]["by_family"][name]
    work = proofs["resource_count"]
    fates = ", ".join(f"{count} {fate}" for fate, count in audit["by_fate"].items())
    return [
        *lines,
        "",
        f"Proofs: {proofs['proved']} answers, work a query {work['median']:g} (median) to {work['max']:g} (most). "
        f"Mutants over {audit['problems']} problems: {audit['mutants']}, of them {fates}; {audit['accepted']} problems accepted, "
        f"{audit['withheld']} withheld.",
    ]


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}%"


def gallery() -> dict[str, str]:
    """Path below the root -> content of every generated file."""
    with tempfile.TemporaryDirectory() as home, contextlib.redirect_stderr(io.StringIO()):
        made = list(sections(Path(home)))
    found = {
        "GALLERY.md": HEAD
        + "".join(f"- [{name}](#{name})\n" for name, _, _ in made)
        + "\n"
        + "\n".join(s for _, s, _ in made)
    }
    for _, _, pictures in made:
        found |= {f"{PICTURES}/{name}": svg + "\n" for name, svg in pictures.items()}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 when a file is stale")
    check = parser.parse_args().check
    fresh = gallery()
    stale = [
        name
        for name, content in fresh.items()
        if not (ROOT / name).is_file() or (ROOT / name).read_text("utf-8") != content
    ]
    if check:
        for name in stale:
            print(f"{name} is stale: run python scripts/gallery.py", file=sys.stderr)
        return int(bool(stale))
    for name in stale:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(fresh[name], encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
