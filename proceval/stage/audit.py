"""stage=audit: mutate every reference and run every mutant against its problem's tests; a survivor withholds the problem."""

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from proceval import folder as files
from proceval.folder import RunFolder
from proceval.schema import AuditReport, Problem
from proceval.stage import progress
from sandbox.worker import Pool


class Audit:
    """Writes audit.jsonl beside the dataset; exit status 1 when a mutant survived or an audit broke."""

    writes = True
    then = ["stage=evaluate"]
    in_place = False

    def __init__(self, *, audit: Any, workers: int | None, limits: Mapping[str, Any]) -> None:
        self.audit, self.limits = audit, limits
        self.workers = workers or os.cpu_count() or 1

    def check(self, folder: RunFolder) -> None:
        folder.source()

    def run(self, folder: RunFolder) -> int:
        source = folder.source()
        folder.adopt(source, files.GENERATED)
        total = sum(1 for _ in folder.problems())
        fates: Counter[str] = Counter()
        withheld: list[AuditReport] = []
        limits = self.limits

        def work(problem: Problem, section: Any) -> AuditReport:
            section(problem.id)
            return self.audit.audit(problem)  # type: ignore[no-any-return]

        def reports() -> Any:
            problems = folder.problems()
            with (
                Pool(
                    work,
                    workers=self.workers,
                    cpu_s=limits["cpu_s"],
                    wall_s=limits["wall_s"],
                    memory_bytes=limits["memory_bytes"],
                ) as pool,
                progress.bar("audit", total) as advance,
            ):
                for number, (problem, reply) in enumerate(zip(folder.problems(), pool.map(problems), strict=True), 1):
                    report = reply.value if reply.status == "done" else self._broken(problem, reply)
                    fates.update(m.fate for m in report.mutants)
                    if not report.accepted:
                        withheld.append(report)
                    advance(number)
                    yield report

        files.write_records(folder / "audit.jsonl", reports())
        counts = ", ".join(f"{n} {fate}" for fate, n in sorted(fates.items()))
        progress.say(f"audit    {sum(fates.values())} mutants over {total} problems: {counts}")
        for report in withheld[:5]:
            progress.say(f"audit    withheld {report.problem_id}: {_why(report)}")
        if len(withheld) > 5:
            progress.say(f"audit    ... and {len(withheld) - 5} more withheld; see audit.jsonl")
        return 1 if withheld else 0

    def _broken(self, problem: Problem, reply: Any) -> AuditReport:
        """A worker that died is the audit's fault: the problem is withheld, and no mutant counts as killed by it."""
        why = f"audit worker: {reply.status} {(reply.error or '').strip().splitlines()[-1:]}"
        return AuditReport(problem_id=problem.id, audit=self.audit.name, template_sha256="", mutants=(), fault=why)


def _why(report: AuditReport) -> str:
    if report.fault:
        return report.fault
    first = next(m for m in report.mutants if m.fate == "survived")
    return f"line {first.line}: `{first.before}` -> `{first.after}` survives ({first.operator})"
