"""An audit as plain text for people: counts first, then every survivor side by side with the reference."""

import ast
import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import get_args

from proceval.audit.gate import Gate, figures
from proceval.audit.template import template
from proceval.schema import AuditReport, Fate, Mutant


def sheet(report: AuditReport, reference: str, gate: Gate, *, width: int = 110) -> str:
    """The whole sheet of one report, a fault first; `width` in characters."""
    head = [
        *([report.fault] if report.fault else []),
        f"audit {report.audit}: {'accepted' if report.accepted else 'withheld'}",
    ]
    if not report.mutants and report.fault:
        return "\n".join(head) + "\n"
    gated = [mutant for mutant in report.mutants if mutant.tier == "gate"]
    counts = figures([report])
    lines = [
        *head,
        f"{len(gated)} mutants: {_listed(Counter(mutant.fate for mutant in gated))}",
        f"kills by strongest evidence: {_listed(Counter(m.kill_kind for m in gated if m.kill_kind))}",
        f"{counts['distinct_rows']} distinct kill rows, {counts['dominators']} dominators",
        "",
        *_by_operator(gated),
    ]
    texts = {mutant.id: mutant.text for mutant in template(reference, gate.tiers).mutants}
    for mutant in report.mutants:
        if mutant.fate == "survived":
            note = "" if mutant.tier == "gate" else " (only reported)"
            lines += ["", f"survives{note}: line {mutant.line}, {mutant.operator}"]
            lines += side_by_side(reference, texts[mutant.id], width)
    return "\n".join(lines) + "\n"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in counts.most_common()) or "none"


def _by_operator(mutants: Sequence[Mutant]) -> Iterator[str]:
    fates: tuple[Fate, ...] = get_args(Fate)
    yield f"{'operator':<16}" + "".join(f"{fate:>11}" for fate in fates)
    for operator in dict.fromkeys(mutant.operator for mutant in mutants):
        counts = Counter(mutant.fate for mutant in mutants if mutant.operator == operator)
        yield (f"{operator:<16}" + "".join(f"{counts[fate] or '':>11}" for fate in fates)).rstrip()


def difference(reference: str, mutant: str) -> Iterator[str]:
    """Unified diff lines between a reference in normal form and a mutant's text."""
    old, new = ast.unparse(ast.parse(reference)).splitlines(), mutant.splitlines()
    yield from difflib.unified_diff(old, new, "reference", "mutant", lineterm="", n=2)


def side_by_side(reference: str, mutant: str, width: int = 110) -> list[str]:
    """The changed lines and two around them, reference left and mutant right, with a mark where they differ."""
    old, new = ast.unparse(ast.parse(reference)).splitlines(), mutant.splitlines()
    half = (width - 3) // 2
    rows: list[tuple[str, str, str]] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        mark = " " if tag == "equal" else "|"
        rows += [(left, mark, right) for left, right in zip_longest(old[a:b], new[c:d], fillvalue="")]
    changed = [number for number, (_, mark, _) in enumerate(rows) if mark == "|"]
    near = [row for number, row in enumerate(rows) if any(abs(number - other) <= 2 for other in changed)]
    return [f"{_cut(left, half)} {mark} {_cut(right, half)}".rstrip() for left, mark, right in near]


def _cut(text: str, width: int) -> str:
    return f"{text[: width - 1] + '…' if len(text) > width else text:<{width}}"
