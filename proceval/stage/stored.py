"""The files of a dataset that somebody may have changed: read line by line and text by text, whatever is wrong with one."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from proceval import folder as files
from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.register import Register
from proceval.release.content import Fault, ReadData, Unreadable
from proceval.schema import Certificate, Problem
from proceval.seeding import text_digest

TEXT_BYTES = 1 << 28
"""No text of a certificate is longer: unpacking stops here."""


def dataset(folder: RunFolder) -> Path:
    """The file that holds the problems. Raises InputError where there is none, or not a single problem in it."""
    file = folder.given()
    if file is None:
        return folder.source() / "dataset.jsonl"
    first: InputError | None = None
    for one in files.each(file, Problem):
        if isinstance(one, Problem):
            return file
        first = first or one
    raise first or InputError(f"{file}: not a single problem")


def line_fault(error: InputError, source: Path) -> Fault:
    """What is wrong with a line, by its file's name in the folder and its number."""
    place, _, sentence = str(error).removeprefix(f"{source}/").partition(": ")
    return place, sentence


def evidence(source: Path) -> tuple[Register, list[Fault], int]:
    """Every certificate by its problem, and room for the problems seen: neither has to fit into memory.

    Also the lines that are none, and how many opinions of cvc5 there are. Raises InputError where there is no certificate.
    """
    index = source / "certificates" / "index.jsonl"
    if not index.is_file():
        raise InputError(f"{index}: no such file; a dataset without certificates cannot be verified")
    found = Register(
        "evidence (problem TEXT, number INTEGER, certificate TEXT, PRIMARY KEY (problem, number)) WITHOUT ROWID",
        "seen (id TEXT PRIMARY KEY, row INTEGER) WITHOUT ROWID",
    )
    faults: list[Fault] = []
    seconds = whole = 0
    for number, item in enumerate(files.each(index, Certificate)):
        if isinstance(item, InputError):
            faults.append(line_fault(item, source))
            continue
        whole += 1
        seconds += sum(opinion.by.startswith("cvc5 ") for opinion in item.opinions)
        found.put("INSERT INTO evidence VALUES (?, ?, ?)", item.problem_id, number, item.model_dump_json())
    if not whole:
        raise InputError(f"{index}: not a single certificate; {': '.join(faults[0])}")
    return found, faults, seconds


def certificates(register: Register, problem: Problem) -> list[Certificate]:
    query = "SELECT certificate FROM evidence WHERE problem = ? ORDER BY number"
    return [Certificate.model_validate_json(text) for (text,) in register.rows(query, problem.id)]


def strangers(register: Register) -> Iterator[Fault]:
    """Certificates of problems that were not seen."""
    query = "SELECT DISTINCT problem FROM evidence WHERE problem NOT IN (SELECT id FROM seen) ORDER BY problem"
    for (stranger,) in register.rows(query):
        yield "certificates/index.jsonl", f"certificate for {stranger}, which the dataset does not hold"


def text(source: Path, sha256: str, kind: Literal["smt2", "json"]) -> str:
    """A text of the certificates; nothing is unpacked beyond the longest that generation writes."""
    try:
        with gzip.open(files.text_path(source / "certificates", sha256, kind)) as file:
            raw = file.read(TEXT_BYTES + 1)
        found = raw.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise Unreadable(f"cannot be read: {error}") from error
    if len(raw) > TEXT_BYTES or text_digest(found) != sha256:
        raise Unreadable("the text does not have this hash")
    return found


def data(source: Path) -> ReadData:
    return lambda sha256: text(source, sha256, "json")


def texts(where: str, item: Certificate, source: Path) -> Iterator[Fault]:
    """The compressed texts that a certificate names: those of its queries in full, of its data only how they are packed.

    What the data say is for the checker of the argument.
    """
    for query in item.queries:
        name = f"{where}, {query.smt_sha256}.smt2.gz"
        try:
            text(source, query.smt_sha256, "smt2")
        except Unreadable as error:
            yield name, str(error)
        else:
            yield from _packed(name, files.text_path(source / "certificates", query.smt_sha256, "smt2"))
    for opinion in item.opinions:
        if opinion.data_sha256 is not None:
            path = files.text_path(source / "certificates", opinion.data_sha256, "json")
            yield from _packed(f"{where}, {path.name}", path)


def _packed(name: str, path: Path) -> Iterator[Fault]:
    """Flags and time in a gzip header: generation writes none, so that equal texts are equal files."""
    if path.is_file():
        with path.open("rb") as file:
            if file.read(8)[3:] != bytes(5):
                yield name, "holds a time or a name beside the text, which generation does not write"
