"""Whether a skill can reach an arm that must not have it: files under review, a user's home, plug-ins, transcripts."""

import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import yaml

from proceval.errors import Finding
from proceval.schema import CaseFile, ReviewCase

_DEPTH = 12
_ENTRIES = 200_000
"""Bounds of one search: a home folder may be a whole disk."""
_MOST_BYTES = 1 << 20
"""What is read of one file."""
_TELLING = 80
"""Characters of a file of the skill from which on the same content is a copy; anybody may have a shorter one."""
_EVERYWHERE = ("license", "licence", "copying", "notice")
"""Files that are the same in skills that have nothing to do with each other."""
_FRONT = re.compile(r"\A---\n(.*?\n)---(?:\n|\Z)", re.DOTALL)


def named(skill: str, text: str) -> bool:
    """Whether a text says the skill's name, in any case of letters, with any marks or none between its words.

    Compatibility forms (NFKC) are the same letters, and characters that nobody sees are passed over; the end of a
    sentence is no mark.
    """
    seen = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) not in ("Cf", "Mn"))
    words = map(re.escape, skill.split("-"))
    return (
        re.search(r"(?<![a-z0-9])" + r"(?:(?![.!?]\s)[\W_])*".join(words) + r"(?![a-z0-9])", seen.casefold())
        is not None
    )


def in_cases(skill: str, cases: Iterable[ReviewCase]) -> list[str]:
    """One sentence for each prompt or file under review that names the skill."""
    found = []
    for case in cases:
        if named(skill, case.prompt):
            found.append(f"case {case.family}: prompt.md names the skill {skill}")
        found += [f"case {case.family}: input/{f.path} names the skill {skill}" for f in case.files if _names(skill, f)]
    return found


def in_homes(skill: str, homes: Sequence[str], files: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """One sentence for each copy of the skill in folders where a reviewer's own tool looks for skills or plug-ins.

    A copy is a file or folder of that name, a SKILL.md whose front matter gives it, a file that holds one of the skill's
    `files` without its front matter, licences aside, or a JSON, TOML or YAML file of settings that names it, which a home
    may be itself. `~` and `$VARIABLES` in `homes` are replaced; what is not there is passed over. Raises Finding for a
    search that had to stop.
    """
    bodies = {_body(text) for path, text in files.items() if Path(path).stem.casefold() not in _EVERYWHERE}
    contents = {body for body in bodies if len(body) >= _TELLING}
    found = []
    for home in homes:
        root = Path(os.path.expandvars(os.path.expanduser(home)))
        if "$" in str(root):
            continue
        copies = [root] if _settings(skill, root) else _copies(skill, root, contents)
        found += [f"{path} is a copy of the skill {skill}, or enables one" for path in copies]
    return found


def _copies(skill: str, root: Path, contents: Collection[str]) -> list[Path]:
    """Raises Finding naming where it stopped, unless a copy was found before."""
    found: list[Path] = []
    seen, known = 0, set[str]()
    for folder, folders, files in os.walk(root, followlinks=True):
        here = Path(folder)
        real = os.path.realpath(folder)
        inside = real in known or any(here.is_relative_to(copy) for copy in found)
        known.add(real)
        for name in () if inside else sorted(folders + files):
            seen += 1
            path = here / name
            if named(skill, name) or _front_matter(skill, path) or _settings(skill, path) or _same(path, contents):
                found.append(path)
        deep = len(here.relative_to(root).parts) >= _DEPTH and folders and not inside
        if (deep or seen > _ENTRIES) and not found:
            why = f"more than {_DEPTH} folders deep" if deep else f"more than {_ENTRIES} entries"
            raise Finding(
                f"the search for copies of the skill {skill} stopped in {here}: {why}; give track.homes=[...]"
            )
        if deep or inside:
            folders.clear()
        if seen > _ENTRIES:
            break
    return found


def _front_matter(skill: str, path: Path) -> bool:
    if path.name.casefold() != "skill.md" or not path.is_file():
        return False
    front = _FRONT.match(_content(_start(path)))
    try:
        given = yaml.safe_load(front[1]) if front else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return front is not None and named(skill, front[1])
    return isinstance(given, dict) and named(skill, str(given.get("name", "")))


def _same(path: Path, contents: Collection[str]) -> bool:
    """Whether a file holds a text of the skill; one of quite another size is read only where it is Markdown."""
    sizes = [len(content.encode()) for content in contents]
    if not sizes or not path.is_file() or path.stat().st_size < min(sizes):
        return False
    if path.suffix.casefold() not in (".md", ".mdc") and path.stat().st_size > 2 * max(sizes):
        return False
    text = _content(_start(path))
    return any(content in text for content in contents)


def _body(text: str) -> str:
    return _FRONT.sub("", _content(text), count=1).strip()


def _content(text: str) -> str:
    """A text with one kind of line end and nothing at its ends, by which copies are known."""
    return "\n".join(line.rstrip() for line in text.removeprefix("\ufeff").splitlines()).strip()


def _settings(skill: str, path: Path) -> bool:
    return path.suffix in (".json", ".toml", ".yaml", ".yml") and path.is_file() and named(skill, _start(path))


def _start(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _names(skill: str, file: CaseFile) -> bool:
    return named(skill, file.path) or (file.encoding == "utf-8" and named(skill, file.content))
