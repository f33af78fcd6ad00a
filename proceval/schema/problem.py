"""Problems: immutable content."""

from typing import Literal

from proceval.schema.base import Json, Record


class Test(Record):
    """One call of the entry point with its proved result."""

    __test__ = False  # or pytest would try to collect it

    arguments: dict[str, Json]
    """Keyword arguments of the entry point: exactly one instance of the family, JSON values."""
    expected: Json
    """The proved answer, compared with strict types."""
    origin: Literal["main", "targeted", "example"]
    """`main`: the sampled instance; `targeted`: added because it kills a mutant; `example`: shown to the model."""


class Problem(Record):
    """One problem with its key: immutable content, identified by what it says and not by where it came from."""

    id: str
    """First 20 hex digits of SHA-256 over family, family_version, arguments, statement, entry_point and expected."""
    family: str
    family_version: int
    domain: str
    difficulty: str
    statement: str
    """The task in words with its contract; the same for all problems of a family (the instance is in `arguments`)."""
    entry_point: str
    """Name of the function that a completion must define."""
    parameters: tuple[str, ...]
    """Parameter names of the entry point, in order."""
    arguments: dict[str, Json]
    expected: Json
    reference: str
    """Source text of the reference solution; the audit mutates exactly this text."""
    examples: tuple[Test, ...]
    """Public tests: shown in the prompt and used for feedback."""
    tests: tuple[Test, ...]
    """Hidden tests; the first one is the main instance. Never sent to a model or a strategy."""
