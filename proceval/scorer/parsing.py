"""Syntax trees of the parts of one reply, in bounded work: replies are read in the loop that everybody waits in.

A part is parsed once. Work is counted in signs (words, punctuation marks and line ends: a parser's time follows those), plus
an eighth of the characters, and never in seconds, so that a reply always reads alike. A part that is a candidate is always
parsed: candidates do not overlap. Attempts (where does a block end, how much of a text is code) are refused once a reply
has had its share: of 200,000 characters of ordinary code, that is the text three times; of a short reply, it is never met.
"""

import ast
import warnings
from dataclasses import dataclass

_MOST_WORK = 300_000
_FILE = "<reply>"
_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_" + bytes(range(128, 256))
_MARKS = b"\n" + bytes(sign for sign in range(33, 127) if sign not in _WORD)
_MARKS_TO_SPACES = bytes.maketrans(_MARKS, b" " * len(_MARKS))


@dataclass(frozen=True)
class Parsed:
    """The tree, or the 1-based line of the first error where it is known."""

    tree: ast.Module | None
    line: int | None = None


class Parser:
    """Parses parts of one reply and counts the work."""

    def __init__(self, text: str):
        self._known: dict[str, Parsed] = {}
        self.work = 0
        self._reserved = _work(text)
        """What the candidates will need at most; attempts to find them leave it alone."""

    def parse(self, code: str) -> Parsed:
        """The syntax tree; nothing of the code is run."""
        if code not in self._known:
            self._known[code], reached = _parse(code)
            self.work += _work(code[:reached]) + (len(code) - reached) // 8
        return self._known[code]

    def attempt(self, code: str, *, reserve: bool = False) -> Parsed | None:
        """The same, or None when the work is used up; `reserve` leaves what the candidates need."""
        if code not in self._known:
            most = _MOST_WORK - self._reserved * reserve
            if self.work + len(code) // 8 > most or self.work + _work(code) > most:
                return None
        return self.parse(code)


def _work(code: str) -> int:
    plain = code.encode("utf-8", "replace")
    marks = len(plain) - len(plain.translate(None, _MARKS))
    return marks + len(plain.translate(_MARKS_TO_SPACES).split()) + len(code) // 8


def _parse(code: str) -> tuple[Parsed, int]:
    """What is known of the code, and up to which character it was looked at."""
    # A filter for this name alone that stays in place: catch_warnings is not safe beside other threads.
    warnings.filterwarnings("ignore", module=_FILE)
    try:
        return Parsed(ast.parse(code, _FILE)), len(code)
    except SyntaxError as error:
        known = Parsed(None, error.lineno)
        if error.msg != "invalid syntax" or not error.lineno:  # others name the start of what was read to its end
            return known, len(code)
        return known, sum(len(line) + 1 for line in code.split("\n", error.lineno)[: error.lineno])
    except (ValueError, RecursionError, MemoryError):  # NUL characters, nesting beyond the parser's depth
        return Parsed(None), len(code)
