"""Figures of the mutation audit over all families: what suites kill, how they are killed, and what the original misses.

    python scripts/audit_figures.py              ten problems a family and tier
    python scripts/audit_figures.py --problems 30

`main alone` and `original's suite` are shares of the mutants that the chosen suite kills: by the problem's main instance,
and by a suite that is adequate for the three operators of the original.
"""

import argparse
from collections import Counter
from statistics import median

from ledger import TIERS, parts

from proceval import config
from proceval.audit.gate import Gate, figures
from proceval.protocols import Family, Instance
from proceval.schema import AuditReport, Problem, Test
from proceval.seeding import rng

COLUMNS = (
    "family",
    "mutants",
    "ledger",
    "tests",
    "main alone",
    "original",
    "value",
    "exception",
    "steps",
    "rows",
    "dominators",
)


def problem(family: Family, instance: Instance, tier: str, companions: list[Instance]) -> Problem:
    """A problem with these tests; answers by the oracle."""
    tests = tuple(
        Test(arguments=i, expected=family.oracle(i).answer, origin="targeted" if n else "main")
        for n, i in enumerate([instance, *companions])
    )
    return Problem(
        id=f"{family.name}-{tier}", family=family.name, family_version=family.version, domain=family.domain,
        difficulty=tier, statement=family.statement, entry_point=family.entry_point, parameters=family.parameters,
        arguments=instance, expected=tests[0].expected, reference=family.reference, examples=(), tests=tests,
    )  # fmt: skip


def killed(report: AuditReport) -> set[str]:
    return {mutant.id for mutant in report.mutants if mutant.fate in ("killed", "timeout")}


def measure(family: Family, standard: Gate, original: Gate, problems: int) -> list[str]:
    reports: list[AuditReport] = []
    main, few, sizes = [], [], []
    for tier in TIERS:
        for index in range(problems):
            instance = family.sample(rng("figures", family.name, tier, index), tier)
            truth = family.oracle(instance)
            if truth.status != "unique":
                continue
            suites = [g.choose(family, instance, truth.answer, rng("figures", index)) for g in (standard, original)]
            report = standard.audit(problem(family, instance, tier, suites[0]))
            assert report.accepted, report.fault
            others = [standard.audit(problem(family, instance, tier, suite)) for suite in ([], suites[1])]
            shares = [len(killed(other)) / len(killed(report)) for other in others]
            main.append(shares[0])
            few.append(shares[1])
            sizes.append(1 + len(suites[0]))
            reports.append(report)
    best: dict[str, str] = {}
    for kind in ("step_budget", "exception", "type", "value"):  # the strongest evidence anywhere is written last
        best.update({m.id: kind for report in reports for m in report.mutants if m.kill_kind == kind})
    kinds = Counter(best.values())
    fates = Counter(mutant.fate for mutant in reports[0].mutants)
    counts = figures(reports)
    return [
        family.name, str(len(reports[0].mutants)), str(fates["equivalent"]), f"{median(sizes):g} ({min(sizes)}-{max(sizes)})",
        f"{median(main):.1%}", f"{median(few):.1%}", str(kinds["value"] + kinds["type"]), str(kinds["exception"]),
        str(kinds["step_budget"]), str(counts["distinct_rows"]), str(counts["dominators"]),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=10, help="problems of each family and tier")
    chosen = parser.parse_args()
    families, standard = parts()
    original = config.build(config.compose("audit=original", "audit.suite_least=0")["audit"], "audit")
    rows = [COLUMNS, *(measure(family, standard, original, chosen.problems) for family in families.values())]
    standard.close()
    original.close()
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


if __name__ == "__main__":
    main()
