"""Models as judges of a text, under a contract that is enforced before anything counts as a grade.

docs/judge.md says what the contract asks for and why.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from proceval.protocols import AskJudge
from proceval.schema import ABSENT, Completion, Criterion, Grade, Message
from proceval.scorer.reasoning import without_reasoning
from proceval.seeding import text_digest

PROMPT = (Path(__file__).parent / "judge.md").read_text(encoding="utf-8")
_PROMPT = Template(PROMPT)

LEAST_QUOTE = 12
"""Letters and digits that a quotation has at least, or the whole text where that is shorter: less is found anywhere."""

_MARKS = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})


class Violation(ValueError):
    """A judge's answer that breaks the contract; the message is the reason."""


@dataclass(frozen=True)
class Vote:
    """What one judge says of one criterion."""

    passed: bool
    evidence: str


@dataclass(frozen=True)
class Ruling:
    """What all judges together came to."""

    grades: tuple[Grade, ...]
    """One a criterion, in order; empty when a judge broke the contract to the end."""
    votes: tuple[tuple[Vote, ...], ...]
    """One row a judge."""
    violations: tuple[str, ...]
    """`judge N, attempt M: REASON`, also of answers that a later one made good."""
    fault: str | None
    """Why there is no grade, or None."""


class Judge:
    """Asks `count` judges, each up to `attempts` times until its answer meets the contract; the majority decides.

    Where judges tie, a grade is None. `subject` says in a few words what the text was asked for.
    """

    def __init__(self, *, count: int, attempts: int, subject: str):
        self._count, self._attempts, self._subject = count, attempts, subject

    async def rule(self, criteria: Sequence[Criterion], transcript: str, ask: AskJudge) -> Ruling:
        """Raises ProviderError when a judge cannot be asked."""
        first = prompt(criteria, transcript, self._subject)
        rows: list[tuple[Vote, ...]] = []
        violations: list[str] = []
        for number in range(self._count):
            messages = first
            for attempt in range(self._attempts):
                reply = await ask(number, messages, attempt)
                try:
                    rows.append(validate(reply, criteria, transcript))
                    break
                except Violation as reason:
                    violations.append(f"judge {number}, attempt {attempt + 1}: {reason}")
                    messages = (*first, Message(role="assistant", content=reply.text or "(nothing)"), _again(reason))
            else:
                fault = f"no answer within the contract in {self._attempts} attempts; {violations[-1]}"
                return Ruling((), tuple(rows), tuple(violations), fault)
        return Ruling(_majority(criteria, rows), tuple(rows), tuple(violations), None)


def prompt(criteria: Sequence[Criterion], transcript: str, subject: str) -> tuple[Message, ...]:
    """What a judge is asked: rubric and transcript, and nothing that lies on any disk."""
    text = _PROMPT.substitute(
        subject=subject,
        count=len(criteria),
        criteria="\n\n".join(f"- id: {c.id}\n  kind: {c.kind}\n  {_indented(c.text)}" for c in criteria),
        absent=ABSENT,
        fence=f"===== {text_digest(transcript)[:24]} =====",  # which no text can hold on purpose: it is its own hash
        transcript=transcript.strip(),
        ids=", ".join(c.id for c in criteria),
    )
    return (Message(role="user", content=text),)


def validate(reply: Completion, criteria: Sequence[Criterion], transcript: str) -> tuple[Vote, ...]:
    """The votes of an answer that meets the contract. Raises Violation with the first reason why it does not."""
    if not criteria:
        raise Violation("the rubric has no criterion")
    if not transcript.strip():
        raise Violation("the transcript is empty")
    if reply.finish_reason in ("refusal", "content_filter"):
        raise Violation("the judge declined")
    if reply.finish_reason == "length":
        raise Violation("the answer is cut at the token limit")
    rows = _array(reply.text)
    ids, wanted = [_id(row) for row in rows], [c.id for c in criteria]
    twice = [name for name, n in Counter(ids).items() if n > 1]
    if twice:
        raise Violation(f"the id {twice[0]} occurs more than once")
    unknown = [name for name in ids if name not in wanted]
    if unknown:
        raise Violation(f"the rubric has no criterion {unknown[0]}")
    missing = [name for name in wanted if name not in ids]
    if missing:
        raise Violation(f"the criterion {missing[0]} is missing")
    if ids != wanted:
        raise Violation("the ids are not in the order of the rubric")
    heard = _plain(transcript)
    return tuple(_vote(row, criterion, heard) for row, criterion in zip(rows, criteria, strict=True))


