"""stage=audit: mutate every reference and run every mutant against its problem's tests; a survivor withholds the problem.

With reference=FILE.py tests=FILE.jsonl it audits somebody's own function instead and prints the same report.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from proceval import folder as files
from proceval.audit import own
from proceval.audit.gate import figures
from proceval.audit.material import Collector
from proceval.audit.sheet import sheet
from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.schema import AuditReport, Problem
from proceval.stage import progress
from proceval.words import counted
from sandbox.worker import Pool, Reply

SAMPLED = 50
"""Problems of one reference over which kill rows are counted; their reports stay in memory."""
SHOWN = 3
"""Withheld problems whose survivors are printed; all of them are in audit.jsonl."""


class Audit:
    """Writes audit.jsonl and material.jsonl beside the dataset; exit status 1 when a mutant survived or an audit broke."""

    in_place = False

    def __init__(
        self, *, audit: Any, workers: int | None, limits: Mapping[str, Any], reference: str | None, tests: str | None
    ) -> None:
        self.audit, self.limits = audit, limits
        self.workers = workers or os.cpu_count() or 1
        self.reference, self.tests = reference, tests
        self.writes = reference is None
        self.then: Sequence[str] = ["stage=evaluate"]

    def check(self, folder: RunFolder) -> None:
        if (self.reference is None) != (self.tests is None):
            raise InputError("reference=FILE.py and tests=FILE.jsonl go together: one of them is missing")
        if self.reference is None:
            folder.source()
        elif self.tests is not None:
            own.read(Path(self.reference), Path(self.tests))

    def run(self, folder: RunFolder) -> int:
        if self.reference is not None and self.tests is not None:
            return self._own(Path(self.reference), Path(self.tests))
        folder.adopt(folder.source(), files.GENERATED)
        total = sum(1 for _ in folder.problems())
        fates: Counter[str] = Counter()
        withheld: list[tuple[Problem, AuditReport]] = []
        material = Collector()
        samples: dict[str, list[AuditReport]] = defaultdict(list)

        def reports() -> Iterator[AuditReport]:
            with progress.bar("audit", total) as advance:
                for number, (problem, report) in enumerate(self._reports(folder), 1):
                    fates.update(m.fate for m in report.mutants)
                    material.add(problem, report)
                    if len(samples[report.template_sha256]) < SAMPLED:
                        samples[report.template_sha256].append(report)
                    if not report.accepted:
                        withheld.append((problem, report))
                    advance(number)
                    yield report

        files.write_records(folder / "audit.jsonl", reports())
        files.write_records(folder / "material.jsonl", material.records(self.audit))
        self.audit.close()
        counts = ", ".join(f"{n} {fate}" for fate, n in sorted(fates.items()))
        progress.say(f"audit    {counted(sum(fates.values()), 'mutant')} over {counted(total, 'problem')}: {counts}")
        rows, dominators = (
            sum(figures(one)[name] for one in samples.values()) for name in ("distinct_rows", "dominators")
        )
        progress.say(
            f"audit    {counted(len(samples), 'reference')}: {rows} distinct kill rows, {dominators} dominators"
            f" (over at most {SAMPLED} problems of each)"
        )
        self._tell(withheld)
        return 1 if withheld else 0

    def _own(self, reference: Path, tests: Path) -> int:
        text, cases = own.read(reference, tests)
        report = self.audit.audit_function(text, cases)
        print(sheet(report, text, self.audit), end="")
        self.audit.close()
        return 0 if report.accepted else 1

    def _reports(self, folder: RunFolder) -> Iterator[tuple[Problem, AuditReport]]:
        """Every problem with its report, in dataset order."""
        with Pool(self._work, workers=self.workers, **self.limits) as pool:
            for problem, reply in zip(folder.problems(), pool.map(folder.problems()), strict=True):
                yield problem, reply.value if reply.status == "done" else self._broken(problem, reply)

    def _work(self, problem: Problem, section: Any) -> AuditReport:
        section(problem.id)
        report: AuditReport = self.audit.audit(problem)
        return report

    def _broken(self, problem: Problem, reply: Reply) -> AuditReport:
        """A worker that died is the audit's fault: the problem is withheld, and no mutant counts as killed by it."""
        why = f"audit worker: {reply.status} {' '.join((reply.error or '').strip().splitlines()[-1:])}".strip()
        return AuditReport(problem_id=problem.id, audit=self.audit.name, template_sha256="", mutants=(), fault=why)

    def _tell(self, withheld: list[tuple[Problem, AuditReport]]) -> None:
        for problem, report in withheld[:SHOWN]:
            progress.say(f"audit    withheld {problem.id}, {problem.difficulty} {problem.family}")
            progress.say(sheet(report, problem.reference, self.audit))
        if len(withheld) > SHOWN:
            progress.say(f"audit    ... and {len(withheld) - SHOWN} more withheld; see audit.jsonl")
