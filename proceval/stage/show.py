"""stage=show: one problem whole, in the terminal: the exact prompt, the tests, the certificate, a failure and its replay."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from proceval import folder as files
from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.schema import Problem, Response, Verdict


class Show:
    """Prints the problem whose id starts with `id`, with whatever evidence and verdicts its folder holds."""

    writes = False
    then: Sequence[str] = ()
    in_place = False

    def __init__(self, *, id: str | None, track: Any) -> None:
        self.id, self.track = id, track

    def check(self, folder: RunFolder) -> None:
        if self.track.proved:
            folder.source()

    def run(self, folder: RunFolder) -> int:
        if not self.track.proved:
            return self._own(folder)
        if not self.id:
            some = ", ".join(p.id for p, _ in zip(folder.problems(), range(3), strict=False))
            raise InputError(f"id is missing: give id=ID (first characters are enough), e.g. one of {some}")
        found = [problem for problem in folder.problems() if problem.id.startswith(self.id)]
        if len(found) != 1:
            some = ", ".join(p.id for p, _ in zip(found or folder.problems(), range(3), strict=False))
            how = f"{len(found)} problems" if found else "no problem"
            raise InputError(f"id={self.id}: {how} of {folder.source()} start with it; give one, such as {some}")
        problem, source = found[0], folder.source()
        self._head("problem", f"{problem.id}  {problem.difficulty} {problem.family} (version {problem.family_version})")
        self._head("prompt", "")
        for message in self.track.prompt(problem):
            print(f"[{message.role}]\n{message.content}")
        self._head("tests", "hidden from the model; the first is the main instance")
        for number, test in enumerate(problem.tests):
            print(
                f"{number:>3} {test.origin:<9}{_cut(json.dumps(test.arguments))} -> {_cut(json.dumps(test.expected))}"
            )
        self._certificates(problem, source)
        self._audit(problem, source)
        judged = folder.dataset is not None and (source / "verdicts.jsonl").is_file()
        self._verdicts(problem, source if judged else folder.path, source)
        return 0

    def _own(self, folder: RunFolder) -> int:
        """A case of a track that has its own: what each arm is asked, what it is graded by, what became of it."""
        cases = self.track.cases(folder)
        found = [case for case in cases if self.id and (case.id.startswith(self.id) or case.family == self.id)]
        if len(found) != 1:
            some = ", ".join(case.family for case in cases[:5])
            raise InputError(
                f"id={self.id}: {len(found)} cases start with it; give a name or an id, e.g. one of {some}"
            )
        case = found[0]
        self._head("case", f"{case.id}  {case.difficulty} {case.family}, {case.domain}")
        for arm in self.track.arms:
            self._head("prompt", f"arm {arm}")
            for message in self.track.prompt(case, arm):
                print(f"[{message.role}]\n{message.content}")
        self._head("graded by", "hidden from the model")
        for criterion in (*getattr(case, "criteria", ()), *getattr(case, "checks", ())):
            print(json.dumps(criterion.model_dump(exclude_defaults=True), ensure_ascii=False))
        if (folder / "verdicts.jsonl").is_file():
            self._head("verdicts", "")
            for verdict in files.read(folder / "verdicts.jsonl", Verdict):
                if verdict.problem_id == case.id:
                    print(
                        f"{verdict.arm}, sample {verdict.sample}: {verdict.outcome} (fault: {verdict.fault}) {verdict.detail}"
                    )
        return 0

    def _head(self, title: str, text: str) -> None:
        print(f"\n== {title}{'  ' + text if text else ''}")

    def _certificates(self, problem: Problem, source: Any) -> None:
        if not (source / "certificates" / "index.jsonl").is_file():
            return
        self._head("certificate", "texts under certificates/, named by SHA-256")
        for item in files.certificates(source):
            if item.problem_id == problem.id:
                steps = "  ".join(
                    f"{q.kind} {q.verdict} ({q.resource_count} steps) {q.smt_sha256[:12]}" for q in item.queries
                )
                others = "".join(
                    f"; {o.by}: {o.existence}/{o.uniqueness}{f' {o.data_sha256[:12]}' if o.data_sha256 else ''}"
                    for o in item.opinions
                )
                print(
                    f"test {item.test:>2}: {item.status} by {item.solver}: {steps}; oracle {item.oracle} agrees{others}"
                )

    def _audit(self, problem: Problem, source: Any) -> None:
        if not (source / "audit.jsonl").is_file():
            return
        for report in files.audits(source):
            if report.problem_id == problem.id:
                fates: dict[str, int] = {}
                for mutant in report.mutants:
                    fates[mutant.fate] = fates.get(mutant.fate, 0) + 1
                self._head("audit", f"{report.audit}: " + ", ".join(f"{n} {fate}" for fate, n in sorted(fates.items())))
                for mutant in report.mutants:
                    if mutant.fate == "survived":
                        print(f"survivor, line {mutant.line}: {mutant.before}  ->  {mutant.after}")

    def _verdicts(self, problem: Problem, folder: Path, source: Path) -> None:
        if not (folder / "verdicts.jsonl").is_file():
            return
        verdicts = [v for v in files.read(folder / "verdicts.jsonl", Verdict) if v.problem_id == problem.id]
        if not verdicts:
            return
        self._head("verdicts", "")
        for verdict in verdicts:
            print(f"sample {verdict.sample}: {verdict.outcome} (fault: {verdict.fault}) {verdict.detail}")
        failures = [v for v in verdicts if not v.passed and v.scored]
        failing = next((v for v in failures if v.tests), failures[0] if failures else None)
        if failing is None:
            return
        for response in files.read(folder / "records.jsonl", Response):
            if response.problem_id == problem.id and response.sample == failing.sample:
                self._head(
                    "a failing completion", f"sample {failing.sample}, rule that found the code: {failing.extraction}"
                )
                print(response.completion.text)
        self._head("replay", f"python -m proceval stage=evaluate rescore=true dataset={source}")


def _cut(text: str, most: int = 200) -> str:
    """A long instance shortened to its start; the whole of it stands in dataset.jsonl."""
    return text if len(text) <= most else f"{text[:most]} ... ({len(text)} characters)"
