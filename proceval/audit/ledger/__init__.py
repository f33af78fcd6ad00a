"""The ledger: which mutants are equivalent to their reference under its contract, and how that is known.

One JSON file per reference template lies beside this module, with the SMT-LIB scripts its proofs name. Entries belong
to the exact text of a reference; editing that text voids them until scripts/ledger.py has proved them again.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from proceval.errors import InputError
from proceval.schema import Record

FOLDER = Path(__file__).parent
LIMIT = 0.08
"""Largest share of a template's mutants that may be in the ledger."""

Method = Literal["smt", "symbolic-bounded", "finite-complete", "lemma+exhaustive"]
"""How an entry is proved, strongest first.

smt: SMT-LIB obligations, all unsatisfiable, for inputs of any size. symbolic-bounded: every path of reference and
mutant, for all integers, at every shape up to the bound. finite-complete: every case of a finite abstraction that the
lemma shows to be complete up to the bound. lemma+exhaustive: an argument for people, and all instances up to the bound.
"""
MACHINE: frozenset[Method] = frozenset({"smt", "symbolic-bounded", "finite-complete"})
"""Methods in which a machine does the proof; the lemma only says what it proves."""


class Entry(Record):
    """One mutant that no test can kill."""

    mutant: str
    """Id without its template part: operator, site, detail."""
    line: int
    before: str
    after: str
    kind: str
    """Why it changes nothing, in a word or two: worklist order, no-op guard, tie, ..."""
    method: Method
    bound: str
    """Up to where it is proved; `none` for inputs of any size."""
    lemma: str
    """The argument in one paragraph."""
    invariant: str | None
    """For an edit of one expression: what always holds at its place, as Python. The obligation that both versions agree
    is made from the code, and every run of the check watches the invariant."""
    script: str | None
    """For smt: name of the file of obligations beside this module; with an invariant, it proves the invariant."""


class Book(Record):
    """The entries of one template."""

    family: str
    template_sha256: str
    """SHA-256 of the reference text that the entries were proved for."""
    mutants: int
    """All gate mutants of the template that compile and are nobody's twin."""
    entries: tuple[Entry, ...]

    def by_id(self) -> dict[str, Entry]:
        """Full mutant id -> entry."""
        return {f"{self.template_sha256[:12]}:{entry.mutant}": entry for entry in self.entries}


@lru_cache(maxsize=1)
def books() -> tuple[Book, ...]:
    """All books. Raises InputError naming the file that is not a book."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        try:
            found.append(Book.model_validate_json(path.read_text(encoding="utf-8")))
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return tuple(found)


def entries_for(template_sha256: str) -> Mapping[str, Entry]:
    """Full mutant id -> entry for exactly this reference text; empty when the ledger knows no such text."""
    return next((book.by_id() for book in books() if book.template_sha256 == template_sha256), {})
