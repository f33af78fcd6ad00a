"""stage=verify: prove a stored dataset again from its instances alone, trusting none of its hashes.

Each row is rebuilt: statement and reference from the family, the specification from the stored instance, the answer from
the solver, the oracle and the reference. Whatever differs is named by row and field.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import tee
from pathlib import Path
from typing import Any

from proceval import folder as files
from proceval.errors import InputError, Malformed
from proceval.folder import RunFolder
from proceval.problem import prove_once, specified
from proceval.protocols import Family, Prover, Section
from proceval.register import Register
from proceval.release import overlap
from proceval.release.content import (
    Fault,
    answers,
    argued,
    content,
    contradictions,
    numbered,
    same,
    short,
    solver,
)
from proceval.release.write import is_release
from proceval.schema import Certificate, Opinion, Problem
from proceval.stage import progress, recorded, stored
from proceval.stage.push import passes
from proceval.words import counted
from sandbox.worker import Pool, Reply


class Verify:
    """Prints every difference as `row N, field: sentence` or `file: sentence`; exit status 1 when there is one."""

    writes = False
    then: Sequence[str] = ()
    in_place = False

    def __init__(
        self,
        *,
        families: Mapping[str, Mapping[str, Family]],
        prover: Prover,
        prompts: Mapping[str, Any],
        workers: int | None,
        against: str | None,
    ) -> None:
        self.families = {name: family for group in families.values() for name, family in group.items()}
        self.prover, self.prompts, self.against = prover, dict(prompts), against
        self.workers = workers or os.cpu_count() or 1

    def check(self, folder: RunFolder) -> None:
        if not (folder.dataset and is_release(Path(folder.dataset))):
            stored.dataset(folder)

    def run(self, folder: RunFolder) -> int:
        if self.against is not None:
            return overlap.compare(self._ours(folder), self.against, self.families, progress.say)
        if folder.dataset and is_release(Path(folder.dataset)):
            release, limits = Path(folder.dataset), self.prover.limits
            return int(not passes(release, self.families, self.prompts, "all", self.workers, limits))
        file = stored.dataset(folder)
        with file.open("rb") as lines:
            total = sum(1 for _ in lines)
        found = 0
        for found, (place, sentence) in enumerate(self._faults(file, total), 1):  # noqa: B007 - the last one counts
            print(f"{place}: {sentence}")
        progress.say(f"verify   {counted(total, 'problem')} proved again with {self.prover.name}: differences: {found}")
        return 1 if found else 0

    def _ours(self, folder: RunFolder) -> Callable[[], Iterator[Problem]]:
        """The problems of the dataset or release that is verified, as often as they are asked for."""
        place = folder.dataset
        return lambda: overlap.problems(place) if place and is_release(Path(place)) else folder.problems()

    def _faults(self, file: Path, total: int) -> Iterator[Fault]:
        """Whatever is wrong with the dataset in `file`, whose lines are `total`, and with the files beside it."""
        source = file.parent
        told = recorded.settings(source)
        register, damaged, seconds = stored.evidence(source)
        suites = recorded.Suites(source, told)
        yield from damaged
        yield from self._rows(file, total, register, suites)
        yield from suites.faults
        if (source / recorded.RECORD).is_file():
            yield from recorded.record(file, self.families, told)
        else:
            progress.say("verify   no generation.json here: rows or tests that were taken out cannot be noticed")
        yield from recorded.table(file)
        yield from stored.strangers(register)
        register.close()
        suites.close()
        if (limit := suites.limit()) is not None:
            progress.say(f"verify   {limit}")
        if seconds and getattr(self.prover, "second", None) is None:
            progress.say(f"verify   {counted(seconds, 'opinion')} of cvc5 not asked again: give prover=z3_cvc5")

    def _rows(self, file: Path, total: int, register: Register, suites: recorded.Suites) -> Iterator[Fault]:
        """Every row proved again; a line that is no problem is a difference of that row, and the others are gone through."""
        with (
            Pool(self._row, workers=self.workers, **self.prover.limits) as pool,
            progress.bar("verify", total) as advance,
        ):
            lines, ahead = tee(files.each(file, Problem))
            problems = (one for one in ahead if isinstance(one, Problem))
            replies = pool.map((one, stored.certificates(register, one), file.parent) for one in problems)
            for row, one in enumerate(lines, 1):
                if isinstance(one, InputError):
                    place, sentence = stored.line_fault(one, file.parent)
                    yield f"row {row}", f"{place}: {sentence}"
                else:
                    faults = [*self._once(one, row, register), *self._told(next(replies)), *suites.short(one)]
                    yield from ((f"row {row}, {field}", sentence) for field, sentence in faults)
                advance(row)

    def _once(self, problem: Problem, row: int, register: Register) -> Iterator[Fault]:
        earlier = register.one("SELECT row FROM seen WHERE id = ?", problem.id)
        if earlier is not None:
            yield "id", f"{problem.id} stands already in row {earlier[0]}"
        else:
            register.put("INSERT INTO seen VALUES (?, ?)", problem.id, row)

    def _told(self, reply: Reply) -> list[Fault]:
        if reply.status == "done":
            return list(reply.value)
        return [
            (
                reply.section or "row",
                f"could not be checked: worker {reply.status} {(reply.error or '').strip()}".strip(),
            )
        ]

    # ------------------------------------------------------------------------------------- the worker

    def _row(self, job: tuple[Problem, list[Certificate], Path], section: Any) -> list[Fault]:
        problem, evidence, source = job
        family = self.families.get(problem.family)
        if family is None:
            return [
                (
                    "family",
                    f"{problem.family!r} is not among the families of domain=; known here: {', '.join(self.families)}",
                )
            ]
        if problem.family_version != family.version:
            return [
                (
                    "family_version",
                    f"{problem.family_version}, this proceval has version {family.version} of {family.name}",
                )
            ]
        return [
            *content(problem, family),
            *self._tests(problem, family, evidence, source, section),
        ]

    def _tests(
        self, problem: Problem, family: Family, evidence: list[Certificate], source: Path, section: Any
    ) -> Iterator[Fault]:
        reference = solver(family)
        by_test = {item.test: item for item in evidence}
        if len(by_test) != len(evidence):
            yield "certificates", "two certificates for one test"
        for stray in sorted(set(by_test) - {number for number, _, _ in numbered(problem)}):
            yield "certificates", f"certificate for test {stray}, which the problem does not have"
        for number, field, test in numbered(problem):
            try:
                spec = specified(family, test.arguments)
            except Malformed as error:
                yield f"{field}.arguments", f"breaks the family's contract: {error}"
                continue
            proof = prove_once(family, self.prover, spec, test.arguments, _prefixed(section, field))
            if proof.status != "unique":
                yield f"{field}.arguments", f"{proof.status} instead of unique ({proof.reason})"
                continue
            if not same(test.expected, proof.answer):
                yield f"{field}.expected", f"{short(test.expected)}, but the proved answer is {short(proof.answer)}"
            yield from answers(field, test, proof.answer, family, reference)
            yield from _compare_evidence(field, by_test.get(number), proof, family, source)
            if spec.evidence is not None and number in by_test:
                where, opinions = f"certificate of {field}, {spec.evidence.name}", by_test[number].opinions
                yield from argued(where, opinions, spec.evidence, test.expected, stored.data(source))


def _prefixed(section: Section, field: str) -> Section:
    return lambda label: section(f"{field} {label}")


def _compare_evidence(
    field: str, given: Certificate | None, proof: Any, family: Family, source: Path
) -> Iterator[Fault]:
    where = f"certificate of {field}"
    if given is None:
        yield where, "missing"
        return
    if given.status != "unique" or given.reason is not None:
        yield where, f"status {given.status!r}, reason {given.reason!r}; proved unique now"
    if not same(given.answer, proof.answer):
        yield f"{where}.answer", f"{short(given.answer)}, but the proved answer is {short(proof.answer)}"
    if given.oracle != family.oracle_name:
        yield f"{where}.oracle", f"{given.oracle!r} instead of {family.oracle_name!r}"
    if given.queries and proof.queries and given.queries[0].smt_sha256 != proof.queries[0].smt_sha256:
        yield f"{where}.queries.0.smt_sha256", "the specification rebuilt from the instance has another text"
    if given.solver != proof.solver:
        yield (
            f"{where}.solver",
            f"made by {given.solver}, proved again by {proof.solver}: its counts cannot be compared",
        )
    elif given.queries != proof.queries:
        yield f"{where}.queries", "verdicts, hashes or resource counts differ from the same solver's, run again"
    yield from _compare_opinions(f"{where}.opinions", given.opinions, proof.opinions)
    yield from stored.texts(where, given, source)


def _compare_opinions(where: str, stored: Sequence[Opinion], again: Sequence[Opinion]) -> Iterator[Fault]:
    """Second opinions against those given now; one of cvc5 is compared only where prover=z3_cvc5 asks it again."""
    yield from contradictions(where, stored)
    asked = any(opinion.by.startswith("cvc5 ") for opinion in again)
    kept = [opinion for opinion in stored if asked or not opinion.by.startswith("cvc5 ")]
    if kept != list(again):
        yield where, "differ from those given now"
