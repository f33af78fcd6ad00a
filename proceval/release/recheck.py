#!/usr/bin/env python3
"""Prove every label of this folder again, without the program that made it: Python 3.10 and one solver are enough.

    pip install z3-solver          (or cvc5, or have a `z3` program on the PATH)
    python -I recheck.py           (-I: deaf to other modules and to PYTHONPATH)

For each test of each row the two published texts are read, hashed and put to the solver: with the witness asserted
(`sat`: the answer exists) and with the witness excluded (`unsat`: there is no other). The answer that the witness
spells is compared with the row's expected value, the row's content with its id, and every file with the manifest.
Exit status: 0 all holds, 1 something differs, 2 wrong usage, 3 the solver left something undecided.
"""

import os
import sys

if __name__ == "__main__":  # before any other import: no file of this folder stands in for what is imported
    sys.path[:] = [p for p in sys.path if os.path.realpath(p) != os.path.dirname(os.path.realpath(__file__))]

import argparse
import hashlib
import json
import multiprocessing
import random
import re
import subprocess
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

Row = dict[str, Any]
Decide = Callable[[str], str]  # a text's verdict: sat, unsat, or any other word for undecided
ARCHIVE = "certificates.zip"  # the texts, each under its hash
UNDECIDED = "undecided: "  # how a sentence begins when the solver gave no verdict: no proof and no difference
BESIDE = (".git", ".gitattributes", ".cache", "__pycache__")  # what downloading and running leave there


