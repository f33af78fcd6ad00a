"""stage=verify: prove a stored dataset again from its instances alone, trusting none of its hashes.

Each row is rebuilt: statement and reference from the family, the specification from the stored instance, the answer from
the solver, the oracle and the reference. Whatever differs is named by row and field.
"""

import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import tee
from pathlib import Path
from typing import Any, Literal

from proceval import folder as files
from proceval.errors import InputError, Malformed
from proceval.folder import RunFolder
from proceval.problem import prove_once, specified
from proceval.protocols import Family, Prover, Section
from proceval.register import Register
from proceval.release import overlap
from proceval.release.content import (
    Fault,
    ReadData,
    Unreadable,
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
from proceval.seeding import text_digest
from proceval.stage import progress
from proceval.stage.push import passes
from proceval.words import counted
from sandbox.worker import Pool, Reply

TEXT_BYTES = 1 << 28
"""No text of a certificate is longer: unpacking stops here."""


class Verify:
    """Prints every difference as `row N, field: sentence`; exit status 1 when there is one."""

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
            folder.source()

    def run(self, folder: RunFolder) -> int:
        if self.against is not None:
            return overlap.compare(self._ours(folder), self.against, self.families, progress.say)
        if folder.dataset and is_release(Path(folder.dataset)):
            release, limits = Path(folder.dataset), self.prover.limits
            return int(not passes(release, self.families, self.prompts, "all", self.workers, limits))
        source = folder.source()
        register = self._evidence(source)
        total = sum(1 for _ in folder.problems())
        found = rows = 0
        with (
            Pool(self._row, workers=self.workers, **self.prover.limits) as pool,
            progress.bar("verify", total) as advance,
        ):
            problems, ahead = tee(folder.problems())
            jobs = ((problem, _certificates(register, problem), source) for problem in ahead)
            for rows, (reply, problem) in enumerate(zip(pool.map(jobs), problems, strict=True), 1):
                faults = [*self._once(problem, rows, register), *self._told(reply)]
                for field, sentence in faults:
                    print(f"row {rows}, {field}: {sentence}")
                found += len(faults)
                advance(rows)
        for sentence in self._record(source, rows):
            print(f"generation.json: {sentence}")
            found += 1
        strangers = "SELECT DISTINCT problem FROM evidence WHERE problem NOT IN (SELECT id FROM seen) ORDER BY problem"
        for (stranger,) in register.rows(strangers):
            print(f"certificates/index.jsonl: certificate for {stranger}, which the dataset does not hold")
            found += 1
        register.close()
        progress.say(f"verify   {counted(rows, 'problem')} proved again with {self.prover.name}: differences: {found}")
        return 1 if found else 0

    def _ours(self, folder: RunFolder) -> Callable[[], Iterator[Problem]]:
        """The problems of the dataset or release that is verified, as often as they are asked for."""
        place = folder.dataset
        return lambda: overlap.problems(place) if place and is_release(Path(place)) else folder.problems()

    def _record(self, source: Path, rows: int) -> Iterator[str]:
        """The files against what their generation recorded: rows or tests that were taken out leave no other trace."""
        if not (source / "generation.json").is_file():
            progress.say("verify   no generation.json here: rows or tests that were taken out cannot be noticed")
            return
        recorded = files.facts(source)
        if recorded["problems"] != rows:
            yield f"{recorded['problems']} problems were generated, the dataset holds {rows}"
        for name, sha256 in recorded["sha256"].items():
            if not (source / name).is_file() or files.file_digest(source / name) != sha256:
                yield f"{name} is not the file that was generated"

    def _evidence(self, source: Path) -> Register:
        """Every certificate by its problem, and room for the problems seen: neither has to fit into memory."""
        if not (source / "certificates" / "index.jsonl").is_file():
            raise InputError(
                f"{source / 'certificates' / 'index.jsonl'}: no such file; a dataset without certificates cannot be verified"
            )
        found = Register(
            "evidence (problem TEXT, number INTEGER, certificate TEXT, PRIMARY KEY (problem, number)) WITHOUT ROWID",
            "seen (id TEXT PRIMARY KEY, row INTEGER) WITHOUT ROWID",
        )
        for number, item in enumerate(files.certificates(source)):
            found.put("INSERT INTO evidence VALUES (?, ?, ?)", item.problem_id, number, item.model_dump_json())
        return found

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
                yield from argued(where, opinions, spec.evidence, test.expected, _data(source))


def _certificates(register: Register, problem: Problem) -> list[Certificate]:
    query = "SELECT certificate FROM evidence WHERE problem = ? ORDER BY number"
    return [Certificate.model_validate_json(text) for (text,) in register.rows(query, problem.id)]


def _prefixed(section: Section, field: str) -> Section:
    return lambda label: section(f"{field} {label}")


def _compare_evidence(
    field: str, stored: Certificate | None, proof: Any, family: Family, source: Path
) -> Iterator[Fault]:
    where = f"certificate of {field}"
    if stored is None:
        yield where, "missing"
        return
    if stored.status != "unique" or stored.reason is not None:
        yield where, f"status {stored.status!r}, reason {stored.reason!r}; proved unique now"
    if not same(stored.answer, proof.answer):
        yield f"{where}.answer", f"{short(stored.answer)}, but the proved answer is {short(proof.answer)}"
    if stored.oracle != family.oracle_name:
        yield f"{where}.oracle", f"{stored.oracle!r} instead of {family.oracle_name!r}"
    if stored.queries and proof.queries and stored.queries[0].smt_sha256 != proof.queries[0].smt_sha256:
        yield f"{where}.queries.0.smt_sha256", "the specification rebuilt from the instance has another text"
    if stored.solver != proof.solver:
        yield (
            f"{where}.solver",
            f"made by {stored.solver}, proved again by {proof.solver}: its counts cannot be compared",
        )
    elif stored.queries != proof.queries:
        yield f"{where}.queries", "verdicts, hashes or resource counts differ from the same solver's, run again"
    yield from _compare_opinions(f"{where}.opinions", stored.opinions, proof.opinions)
    for query in stored.queries:
        try:
            _stored_text(source, query.smt_sha256, "smt2")
        except Unreadable as error:
            yield f"{where}, {query.smt_sha256}.smt2.gz", str(error)


def _stored_text(source: Path, sha256: str, kind: Literal["smt2", "json"]) -> str:
    """A text of the certificates; nothing is unpacked beyond the longest that generation writes."""
    try:
        with gzip.open(files.text_path(source / "certificates", sha256, kind)) as file:
            raw = file.read(TEXT_BYTES + 1)
        text = raw.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise Unreadable(f"cannot be read: {error}") from error
    if len(raw) > TEXT_BYTES or text_digest(text) != sha256:
        raise Unreadable("the text does not have this hash")
    return text


def _data(source: Path) -> ReadData:
    return lambda sha256: _stored_text(source, sha256, "json")


def _compare_opinions(where: str, stored: Sequence[Opinion], again: Sequence[Opinion]) -> Iterator[Fault]:
    """Second opinions against those given now; one of cvc5 is compared only where prover=z3_cvc5 asks it again."""
    yield from contradictions(where, stored)
    asked = any(opinion.by.startswith("cvc5 ") for opinion in again)
    kept = [opinion for opinion in stored if asked or not opinion.by.startswith("cvc5 ")]
    if kept != list(again):
        yield where, "differ from those given now"
