"""A reply without its reasoning, and which of its lines are fences: the rules are those that `extract` documents."""

import re

INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060"
"""Byte order mark and zero-width characters."""
_SEEN = re.compile(rf"[^\s{INVISIBLE}]")
_TAG = re.compile(r"(?<!['\"`\\])<(/?)(think|thinking|reasoning|thought)>(?!['\"]|`(?!``))", re.IGNORECASE)
_ANY_TAG = re.compile(
    _TAG.pattern + r"|(?<=[^\s(\[{=]['\"`])</(?:think|thinking|reasoning|thought)>(?=[ \t]*(?:\n|\Z|```|~~~))",
    re.IGNORECASE,
)
"""Also the closing tag that ends its line behind the closing mark of a quotation."""
_FENCE = re.compile(rf"[{INVISIBLE}]*(?P<indent>[ \t]*)(?P<fence>`{{3,}}|~{{3,}})[ \t]*(?P<info>.*)\Z")
LANGUAGE = re.compile(r"(?:[\w+#.-]*(?:[ \t]+(?:\{[^{}]*\}|[\w-]+=.*|\d[\d.]*|\w+\.py))*|\{.*\})\Z")
CODE_START = re.compile(r"(?:(?:from|import|def|async\s+def|class)\s+\w|@\w|[A-Za-z_]\w*\s*(?::[^=]+)?=[^=])")


def without_reasoning(text: str) -> str | None:
    """The reply without its reasoning, or None when the reasoning never ends."""
    start = 0
    while (opening := _TAG.match(text, first_word(text, start))) and not opening[1]:
        following = _TAG.search(text, opening.end())
        if following is None or not following[1]:
            end = _quoted_end(text[opening.end() : following.start() if following else len(text)])
            if end is not None:
                rest = _without_later_reasoning(text[opening.end() + end :])
                again = _TAG.match(rest, first_word(rest, 0))
                return None if again and not again[1] else rest
        closing = next((tag for tag in _TAG.finditer(text, opening.end()) if tag[1]), None)
        if closing is None:
            return None
        start = closing.end()
    return _without_later_reasoning(text[start:])


def _quoted_end(text: str) -> int | None:
    """Where reasoning ends that is closed by no tag but one behind a quotation, outside a fence or in one that never ends."""
    lines = text.split("\n")
    below = _fences_below(lines)
    fence: re.Match[str] | None = None
    offset = 0
    for number, line in enumerate(lines):
        tag = next((tag for tag in _ANY_TAG.finditer(line) if _closing(tag)), None)
        mark = fence_in(line[: tag.start()] if tag else line)
        if mark and fence is None and not tag:
            fence = mark
        elif mark and fence is not None and closes(mark, fence):
            fence = None
        if tag and (fence is None or below[number] != "closes"):
            return offset + tag.end()
        offset += len(line) + 1
    return None


def _closing(tag: re.Match[str]) -> bool:
    return tag[0][1] == "/"


def fence_in(line: str) -> re.Match[str] | None:
    """The parts `indent`, `fence` and `info` of a line that is a fence."""
    if "```" not in line and "~~~" not in line:
        return None
    match = _FENCE.match(line.rstrip(" \t"))
    return match if match and not (match["fence"][0] == "`" and "`" in match["info"]) else None


def closes(fence: re.Match[str], opening: re.Match[str]) -> bool:
    """Whether a fence can be the end of the block that `opening` began; words behind it are prose or it cannot."""
    info = fence["info"]
    prose = (not LANGUAGE.match(info) or info.endswith((".", "!", ":"))) and not CODE_START.match(info)
    return (not info or prose) and fence["fence"].startswith(opening["fence"])


def first_word(text: str, start: int) -> int:
    """Where the next character stands that is neither a space nor invisible."""
    found = _SEEN.search(text, start)
    return found.start() if found else len(text)


def _without_later_reasoning(text: str) -> str:
    """One pass over the lines that knows of each whether it is inside a fence."""
    if not _ANY_TAG.search(text):
        return text
    lines = text.split("\n")
    below = _fences_below(lines)
    begin, offset = 0, 0
    cuts: list[tuple[int, int]] = []
    openings: list[int] = []
    fence: re.Match[str] | None = None
    for number, line in enumerate(lines):
        seen = 0
        for tag in _ANY_TAG.finditer(line):
            before = fence_in(line[: tag.start()]) if fence and line[tag.start() - 1] in "`~" else None
            if before and fence and closes(before, fence):
                fence = None
            if not _closing(tag) and fence is None:
                openings.append(offset + tag.start())
            elif _closing(tag) and openings and (fence is None or below[number] != "closes"):
                cuts.append((openings.pop(), offset + tag.end()))
                fence = None
            elif _closing(tag) and (fence is None or (line.strip() == tag[0] and below[number] == "opens")):
                begin, cuts, fence = offset + tag.end(), [], None
            else:
                continue
            seen = tag.end()
        mark = fence_in(line[seen:])
        if mark and fence is None:
            fence = mark
        elif mark and fence is not None and closes(mark, fence):
            fence = None
        offset += len(line) + 1
    return _without_cuts(text, begin, cuts)


def _fences_below(lines: list[str]) -> list[str]:
    """What the next fence below each line does: `closes`, `opens` (then a block open here never ends) or, if none, ``."""
    found, below = [], ""
    for line in reversed(lines):
        found.append(below)
        fence = fence_in(line)
        below = ("closes" if closes(fence, fence) else "opens") if fence else below
    return found[::-1]


def _without_cuts(text: str, begin: int, cuts: list[tuple[int, int]]) -> str:
    kept = []
    for start, end in sorted(cuts):
        if start >= begin:  # a cut inside another is gone with it
            kept.append(text[begin:start])
        begin = max(begin, end)
    return "".join([*kept, text[begin:]])
