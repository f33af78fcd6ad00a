"""Whether a skill can reach an arm that must not have it: files under review, a user's home, plug-ins, transcripts."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from proceval.schema import CaseFile, ReviewCase

_DEPTH = 6
_ENTRIES = 20_000
"""Bounds of one search: a home folder may be a whole disk."""


def named(skill: str, text: str) -> bool:
    """Whether a text says the skill's name, in any case of letters, with hyphens, spaces or underscores in it."""
    words = map(re.escape, skill.split("-"))
    return re.search(r"(?<![a-z0-9])" + r"[-_ ]+".join(words) + r"(?![a-z0-9])", text, re.IGNORECASE) is not None


def in_cases(skill: str, cases: Iterable[ReviewCase]) -> list[str]:
    """One sentence for each prompt or file under review that names the skill."""
    found = []
    for case in cases:
        if named(skill, case.prompt):
            found.append(f"case {case.family}: prompt.md names the skill {skill}")
        found += [f"case {case.family}: input/{f.path} names the skill {skill}" for f in case.files if _names(skill, f)]
    return found


def in_homes(skill: str, homes: Sequence[str]) -> list[str]:
    """One sentence for each copy of the skill in folders where a reviewer's own tool looks for skills or plug-ins.

    A copy is a file or folder of that name, a SKILL.md whose front matter gives it, or a JSON, TOML or YAML file of
    settings that names it, which a home may be itself. `~` and `$VARIABLES` in `homes` are replaced; what is not there
    is passed over.
    """
    found = []
    for home in homes:
        root = Path(os.path.expandvars(os.path.expanduser(home)))
        if "$" in str(root):
            continue
        copies = [root] if _settings(skill, root) else _copies(skill, root)
        found += [f"{path} is a copy of the skill {skill}, or enables one" for path in copies]
    return found


def _copies(skill: str, root: Path) -> list[Path]:
    found: list[Path] = []
    seen = 0
    for folder, folders, files in os.walk(root, followlinks=True):
        here = Path(folder)
        if len(here.relative_to(root).parts) >= _DEPTH:
            folders.clear()
        inside = any(here.is_relative_to(known) for known in found)
        for name in () if inside else sorted(folders + files):
            seen += 1
            if named(skill, name) or _front_matter(skill, here / name) or _settings(skill, here / name):
                found.append(here / name)
        if seen > _ENTRIES:
            break
    return found


def _front_matter(skill: str, path: Path) -> bool:
    if path.name.lower() != "skill.md" or not path.is_file():
        return False
    head = _start(path).split("\n---", 1)[0]
    return re.search(rf"^name: *[\"']?{re.escape(skill)}[\"']? *$", head, re.MULTILINE) is not None


def _settings(skill: str, path: Path) -> bool:
    return path.suffix in (".json", ".toml", ".yaml", ".yml") and path.is_file() and named(skill, _start(path))


def _start(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return ""


def _names(skill: str, file: CaseFile) -> bool:
    return named(skill, file.path) or (file.encoding == "utf-8" and named(skill, file.content))