def _array(text: str) -> list[Any]:
    """The array that the whole answer is, but for reasoning before it and a fence around it."""
    said = without_reasoning(text)
    if said is None or not said.strip():
        raise Violation("the answer is empty")
    said = said.strip()
    fenced = re.fullmatch(r"```(?:json)?[ \t]*\n(.*?)\n?```", said, re.DOTALL)
    try:
        found = json.loads(fenced[1] if fenced else said, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except RecursionError:
        raise Violation("the answer is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Violation(f"the answer is not exactly one JSON array ({error})") from None
    except Violation:
        raise
    except ValueError:  # more digits than Python turns into an integer
        raise Violation("the answer holds a number of too many digits") from None
    if not isinstance(found, list):
        raise Violation("the answer is JSON, but no array")
    return found


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]
    if twice:
        raise Violation(f"the key {twice[0]!r} occurs twice in one object")
    return dict(pairs)


def _no_constant(constant: str) -> None:
    raise Violation(f"{constant} is no JSON value")


def _id(row: Any) -> str:
    if not isinstance(row, Mapping):
        raise Violation("an element of the array is no object")
    extra = sorted(set(row) - {"id", "passed", "evidence"})
    if extra:
        raise Violation(f"unknown key {extra[0]!r}")
    lacking = [key for key in ("id", "passed", "evidence") if key not in row]
    if lacking:
        raise Violation(f"the key {lacking[0]!r} is missing")
    if not isinstance(row["id"], str):
        raise Violation("an id is no text")
    return row["id"]


def _vote(row: Mapping[str, Any], criterion: Criterion, heard: str) -> Vote:
    passed, evidence = row["passed"], row["evidence"]
    if not isinstance(passed, bool):
        raise Violation(f"{criterion.id}: passed is neither true nor false")
    if not isinstance(evidence, str) or not evidence.strip():
        raise Violation(f"{criterion.id}: no evidence")
    if evidence.strip() == ABSENT:
        if passed != (criterion.kind == "must_not_flag"):
            raise Violation(f"{criterion.id}: {ABSENT} cannot show that the text says something")
        return Vote(passed, ABSENT)
    quote = _plain(evidence)
    if not quote:
        raise Violation(f"{criterion.id}: the evidence is signs alone: {evidence.strip()[:80]!r}")
    if quote not in heard:
        raise Violation(f"{criterion.id}: the evidence is not in the transcript: {evidence.strip()[:80]!r}")
    if _weight(quote) < min(LEAST_QUOTE, _weight(heard)):
        raise Violation(f"{criterion.id}: the evidence is too short to show anything: {evidence.strip()!r}")
    return Vote(passed, evidence.strip())


def _plain(text: str) -> str:
    """The text as quotations are compared: without Markdown's signs, kinds of quotes, dashes and spaces, and case."""
    text = unicodedata.normalize("NFKC", text).translate(_MARKS).casefold()
    return " ".join(re.sub(r"[*_`#>~]|^\s*[-+]\s", " ", text, flags=re.MULTILINE).split())


def _weight(plain: str) -> int:
    return sum(c.isalnum() for c in plain)


def _majority(criteria: Sequence[Criterion], rows: Sequence[Sequence[Vote]]) -> tuple[Grade, ...]:
    """The side with more votes, with its first evidence."""
    found = []
    for place, criterion in enumerate(criteria):
        votes = [row[place] for row in rows]
        for_it = sum(vote.passed for vote in votes)
        passed = None if 2 * for_it == len(votes) else 2 * for_it > len(votes)
        evidence = next((vote.evidence for vote in votes if vote.passed == passed), "the judges tie")
        found.append(
            Grade(
                id=criterion.id,
                kind=criterion.kind,
                passed=passed,
                weight=1.0,
                evidence=evidence,
                votes=tuple(vote.passed for vote in votes),
            )
        )
    return tuple(found)


def _again(reason: Violation) -> Message:
    text = f"Your answer was thrown away: {reason}. Answer again, with the JSON array alone, by the rules above."
    return Message(role="user", content=text)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
