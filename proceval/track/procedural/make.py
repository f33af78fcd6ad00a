"""stage=generate for review and agent: a suite of fresh cases from the mutants of a run that was audited."""

import asyncio
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from proceval.errors import Finding, InputError
from proceval.folder import RunFolder, file_digest, write_atomically
from proceval.protocols import Family
from proceval.scorer.printed import unlike
from proceval.seeding import text_digest
from proceval.track.procedural import repair, repair_folder, review, review_folder
from proceval.track.procedural.stock import Shelf, stock
from proceval.workshop import CaseFault, Workshop

SUITE = "suite"
"""Name of the suite's folder in the run folder."""
FACTS = "suite.json"
"""What the suite was made from, written when it is whole."""


class Procedural:
    """Makes `count` cases for a track out of the run folder that dataset= names; equal seeds give equal bytes."""

    def __init__(
        self, *, track: Any, families: Mapping[str, Family], audit: Any, seed: int | str, count: int | dict[str, int]
    ):
        self.track, self.families, self.audit, self.seed, self.count = track, families, audit, seed, count

    def check(self, folder: RunFolder) -> None:
        """Raises InputError where there is nothing to make cases from."""
        if folder.dataset is None:
            raise InputError(
                f"track={self.track.mode} makes its cases from a run that was audited: give dataset=FOLDER of such a run"
            )
        if not isinstance(self.count, int):
            raise InputError(f"count={self.count}: track={self.track.mode} takes one number, of all cases together")
        folder.source()

    def run(self, folder: RunFolder, say: Callable[[str], None]) -> int:
        """Write suite/ and suite.json. Raises Finding when a case is not what it must be."""
        if not (folder / FACTS).is_file():
            self._make(folder)
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        tiers = ", ".join(f"{number} {tier}" for tier, number in facts["difficulties"].items())
        say(f"generate {facts['cases']} {self.track.mode} cases from proved mutants: {tiers}")
        say(f"generate {facts['proof']}")
        return 0

    def then(self, folder: RunFolder) -> list[str]:
        """Words of a command that uses the suite."""
        suite = os.path.join(folder.path, SUITE)
        if self.track.mode == "agent":
            return ["stage=selftest", f"track.cases_dir={suite}/cases", "dataset=null"]
        return ["stage=benchmark", f"suite.dir={suite}", "track.arms=[baseline]", "dataset=null"]

    def _make(self, folder: RunFolder) -> None:
        staged = folder / ".suite.partial"
        shutil.rmtree(staged, ignore_errors=True)
        source = folder.source()
        shelves = stock(source, self.families, self.audit.guard)
        facts = self._reviews(staged, shelves) if self.track.mode == "review" else self._repairs(staged, shelves)
        self.audit.close()
        shutil.rmtree(folder / SUITE, ignore_errors=True)
        os.replace(staged, folder / SUITE)
        facts |= {
            "track": self.track.mode,
            "seed": self.seed,
            "material_sha256": file_digest(source / "material.jsonl"),
        }
        write_atomically(folder / FACTS, json.dumps(facts, indent=1) + "\n")

    def _reviews(self, staged: Path, shelves: Mapping[str, Shelf]) -> dict[str, Any]:
        assert isinstance(self.count, int)
        made = [case for pair in review.pairs(shelves, self.seed, self.count) for case in pair]
        review_folder.write_suite(staged, made, f"procedural-{text_digest(str(self.seed))[:8]}")
        truths = Counter(case.key.truth for case in made)
        proved = sum(case.key.proof is not None for case in made if case.key.truth == "harmless")
        least, most = (pick(case.key.tested for case in made) for pick in (min, max))
        return {
            "version": review.VERSION,
            **_counts((case.difficulty, case.key.family) for case in made),
            "proof": f"{truths['bug']} with a bug and its witness, {truths['harmless']} without, {proved} of these with a "
            f"proved equivalent edit; every file was run on {least} to {most} instances against the oracle",
        }

    def _repairs(self, staged: Path, shelves: Mapping[str, Shelf]) -> dict[str, Any]:
        assert isinstance(self.count, int)
        made = list(repair.repairs(shelves, self.seed, self.count))
        asyncio.run(validate(made, self.track.workshop))
        repair_folder.write_suite(staged, made)
        return {
            "version": repair.VERSION,
            **_counts((f"{case.kind.difficulty} {case.kind.group}", case.layout.function) for case in made),
            "proof": f"of all {len(made)} the untouched package fails and the repaired one passes its tests",
        }


async def validate(cases: Iterable[repair.Made], workshop: Workshop) -> None:
    """Raises Finding for a case whose untouched package passes, or whose repaired one fails, its command."""
    waiting = iter(cases)

    async def work() -> None:
        for case in waiting:
            await _validated(case, workshop)

    await asyncio.gather(*(work() for _ in range(os.cpu_count() or 1)))


async def _validated(case: repair.Made, workshop: Workshop) -> None:
    expect = repair_folder.entry(case)["expect"]
    command = expect["verify"] if case.probe is None else expect["prints"]["run"]
    hidden = {"probe.py": case.probe[0]} if case.probe is not None else {}
    try:
        async with workshop.open(None) as workspace:
            for path, text in (case.fixture | hidden).items():
                workspace.write(path, text.encode())
            before = await workspace.arun(command)
            for path, text in case.gold.items():
                workspace.write(path, text.encode())
            after = await workspace.arun(command)
    except CaseFault as fault:
        raise Finding(f"case {case.id}: {fault}") from fault
    right = case.probe is None or unlike(case.probe[1], after.raw_stdout) is None
    if before.exit_code in (0, None) or after.exit_code != 0 or not right:
        raise Finding(
            f"case {case.id}: untouched it ends with {before.exit_code}, repaired with {after.exit_code}: {after.stderr[-300:]}"
        )


def _counts(cases: Iterator[tuple[str, str]]) -> dict[str, Any]:
    found = list(cases)
    return {
        "cases": len(found),
        "difficulties": dict(Counter(tier for tier, _ in found)),
        "families": dict(sorted(Counter(family for _, family in found).items())),
    }
