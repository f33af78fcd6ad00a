"""Which value a reply gives as its answer: one table of rules for every family, and the rule that fired is recorded.

 1. Reasoning in `<think>` tags is not an answer.
 2. `marker`: what follows the last `ANSWER:` (also `Final answer:` at the start of a line), on that line or, when
    nothing follows there, below it (`marker_below`). Nothing else is looked at, even if it cannot be read. Where a
    fence follows the marker, on its line or below it, what it holds is read, whatever prose stands under it
    (`marker_fenced`); another fence there that holds another value makes it no answer.
    Markers may repeat a value anywhere. Two values are no answer, since a reply may not try its luck twice:
    `several_answers`. One correction is allowed (`marker_corrected`): a sentence, of three words or more, stands between
    the value that is taken back and the one that replaces it, and nothing behind the last. Markers whose value cannot be
    read count only if they are the last.
 3. `boxed`: without a marker, the last \\boxed{...}.
 4. `whole`: without either, a reply that is nothing but the answer.
A value is JSON or a Python literal of the kind that is asked for; emphasis, code marks, dollar signs and a closing full
stop around it are dropped, U+2212 is a minus. Integers may group thousands by commas, but carry no unit, underscore or
other script's digits; 7.0 is no integer. A list of integers may be written 0 -> 3 -> 5 or 0, 3 and 5. An object that gives
one key twice is no value, and neither is one with a comment behind it.
Every rule takes work in proportion to the reply, since replies are read in the loop that everybody waits in: a reply with
more than a thousand different markers is not read (`too_many_markers`).
"""

import ast
import io
import json
import re
import tokenize
import warnings
from dataclasses import dataclass
from itertools import pairwise

from proceval.compare import key
from proceval.schema import Json
from proceval.scorer.reasoning import without_reasoning

MOST_CHARACTERS = 200_000
"""Replies beyond this, reasoning aside, are not read."""
_MOST_VALUE = 10_000
_MOST_MARKERS = 1000
_WORD = re.compile(r"[^\W\d_]+")
_WORDS_OF_A_CORRECTION = 3
_MARKER = re.compile(r"(?:ANSWER|^[\W\d_]*(?i:final[ ]answer|answer))[\W_]*?[:=](?P<said>.*)$")
_SPACE = "".join(letter for letter in map(chr, range(0x3001)) if letter.isspace())
_BEFORE, _BEHIND = f"{_SPACE}*_`$", f"{_SPACE}*_`$.!;"
_INTEGER = r"-?(?:0|[1-9]\d*)"
_GROUPED = re.compile(r"-?[1-9]\d{0,2}(?:,\d{3})+\Z", re.ASCII)
_LIST = re.compile(rf"{_INTEGER}(?:\s*(?:,\s*and\b|\band\b|,|->|→)\s*{_INTEGER})*\Z", re.ASCII)
_BLOCK = re.compile(
    r"(?<![`~])(?P<fence>`{3,10}|~{3,10})(?![`~])(?P<held>.*?)(?:(?P=fence)(?![`~])[ \t*_.!]*(?=\n|\Z)|\Z)", re.DOTALL
)
_BEFORE_BLOCK = re.compile(r"[\s*_]*")
_TAG_LINE = re.compile(r"[ \t]*(?:[A-Za-z][\w+-]*[ \t]*)?\n(?=\s*\S)")
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}\\]|\\[{}]?|\{[^{}]*\})*+)\}")


@dataclass(frozen=True)
class Said:
    """The answer's canonical typed text, or None, and the rule that decided."""

    text: str | None
    rule: str


def read(reply: str, like: Json) -> Said:
    """The answer in a reply; `like` is a value of the kind that is asked for, and only its kind is used."""
    visible = without_reasoning(reply.replace("\r\n", "\n").replace("\r", "\n"))
    if visible is None:
        return Said(None, "unclosed_reasoning")
    if len(visible) > MOST_CHARACTERS:
        return Said(None, "too_long")
    if not visible.strip():
        return Said(None, "empty")
    lines = visible.split("\n")
    marked = [(number, said) for number, line in enumerate(lines) for said in _sayings(line)]
    if marked:
        return _marked(lines, marked, like)
    boxed = _BOXED.findall(visible)
    if boxed:
        return _said(boxed[-1], like, "boxed")
    return _said(_without_fence(visible), like, "whole", else_rule="no_answer")


def _sayings(line: str) -> list[str]:
    """What follows each marker in a line, up to the next one."""
    starts = [found.start() for found in re.finditer("ANSWER", line)]
    pieces = [line[start:end] for start, end in pairwise([*starts, len(line)])]
    said = [match["said"] for piece in pieces if (match := _MARKER.match(piece))]
    if said:
        return [text.rstrip(" ,;|/") for text in said[:-1]] + said[-1:]
    alone = _MARKER.search(line)
    return [alone["said"]] if alone else []


