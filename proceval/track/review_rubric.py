"""rubric.md: sections of criteria, read strictly."""

import re
from pathlib import Path

from proceval.errors import InputError
from proceval.schema import Criterion, CriterionKind

SECTIONS: dict[str, CriterionKind] = {
    "must-flag": "must_flag",
    "must-not-flag": "must_not_flag",
    "engagement": "engagement",
}
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_SIGNS = re.compile(r"Signs: *(`[^`]+`(?:, *`[^`]+`)*)\Z")


def criteria(text: str, path: Path) -> tuple[Criterion, ...]:
    """All criteria in the order of the file. Raises InputError naming the line that is wrong."""
    found: list[Criterion] = []
    seen: dict[str, int] = {}
    section: tuple[str, int] | None = None
    filled: dict[str, int] = {}
    for number, level, head, body in _parts(text):
        if level == 2:
            if head not in SECTIONS:
                raise InputError(f"{path}, line {number}: unknown section '{head}'; sections: {', '.join(SECTIONS)}")
            if head in filled:
                raise InputError(f"{path}, line {number}: the section '{head}' is there twice")
            _not_empty(section, filled, path)
            section, filled[head] = (head, number), 0
            if body:
                raise InputError(f"{path}, line {number}: text before the section's first criterion, a line '### id'")
        elif level == 3:
            if section is None:
                raise InputError(
                    f"{path}, line {number}: a criterion before the first section, '## must-flag' or another"
                )
            if not _ID.match(head):
                raise InputError(
                    f"{path}, line {number}: the id '{head}' must be lower-case letters, digits and hyphens"
                )
            if head in seen:
                raise InputError(f"{path}, line {number}: the id '{head}' is there already, in line {seen[head]}")
            seen[head] = number
            filled[section[0]] += 1
            found.append(_criterion(head, SECTIONS[section[0]], body, f"{path}, line {number}"))
        elif section is not None:
            raise InputError(f"{path}, line {number}: a heading of this level has no place inside a section")
    _not_empty(section, filled, path)
    if not found:
        raise InputError(f"{path}: not a single criterion")
    return tuple(found)


def _criterion(id: str, kind: CriterionKind, body: str, where: str) -> Criterion:
    lines = body.splitlines()
    signs: tuple[str, ...] = ()
    if lines and lines[-1].startswith("Signs:"):
        match = _SIGNS.match(lines.pop().rstrip())
        if match is None:
            raise InputError(f"{where}: 'Signs:' takes phrases in backticks with commas between them")
        signs = tuple(re.findall(r"`([^`]+)`", match[1]))
    text = "\n".join(lines).strip()
    if not text:
        raise InputError(f"{where}: the criterion '{id}' says nothing")
    return Criterion(id=id, kind=kind, text=text, signs=signs)


def _not_empty(section: tuple[str, int] | None, filled: dict[str, int], path: Path) -> None:
    if section is not None and not filled[section[0]]:
        raise InputError(f"{path}, line {section[1]}: the section '{section[0]}' has no criterion")


def _parts(text: str) -> list[tuple[int, int, str, str]]:
    """(line, level, heading, what follows it) of every heading; signs inside fenced code head nothing."""
    parts: list[tuple[int, int, str, list[str]]] = []
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        match = None if fenced else re.match(r"(#{1,6}) +(.*?) *$", line)
        if match:
            parts.append((number, len(match[1]), match[2], []))
        elif parts:
            parts[-1][3].append(line)
    return [(number, level, head, "\n".join(body).strip()) for number, level, head, body in parts]
