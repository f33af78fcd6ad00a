"""manifest.json: what a release holds, what it was made from, and the SHA-256 of every file."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from proceval.release.rows import FATES, Row
from proceval.release.source import Source
from proceval.seeding import text_digest

FORMAT = 1


class Tally:
    """Everything that is counted while rows pass by; equal rows give equal counts, wherever they are read."""

    def __init__(self) -> None:
        self.problems = 0
        self.cells: Counter[tuple[str, str, str]] = Counter()
        self.families: dict[str, dict[str, Any]] = {}
        self.evidence: dict[str, Counter[str]] = {
            name: Counter() for name in ("status", "solver", "oracle", "queries", "opinions")
        }
        self.tests: Counter[str] = Counter()
        self.mutants: Counter[str] = Counter()
        self.unaudited = 0

    def add(self, row: Row) -> None:
        self.problems += 1
        self.cells[row["domain"], row["family"], row["difficulty"]] += 1
        self.families[row["family"]] = {
            "version": row["family_version"],
            "domain": row["domain"],
            "statement_sha256": text_digest(row["statement"]),
            "reference_sha256": text_digest(row["reference"]),
        }
        self.tests.update(test["origin"] for test in (*row["tests"], *row["examples"]))
        for item in row["evidence"]:
            for name in ("status", "solver", "oracle"):
                self.evidence[name][item[name]] += 1
            self.evidence["queries"].update(f"{query['kind']} {query['verdict']}" for query in item["queries"])
            self.evidence["opinions"].update(
                f"{one['by']}: {one['existence']}/{one['uniqueness']}" for one in item["opinions"]
            )
        if row["audit"] is None:
            self.unaudited += 1
        else:
            self.mutants.update({fate: row["audit"][fate] for fate in FATES})

    def facts(self) -> dict[str, Any]:
        """The counts as the manifest has them."""
        return {
            "problems": self.problems,
            "distribution": {
                "domain": self._by(0),
                "family": self._by(1),
                "difficulty": self._by(2),
                "cells": [
                    {"domain": domain, "family": family, "difficulty": tier, "problems": count}
                    for (domain, family, tier), count in sorted(self.cells.items())
                ],
            },
            "families": dict(sorted(self.families.items())),
            "tests": dict(sorted(self.tests.items())),
            "evidence": {name: dict(sorted(counts.items())) for name, counts in self.evidence.items()},
            "audit": {"problems_without": self.unaudited, "mutants": {fate: self.mutants[fate] for fate in FATES}},
        }

    def _by(self, place: int) -> dict[str, int]:
        found: Counter[str] = Counter()
        for cell, count in self.cells.items():
            found[cell[place]] += count
        return dict(sorted(found.items()))


def manifest(
    source: Source, tally: Tally, *, canary: str, rows: str, files: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The manifest's content; nothing in it depends on when or where it was made."""
    facts = source.facts
    return {
        "format": FORMAT,
        "rows": rows,
        "canary": canary,
        "dataset_sha256": facts["sha256"]["dataset.jsonl"],
        **tally.facts(),
        "generation": {
            **{
                name: facts[name]
                for name in ("candidates", "rejected", "shortfalls", "machine_dependent", "guess_floor")
            },
            "settings": source.settings,
            "versions": source.versions,
            "git_commit": source.git_commit,
        },
        "files": {name: dict(files[name]) for name in sorted(files)},
    }


def table(head: Iterable[str], lines: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    body = [list(map(str, head)), ["---"] * len(list(head)), *([str(cell) for cell in line] for line in lines)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in body)