def _marked(lines: list[str], marked: list[tuple[int, str]], like: Json) -> Said:
    ends = [number for number, _ in marked[1:]] + [len(lines)]
    known: dict[tuple[str, ...], tuple[Said, str]] = {}
    segments = []
    for (number, said), end in zip(marked, ends, strict=True):
        words = (said, *lines[number + 1 : end])
        if words not in known:
            if len(known) == _MOST_MARKERS:
                return Said(None, "too_many_markers")
            known[words] = _segment(said, words[1:], like)
        segments.append(known[words])
    value, behind = segments[-1]
    if value.text is None:
        return value
    read_ones = [(said.text, text) for said, text in segments if said.text is not None]
    changes = [before for before, after in pairwise(read_ones) if before[0] != after[0]]
    if not changes:
        return value
    explained = len(_WORD.findall(changes[0][1])) >= _WORDS_OF_A_CORRECTION
    if len(changes) > 1 or not explained or re.search(r"\w", behind):
        return Said(None, "several_answers")
    return Said(value.text, "marker_corrected")


def _segment(said: str, below: tuple[str, ...], like: Json) -> tuple[Said, str]:
    """What a marker says in its line or below, down to the next marker; and the text behind that."""
    whole = "\n".join([said, *below])
    block = _BLOCK.match(whole, _before_block(whole))
    if block:
        value, behind = _said(_held(block), like, "marker_fenced"), whole[block.end() :]
        others = {value_of(_held(other), like) for other in _BLOCK.finditer(behind)}
        return (value, behind) if others <= {None, value.text} else (Said(None, "several_answers"), behind)
    if not _bare(said):
        return _said("\n".join(below), like, "marker_below"), ""
    value = _said(said, like, "marker")
    if value.text is not None:
        return value, "\n".join(below)
    value = _said(whole, like, "marker")  # an object written over several lines
    return value, ""


def _before_block(text: str) -> int:
    before = _BEFORE_BLOCK.match(text)
    return before.end() if before else 0


def _held(block: re.Match[str]) -> str:
    """What a fenced block holds, without its language tag."""
    return _TAG_LINE.sub("", block["held"], count=1) if _TAG_LINE.match(block["held"]) else block["held"]


def _without_fence(text: str) -> str:
    """The text, or what its single outer fence holds."""
    lines = text.strip().split("\n")
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text


def _said(text: str, like: Json, rule: str, else_rule: str | None = None) -> Said:
    value = value_of(text, like)
    return Said(value, rule) if value is not None else Said(None, else_rule or f"unreadable_{rule}")


def value_of(text: str, like: Json) -> str | None:
    """Canonical typed text of a written value of the kind of `like`, or None when it cannot be read as one."""
    if len(text) > _MOST_VALUE:
        return None
    plain = _bare(text.replace("\u2212", "-").replace("\\$", "$"))
    boxed = _BOXED.fullmatch(plain)
    plain = boxed[1].strip() if boxed else plain
    if isinstance(like, int) and not isinstance(like, bool):
        plain = re.sub(r"\A\((.*)\)\Z", r"\1", plain)
        if _GROUPED.match(plain):
            plain = plain.replace(",", "")
    elif isinstance(like, list) and all(type(item) is int for item in like):
        bracketed = plain.startswith("[") and plain.endswith("]")
        inner = plain[1:-1].rstrip().removesuffix(",").strip() if bracketed else plain
        if inner and _LIST.match(inner):
            plain = f"[{','.join(re.findall(_INTEGER, inner, re.ASCII))}]"
    for parse in (_json, _python):
        try:
            value = parse(plain)
            if _kind(value) == _kind(like):
                return key(value)
        except _Ambiguous:
            return None
        except (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
            continue
    return None


def _bare(text: str) -> str:
    """The text without emphasis, code marks and dollar signs around it, and without a closing stop."""
    return text.lstrip(_BEFORE).rstrip(_BEHIND)


class _Ambiguous(Exception):
    """An object that gives one key twice."""


def _kind(value: Json) -> str:
    """Numbers are one kind, so that 7.0 is read where 7 is asked for, and is wrong."""
    return "number" if type(value) in (int, float) else type(value).__name__


def _json(text: str) -> Json:
    def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise _Ambiguous
        return found

    def no_constant(name: str) -> Json:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)


def _python(text: str) -> Json:
    """A Python literal; digits as JSON has them, so that no underscore, sign or base slips in, and nothing is unsaid."""
    if re.search(r"\+|\d_\d|\b0[xobXOB]|[^\x00-\x7f]", text):
        raise ValueError("not plain digits")
    text = text.lstrip(" \t")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, mode="eval")
        value = ast.literal_eval(tree)
    json.dumps(value, allow_nan=False)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline) if "#" in text else ()
    if any(token.type == tokenize.COMMENT for token in tokens):
        raise ValueError("a comment")
    for node in ast.walk(tree):
        keys = [ast.literal_eval(key) for key in node.keys if key] if isinstance(node, ast.Dict) else []
        if len(set(keys)) != len(keys):
            raise _Ambiguous
    return value
