"""The ledger of equivalent mutants: show it, prove it again, or move it to an edited reference.

python scripts/ledger.py              table of entries and the share of each method
python scripts/ledger.py --check      prove everything again; exit status 1 with one sentence for each finding
python scripts/ledger.py --carry      after editing references: keep the entries that are proved for the new text
python scripts/ledger.py --survivors  mutants that nothing kills and that no entry covers, with a diff of each
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

from proceval import config
from proceval.audit.gate import Gate
from proceval.audit.ledger import FOLDER, MACHINE, Book, books
from proceval.audit.ledger.prove import check, unkilled
from proceval.audit.sheet import difference
from proceval.audit.template import template
from proceval.protocols import Family, Instance
from proceval.seeding import rng

TIERS = ("easy", "medium", "hard", "extreme")


def parts() -> tuple[dict[str, Family], Gate]:
    """All families over the four tiers, and the standard audit, as the configuration builds them."""
    settings = config.compose("domain=[arrays,graphs,automata]", f"difficulty=[{','.join(TIERS)}]", "audit=standard")
    families = {
        name: config.build(family, f"domain.{domain}.{name}")
        for domain, members in settings["domain"].items()
        for name, family in members.items()
    }
    return families, config.build(settings["audit"], "audit")


def tried(family: Family, samples: int) -> Iterator[Instance]:
    """Instances beyond the small scope: targeted ones, and samples of every tier."""
    for seed in range(5):
        yield from family.targeted(rng("ledger", family.name, seed))
    for tier in TIERS:
        for index in range(samples):
            yield family.sample(rng("ledger", family.name, tier, index), tier)


def show() -> None:
    entries = [(book, entry) for book in books() for entry in book.entries]
    for book, entry in entries:
        print(
            f"{book.family:26} line {entry.line:3}  {entry.method:17} {entry.kind:21} {entry.before} -> {entry.after}"
        )
    methods = Counter(entry.method for _, entry in entries)
    machine = sum(count for method, count in methods.items() if method in MACHINE)
    total = sum(book.mutants for book in books())
    print(f"{len(entries)} entries for {total} mutants of the templates that have any; by method {dict(methods)}")
    print(f"{machine} of {len(entries)} proved by a machine")


def findings(families: dict[str, Family], gate: Gate, solvers: list[str], samples: int) -> Iterator[str]:
    for book in books():
        if book.family not in families:
            yield f"{book.family}: no such family"
            continue
        for solver in solvers:
            family = families[book.family]
            if solver == "z3":
                yield from check(book, family, gate, tried(family, samples), seeds=30)
            else:
                yield from check(book, family, gate, (), solver=solver)


def carry(families: dict[str, Family], gate: Gate, samples: int) -> Iterator[str]:
    """Re-bind each book to the family's present text, with line numbers of that text, and prove it before it is written."""
    for book in books():
        family = families[book.family]
        made = template(family.reference, ("gate",))
        found = {mutant.id.split(":", 1)[1]: mutant for mutant in made.runnable}
        known = [entry for entry in book.entries if entry.mutant in found]
        kept = [entry.model_copy(update={"line": found[entry.mutant].line}) for entry in known]
        update = {"template_sha256": made.sha256, "mutants": len(made.runnable), "entries": tuple(kept)}
        moved = Book.model_validate(book.model_copy(update=update).model_dump())
        wrong = list(check(moved, family, gate, tried(family, samples), seeds=30))
        yield from wrong
        if not wrong:
            (FOLDER / f"{book.family}.json").write_text(moved.model_dump_json(indent=2) + "\n", encoding="utf-8")
            print(f"{book.family}: {len(kept)} of {len(book.entries)} entries carried over and proved")


def survivors(families: dict[str, Family], gate: Gate, samples: int) -> Iterator[str]:
    for family in families.values():
        made = template(family.reference, ("gate",))
        covered = {i for book in books() if book.template_sha256 == made.sha256 for i in book.by_id()}
        for mutant in unkilled(family, gate, [m for m in made.runnable if m.id not in covered], tried(family, samples)):
            yield "\n".join([f"{family.name}: {mutant.id}", *difference(family.reference, mutant.text)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group()
    for name in ("check", "carry", "survivors"):
        action.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--samples", type=int, default=200, help="sampled instances a tier (default: %(default)s)")
    parser.add_argument(
        "--cvc5", action="store_true", help="with --check: ask cvc5 too; it may be unsure, not disagree"
    )
    chosen = parser.parse_args()
    if not (chosen.check or chosen.carry or chosen.survivors):
        show()
        return 0
    families, gate = parts()
    if chosen.check:
        found = list(findings(families, gate, ["z3", "cvc5"] if chosen.cvc5 else ["z3"], chosen.samples))
    else:
        found = list((carry if chosen.carry else survivors)(families, gate, chosen.samples))
    gate.close()
    print("\n".join(found) if found else "nothing found wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
