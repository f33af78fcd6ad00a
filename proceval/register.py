"""Rows that need not fit into memory: a private database that lives as long as the object and is never seen as a file.

What is kept per problem must not make a run's memory grow with the run, so marks, identities and counts go here. SQLite
holds `CACHE_KB` of it and moves the rest to an unnamed file in the temporary directory. Nothing here is durable: whoever
uses it can build it anew from the files that are.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

CACHE_KB = 512


class Register:
    """Tables of one owner; `tables` are their definitions."""

    def __init__(self, *tables: str) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        for setting in (f"cache_size = -{CACHE_KB}", "journal_mode = OFF", "synchronous = OFF"):
            self._database.execute(f"PRAGMA {setting}")
        for table in tables:
            self._database.execute(f"CREATE TABLE {table}")

    def put(self, statement: str, *values: Any) -> bool:
        """Run a statement that changes rows; True when it changed at least one."""
        return self._database.execute(statement, values).rowcount > 0

    def one(self, query: str, *values: Any) -> Any:
        """The first row, or None."""
        return self._database.execute(query, values).fetchone()

    def pages(self, query: str, fixed: Sequence[Any], start: int, size: int = 500) -> Iterator[Sequence[Any]]:
        """All rows of a query that ends in `number >= ? ORDER BY number LIMIT ?`, whose first column is that number.

        Taken in pages, so that the rows of a page may be changed while they are gone through.
        """
        while page := self._database.execute(query, (*fixed, start, size)).fetchall():
            yield from page
            start = page[-1][0] + 1

    def rows(self, query: str, *values: Any) -> Iterator[Any]:
        """All rows of a query; the tables must not change meanwhile."""
        yield from self._database.execute(query, values)

    def close(self) -> None:
        self._database.close()
