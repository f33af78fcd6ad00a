"""Reviews: files with known flaws and known non-flaws, and the rubric that says which."""

from typing import Literal

from proceval.schema.base import Json, Record

CriterionKind = Literal["must_flag", "must_not_flag", "engagement", "rubric"]
"""`rubric`: something that must hold of whatever is judged, as in the rubrics of agents."""

ABSENT = "ABSENT"
"""What a judge gives for evidence where the transcript says nothing of the kind."""


class Criterion(Record):
    """One thing that a judge decides of a transcript."""

    id: str
    kind: CriterionKind
    text: str
    signs: tuple[str, ...] = ()
    """Phrases that the offline judge looks for; no real judge sees them."""


class CaseFile(Record):
    """One file under review."""

    path: str
    """Relative, with "/" between names."""
    executable: bool
    encoding: Literal["utf-8", "base64"]
    content: str


class ReviewCase(Record):
    """One review that is asked for, with its key: rubric and, where it was proved, the truth."""

    id: str
    """First 20 hex digits of SHA-256 over name, files, prompt, criteria and key."""
    family: str
    """The case's name."""
    domain: str
    """The suite's name."""
    difficulty: str
    twin: str | None
    """Name of the case with the same place and the opposite truth."""
    prompt: str
    files: tuple[CaseFile, ...]
    criteria: tuple[Criterion, ...]
    key: Json
    """The content of key.json, or None."""
