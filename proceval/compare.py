"""Equality of what a guest returned and what was proved: text equality of canonical typed encodings.

True, 1 and 1.0 are three values; a tuple is not a list. No method of a guest's object runs and no hash table is built
from its keys, because all that ever arrives here is text.
"""

import contextlib

from proceval.schema import Json
from sandbox import wire


def key(expected: Json) -> str:
    """The canonical typed text of a proved answer. Raises ValueError when it has none: the key's fault."""
    return wire.encode(expected)


def same(expected: Json, returned: str | None) -> bool:
    """Whether a guest's canonical text says exactly the proved answer."""
    return returned is not None and returned == key(expected)


def show(returned: str, *, most: int = 120) -> str:
    """A returned value on one line for people, cut to `most` characters."""
    text = returned
    if len(returned) <= 4 * most:
        with contextlib.suppress(ValueError):
            text = repr(wire.decode(returned))
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
