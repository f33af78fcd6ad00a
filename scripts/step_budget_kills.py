"""What the scorer says to the mutants that only the audit's step budget kills.

    python scripts/step_budget_kills.py RUN...            folders of audited runs
    python scripts/step_budget_kills.py RUN --each 3      at most so many problems for each distinct mutant

The audit stops a mutant after 50 times the reference's own steps; the scorer has a limit of CPU time. Each such mutant is
handed in as a completion, through the sandbox, on the problems that it was stopped on: `timeout` means that the scorer
stops it too, `passed` that it is right and merely slow, and would pass. Exit status 0.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import proceval  # noqa: E402
from proceval.audit.template import template  # noqa: E402
from proceval.schema import Problem  # noqa: E402

TIERS = ("gate",)


def stopped(folder: Path) -> Iterator[tuple[Problem, str, str]]:
    """(problem, mutant's id, its text) for every mutant of a run that nothing but the step budget killed."""
    problems = {problem.id: problem for problem in proceval.load(folder)}
    for line in (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines():
        report = json.loads(line)
        found = problems[report["problem_id"]]
        texts = {mutant.id: mutant.text for mutant in template(found.reference, TIERS).runnable}
        for mutant in report["mutants"]:
            if mutant["fate"] == "timeout":
                yield found, mutant["id"], texts[mutant["id"]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--each", type=int, default=3, help="problems tried for each distinct mutant")
    given = parser.parse_args()
    tried: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    total = 0
    for problem, mutant, text in (item for run in given.runs for item in stopped(run)):
        total += 1
        outcomes = tried[problem.family, mutant]
        if outcomes.total() < given.each:
            outcomes[proceval.score(problem, text).outcome] += 1
    print(f"{total} kills by the step budget alone, of {len(tried)} distinct mutants; by the scorer:")
    print(f"{'family':26}{'mutants':>8}{'tried':>7}  outcomes")
    for family in sorted({family for family, _ in tried}):
        mine = [outcomes for (name, _), outcomes in tried.items() if name == family]
        sums = sum(mine, Counter())
        words = ", ".join(f"{count} {outcome}" for outcome, count in sums.most_common())
        print(f"{family:26}{len(mine):8}{sums.total():7}  {words}")
    for (family, mutant), outcomes in sorted(tried.items()):
        if outcomes["passed"]:
            print(f"passed {outcomes['passed']} of {outcomes.total()}: {family} {mutant}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
