"""Are the mutants that other tools cannot kill explained by ours? Writes docs/audit-cross-check.md.

    python scripts/cross_check_audit.py VENV     a virtual environment with cosmic-ray, mutmut and pytest

A rival's survivor under a suite that passes our gate is explained when its code is that of a mutant we know, equivalent by
the ledger or of the reported tier, or when no small and no targeted instance tells it from the reference.
"""

import argparse
from pathlib import Path

import rivals
from bench_audit import REFERENCES, Subject, subject
from ledger import parts, tried

from proceval.audit.gate import Gate
from proceval.audit.ledger import entries_for
from proceval.audit.ledger.prove import answered, batches
from proceval.audit.sheet import difference
from proceval.audit.template import template

PAGE = Path(__file__).resolve().parents[1] / "docs" / "audit-cross-check.md"
HEAD = """# Cross-check of the mutation audit

Written by `scripts/cross_check_audit.py`. Other tools mutate three references and run the suites that our gate chose. What
survives there must be explained here: the same code is in our ledger of equivalents, or it is a mutant that we know and
only report, or nothing in the family's small scope, its targeted instances and its samples tells it from the reference.

| reference | tool | mutants | survivors | in our ledger | reported tier | not ours, nothing kills it | unexplained |
|---|---|---|---|---|---|---|---|
"""


def explain(text: str, one: Subject, gate: Gate) -> str:
    whole = template(one.family.reference, ("gate", "reported"))
    entries = entries_for(whole.sha256)
    same = next((mutant for mutant in whole.mutants if mutant.text == text), None)
    if same and same.id in entries:
        return "ledger"
    for tests in batches(answered(one.family, tried(one.family, 100))):
        _, rows = gate.guard.run(one.family.reference, one.family.entry_point, tests, [text])
        if any(rows[0].kills):
            return "reported" if same and whole.tier[same.operator] == "reported" else "unexplained"
    return "reported" if same else "nothing"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", type=Path)
    chosen = parser.parse_args()
    families, gate = parts()
    table, notes, unexplained = [], [], 0
    for name in REFERENCES:
        one = subject(families[name], gate)
        for tool in ("cosmic-ray", "mutmut"):
            ran = rivals.run(tool, chosen.environment, one.family.reference, one.family.entry_point, one.tests)
            alive = ran.fate("survived")
            causes = {text: explain(text, one, gate) for text in alive}
            counts = [list(causes.values()).count(cause) for cause in ("ledger", "reported", "nothing", "unexplained")]
            unexplained += counts[-1]
            table.append(f"| {name} | {tool} | {len(ran.mutants)} | {len(alive)} | {' | '.join(map(str, counts))} |")
            for text, cause in causes.items():
                changed = "\n".join(
                    line for line in difference(one.family.reference, text) if line[:2] not in ("--", "++", "@@")
                )
                notes.append(f"\n{name}, {tool}: {cause}\n\n```diff\n{changed}\n```\n")
    gate.close()
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(HEAD + "\n".join(table) + "\n\n## Survivors\n" + "".join(notes), encoding="utf-8")
    print("\n".join(table))
    return 1 if unexplained else 0


if __name__ == "__main__":
    raise SystemExit(main())