def canonical(value: Any) -> str:
    """The one JSON text of a value, over which ids are hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def manifest(folder: Path) -> Any:
    """manifest.json. Raises ValueError when it is none."""
    try:
        found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if not isinstance(found["files"], dict) or not (folder / found["rows"]).is_file():
            raise ValueError("rows or files are missing")
        return found
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder / 'manifest.json'}: not the manifest of a release ({error})") from error


def file_faults(folder: Path) -> Iterator[tuple[str, str]]:
    """(file, sentence) for whatever is not as the manifest lists it."""
    listed = manifest(folder)["files"]
    for name, facts in sorted(listed.items()):
        if not (folder / name).is_file():
            yield name, "is missing"
            continue
        digest = hashlib.sha256()
        with (folder / name).open("rb") as data:
            while block := data.read(1 << 20):
                digest.update(block)
        if digest.hexdigest() != facts["sha256"]:
            yield name, "does not have the SHA-256 of the manifest"
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in (*listed, "manifest.json") and name.split("/")[0] not in BESIDE:
            yield name, "is not in the manifest"


def rows(folder: Path) -> Iterator[tuple[int, Row]]:
    """(byte offset, row) of the JSON Lines file; a line that is no object gives an empty row."""
    with (folder / manifest(folder)["rows"]).open("rb") as lines:
        offset = 0
        for line in lines:
            yield offset, parsed(line)
            offset += len(line)


def parsed(line: bytes) -> Row:
    try:
        row = json.loads(line)
    except ValueError:
        row = {}
    return row if isinstance(row, dict) else {}


def row_faults(row: Row, archive: zipfile.ZipFile, decide: Decide) -> Iterator[tuple[str, str]]:
    """(field, sentence) for everything in a row that does not hold."""
    try:
        yield from content_faults(row)
        evidence = {item["test"]: item for item in row["evidence"]}
        if len(evidence) != len(row["evidence"]):
            yield "evidence", "two certificates for one test"
        tests = {**dict(enumerate(row["tests"])), **{-1 - n: test for n, test in enumerate(row["examples"])}}
        if set(evidence) - set(tests):
            yield "evidence", f"certificates for tests {sorted(set(evidence) - set(tests))}, which the row has not"
        for number, test in tests.items():
            field = f"tests.{number}" if number >= 0 else f"examples.{-1 - number}"
            if number not in evidence:
                yield field, "has no certificate"
                continue
            for sentence in label_faults(row["family"], test, evidence[number], archive, decide):
                yield field, sentence
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        yield "row", f"is not made as a row is ({type(error).__name__}: {error})"


def content_faults(row: Row) -> Iterator[tuple[str, str]]:
    """What a row says against its id and its first test."""
    content = {name: row[name] for name in ("family", "family_version", "statement", "entry_point")}
    content.update({name: json.loads(row[name]) for name in ("arguments", "expected")})
    found = hashlib.sha256(canonical(content).encode()).hexdigest()[:20]
    if found != row["id"]:
        yield "id", f"{row['id']}, but the content hashes to {found}"
    main = row["tests"][0] if row["tests"] else {}
    for name in ("arguments", "expected"):
        if main.get(name) != row[name]:
            yield name, "differs from the first test's, which is the main instance"


def label_faults(family: str, test: Row, certificate: Row, archive: zipfile.ZipFile, decide: Decide) -> Iterator[str]:
    """Sentences about one test: its texts, its two proofs, and whether they speak of the expected value."""
    queries = certificate["queries"]
    ends = [(query["kind"], query["verdict"]) for query in (*queries[:1], *queries[-1:])]
    if certificate["status"] != "unique" or ends != [("existence", "sat"), ("uniqueness", "unsat")]:
        yield "the certificate does not go from a satisfiable query to a refuted rival"
        return
    try:
        proof = Proof(text(archive, queries[0]["smt_sha256"]), text(archive, queries[-1]["smt_sha256"]))
        answer = canonical(proof.answer(family, json.loads(test["arguments"])))
        for opinion in certificate["opinions"]:
            if opinion.get("data_sha256"):
                text(archive, opinion["data_sha256"], "json")
    except Unreadable as error:
        yield str(error)
        return
    for what, stored in (("expected", test["expected"]), ("the certificate's answer", certificate["answer"])):
        if answer != stored:
            yield f"{what} is {stored:.60}, but the witness says {answer:.60}"
    for what, query, wanted in (("the witness", proof.witnessed(), "sat"), ("a rival", proof.rival, "unsat")):
        verdict = decide(query)
        if verdict not in ("sat", "unsat"):
            yield f"{UNDECIDED}the solver says {verdict} of {what}"
        elif verdict != wanted:
            yield f"the solver says {verdict} of {what}; {wanted} was published"


class Unreadable(Exception):
    """A text that is missing, changed, or not of the form that proves anything."""


def text(archive: zipfile.ZipFile, digest: str, kind: str = "smt2") -> str:
    """A published text by its hash. Raises Unreadable unless it is there and has that hash."""
    name = f"{digest[:2]}/{digest}.{kind}"
    try:
        data = archive.read(name)
    except (KeyError, zipfile.BadZipFile, OSError, ValueError, EOFError, zlib.error) as error:
        raise Unreadable(f"{ARCHIVE}: {name} cannot be read ({error})") from error
    if hashlib.sha256(data).hexdigest() != digest:
        raise Unreadable(f"{ARCHIVE}: {name} does not have this hash")
    return data.decode()


LINE = re.compile(r"\((?:set-logic [A-Z_]+|declare-const [A-Za-z_]\w* (?:Bool|Int)|assert [^;|\"]+)\)")
LITERAL = re.compile(r"\(= (\w+) (\d+|\(- \d+\))\)|\(not (\w+)\)|(?<=[ (])(?!and\b|not\b|assert\b)([^\W\d]\w*)(?=[ )])")
ONE = "; a model that differs from the witness\n(assert (not "
LEAST = "; a model that misses a member of the witness\n(assert "


class Proof:
    """The two texts of one label, taken apart. Raises Unreadable unless the second excludes one witness of the first."""

    def __init__(self, base: str, rival: str):
        self.base, self.rival, block = base, rival, rival[len(base) :]
        if not rival.startswith(base):
            raise Unreadable("the second text does not begin with the first")
        for line in base.splitlines():
            if not line.startswith(";") and not (LINE.fullmatch(line) and one_command(line)):
                raise Unreadable(f"a line of the first text neither declares nor asserts: {line:.60}")
        self.least = block.startswith(LEAST)
        self.witness: dict[str, int | bool] = {}
        if self.least:
            self.witness = dict.fromkeys(re.findall(r"\(not (\w+)\)", block), True)
        else:
            for name, number, false, true in LITERAL.findall(block[len(ONE) - 1 :]):
                self.witness[name or false or true] = integer(number) if name else not false
        if self._block() != block:
            raise Unreadable("the second text excludes something other than one witness")

    def _block(self) -> str:
        """The exclusion, written again from the witness that was read: it must come out the same."""
        if self.least:
            return f"{LEAST}{joined('or', [f'(not {name})' for name in self.witness], 'false')})\n"
        return f"{ONE}{joined('and', self._literals(), 'true')}))\n"

    def _literals(self) -> list[str]:
        return [literal(name, value) for name, value in self.witness.items()]

    def witnessed(self) -> str:
        """The first text with the witness asserted; for a least set also that nothing else belongs to it."""
        literals = self._literals()
        if self.least:
            others = re.findall(r"^\(declare-const (\w+) Bool\)$", self.base, re.MULTILINE)
            literals += [f"(not {name})" for name in others if name not in self.witness]
        return self.base + "".join(f"(assert {literal})\n" for literal in literals)

    def answer(self, family: str, arguments: Any) -> Any:
        """The answer that the witness spells. Raises Unreadable for a family that nobody taught this program."""
        if family in READERS:
            try:
                return READERS[family](arguments, self.witness)
            except (KeyError, IndexError, TypeError, ValueError) as error:
                raise Unreadable(f"the witness is not about these arguments ({error})") from error
        if self.least or len(self.witness) == 1:
            return len(self.witness) if self.least else next(iter(self.witness.values()))
        raise Unreadable(f"how a witness of {family} spells its answer is not known here")


def path(arguments: Any, witness: dict[str, Any]) -> Any:
    """The edges that the witness takes, walked from the source; `edge_0` is the first of the list."""
    taken = {edge[0]: edge for number, edge in enumerate(arguments["edges"]) if witness[f"edge_{number}"]}
    walked, weight = [arguments["source"]], 0
    while walked[-1] in taken and len(walked) <= len(taken):
        _, head, step = taken[walked[-1]]
        walked, weight = [*walked, head], weight + step
    return {"weight": weight, "path": walked}


READERS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "dag_shortest_path": path,
    "dag_topological_position": lambda arguments, witness: witness[f"round_{arguments['vertex']}"],
}
"""Families whose witness says more than its answer, which else is a least set's size or the one variable's value."""


def one_command(line: str) -> bool:
    depth = 0
    for found in re.finditer(r"[()]", line):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return found.end() == len(line)
    return False


def joined(operator: str, terms: list[str], none: str) -> str:
    return f"({operator} {' '.join(terms)})" if len(terms) > 1 else terms[0] if terms else none


def literal(name: str, value: int | bool) -> str:
    if isinstance(value, bool):
        return name if value else f"(not {name})"
    return f"(= {name} {value if value >= 0 else f'(- {-value})'})"


def integer(numeral: str) -> int:
    return -int(numeral[3:-1]) if numeral.startswith("(") else int(numeral)


def by_z3(query: str, timeout_s: float) -> str:
    import z3

    logic = query.split(")")[0].removeprefix("(set-logic ")
    makers = [z3.SimpleSolver, lambda ctx: z3.SolverFor(logic, ctx=ctx)]
    if logic == "QF_LIA" and query.count("(declare-const ") >= 100:
        makers.reverse()  # large sums are quicker through the pipeline for linear arithmetic
    verdict = "unknown"
    while makers and verdict == "unknown":
        solver = makers.pop(0)(ctx=z3.Context())
        solver.set("timeout", int(timeout_s * 1000))
        solver.from_string(query)
        verdict = str(solver.check())
    return verdict


def by_cvc5(query: str, timeout_s: float) -> str:
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(timeout_s * 1000)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query, "recheck")
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, parser.getSymbolManager())
    found = solver.checkSat()
    return "sat" if found.isSat() else "unsat" if found.isUnsat() else "unknown"


def by_program(query: str, timeout_s: float) -> str:
    command = ["z3", "-in", f"-T:{max(1, round(timeout_s))}"]
    told = subprocess.run(command, input=query + "(check-sat)\n", capture_output=True, text=True).stdout.split()
    return told[0] if told else "unknown"


SOLVERS = {"z3": by_z3, "cvc5": by_cvc5, "z3-program": by_program}
WHERE: dict[str, Callable[[str], Any]] = {"z3": find_spec, "cvc5": find_spec, "z3-program": lambda _: which("z3")}


def checked(job: tuple[Path, int, str, float]) -> list[tuple[str, str]]:
    """The faults of the row at one byte offset."""
    folder, offset, solver, timeout_s = job
    with (folder / manifest(folder)["rows"]).open("rb") as lines, zipfile.ZipFile(folder / ARCHIVE) as archive:
        lines.seek(offset)
        return list(row_faults(parsed(lines.readline()), archive, lambda query: SOLVERS[solver](query, timeout_s)))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Prove every label of this folder again.")
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent, help="the release (here)")
    parser.add_argument("--solver", choices=sorted(SOLVERS), help="default: the first one that is installed")
    parser.add_argument("--sample", type=int, metavar="N", help="prove only N rows, drawn at random")
    parser.add_argument("--timeout-s", type=float, default=60.0, help="seconds for one query (60)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    given = parser.parse_args(arguments)
    installed = [name for name, find in WHERE.items() if find(name)]
    solver = given.solver or next(iter(installed), None)
    if solver not in installed:
        parser.error(f"no solver {solver or 'found'}: pip install z3-solver, or cvc5, or put a z3 program on the PATH")
    try:
        listed, found = manifest(given.folder)["problems"], list(file_faults(given.folder))
        known = [(offset, str(row.get("id")), len(row.get("evidence") or ())) for offset, row in rows(given.folder)]
    except (ValueError, OSError) as error:
        parser.error(str(error))
    if len(known) != listed:
        found.append((manifest(given.folder)["rows"], f"holds {len(known)} rows, the manifest counts {listed}"))
    for identity, count in Counter(name for _, name, _ in known).items():
        found += [("id", f"{identity} stands in {count} rows")] if count > 1 else []
    chosen = sorted(random.sample(range(len(known)), min(given.sample or len(known), len(known))))
    work = [(given.folder, known[place][0], solver, given.timeout_s) for place in chosen]
    with multiprocessing.Pool(given.jobs) as pool:
        for place, faults in zip(chosen, pool.imap(checked, work, 4), strict=True):
            found += [(f"row {place + 1}, {field}", sentence) for field, sentence in faults]
    undecided = sum(sentence.startswith(UNDECIDED) for _, sentence in found)
    for where, sentence in found:
        print(f"{where}: {sentence}")
    print(f"recheck  {len(chosen)} of {len(known)} problems, {sum(known[n][2] for n in chosen)} labels, by {solver}")
    print(f"recheck  differences: {len(found) - undecided}, undecided: {undecided}")
    stamp = hashlib.sha256((given.folder / "manifest.json").read_bytes()).hexdigest()
    print(f"recheck  manifest.json has SHA-256 {stamp}")
    return 1 if len(found) > undecided else 3 if undecided else 0


if __name__ == "__main__":
    sys.exit(main())
