"""Suites of review cases on disk, read strictly: docs/cases-review.md says what a folder holds."""

import base64
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from proceval.errors import InputError
from proceval.schema import CaseFile, Criterion, Json, ReviewCase
from proceval.seeding import digest
from proceval.track.review_rubric import criteria

OWN = Path(__file__).parent / "review_lean"
"""The suite that ships with proceval."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_CASE = {"input", "prompt.md", "rubric.md", "case.yaml", "key.json", "selftest"}
_SUITE = {"suite.yaml", "skill", "skill.md", "cases", "README.md"}


@dataclass(frozen=True)
class Skill:
    """What the treatment arm is given: a name that nothing else bears, and files by path, SKILL.md the first."""

    name: str
    files: dict[str, str]

    @property
    def text(self) -> str:
        """All of it as one text."""
        (_, first), *rest = self.files.items()
        return "\n\n".join([first.strip(), *(f"## {path}\n\n{text.strip()}" for path, text in rest)]) + "\n"


@dataclass(frozen=True)
class Suite:
    """A suite as it was read."""

    name: str
    cases: tuple[ReviewCase, ...]
    folders: dict[str, Path]
    """Case id -> its folder."""
    skill: Skill | None
    samples: dict[str, dict[str, str]]
    """Case id -> the reviews of its selftest/, by `good` and `bad`."""


def load(folder: Path, globs: str | Sequence[str]) -> Suite:
    """The cases whose names match a glob. Raises InputError naming file and line for whatever is not as it must be."""
    if not folder.is_dir():
        raise InputError(f"suite.dir={folder}: no such folder")
    _only(folder, _SUITE)
    if not (folder / "cases").is_dir():
        raise InputError(f"{folder}: holds no folder cases/, with one folder a case")
    names = sorted(entry.name for entry in (folder / "cases").iterdir() if not entry.name.startswith("."))
    if not names:
        raise InputError(f"{folder / 'cases'}: not a single case")
    wanted = [globs] if isinstance(globs, str) else list(globs)
    chosen = [name for name in names if any(fnmatchcase(name, glob) for glob in wanted)]
    if not chosen:
        raise InputError(
            f"cases={','.join(wanted)}: matches none of {', '.join(names[:20])}{' ...' if len(names) > 20 else ''}"
        )
    suite = _settings(folder / "suite.yaml", {"name": str}).get("name", slug(folder.resolve().name))
    _checked_name(suite, folder / "suite.yaml")
    cases = {name: _case(folder / "cases" / name, suite) for name in chosen}
    for name, case in cases.items():
        if case.twin is not None and case.twin not in names:
            raise InputError(f"{folder / 'cases' / name / 'case.yaml'}: twin {case.twin} is no case of this suite")
    return Suite(
        name=suite,
        cases=tuple(cases.values()),
        folders={case.id: folder / "cases" / name for name, case in cases.items()},
        skill=skill_in(folder),
        samples={case.id: _samples(folder / "cases" / name / "selftest") for name, case in cases.items()},
    )


def with_skill(suite: Suite, path: Path) -> Suite:
    """The suite with another skill."""
    return replace(suite, skill=read_skill(path))


def slug(text: str) -> str:
    """The text as a name of this format."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())) or "suite"


def skill_in(folder: Path) -> Skill | None:
    """The suite's own skill, or None. Raises InputError where it has two."""
    found = [folder / name for name in ("skill", "skill.md") if (folder / name).exists()]
    if len(found) > 1:
        raise InputError(f"{folder}: has both skill/ and skill.md; one of them is the skill")
    return read_skill(found[0]) if found else None


def read_skill(path: Path) -> Skill:
    """A skill folder with a SKILL.md, or one file; its front matter names it. Raises InputError without a name."""
    if not path.exists():
        raise InputError(f"{path}: no such skill folder or file")
    if path.is_dir():
        if not (path / "SKILL.md").is_file():
            raise InputError(f"{path}: holds no SKILL.md")
        paths = sorted(_regular(path), key=lambda p: (p.name != "SKILL.md", p.as_posix()))
        files = {p.relative_to(path).as_posix(): _text(p) for p in paths}
    else:
        files = {"SKILL.md": _text(path)}
    front = re.match(r"---\n(.*?\n)---\n", files["SKILL.md"], re.DOTALL)
    name = re.search(r"^name: *([^\s#]+) *$", front[1], re.MULTILINE) if front else None
    if name is None:
        raise InputError(f"{path}: the skill has no name; begin with the lines ---, name: NAME, ---")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name[1]):
        raise InputError(
            f"{path}: name {name[1]}: must be two or more words of a-z and 0-9 with hyphens, so that nobody says it by chance"
        )
    return Skill(name[1], files)


def _case(folder: Path, suite: str) -> ReviewCase:
    if not folder.is_dir():
        raise InputError(f"{folder}: not a case, which is a folder")
    _checked_name(folder.name, folder)
    _only(folder, _CASE)
    prompt = _text(folder / "prompt.md")
    if not prompt.strip():
        raise InputError(f"{folder / 'prompt.md'}: empty; it is what a user asks")
    files = tuple(_file(path, folder / "input") for path in _regular(folder / "input"))
    if not files:
        raise InputError(f"{folder / 'input'}: not a single file to review")
    rubric: tuple[Criterion, ...] = criteria(_text(folder / "rubric.md"), folder / "rubric.md")
    settings = _settings(folder / "case.yaml", {"difficulty": str, "twin": str})
    key = _key(folder / "key.json")
    content = [folder.name, [f.model_dump() for f in files], prompt, [c.model_dump() for c in rubric], key]
    return ReviewCase(
        id=digest(content)[:20],
        family=folder.name,
        domain=suite,
        difficulty=settings.get("difficulty", "given"),
        twin=settings.get("twin"),
        prompt=prompt,
        files=files,
        criteria=rubric,
        key=key,
    )


def _file(path: Path, root: Path) -> CaseFile:
    data = path.read_bytes()
    try:
        content, encoding = data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        content, encoding = base64.b64encode(data).decode("ascii"), "base64"
    return CaseFile(
        path=path.relative_to(root).as_posix(),
        executable=bool(path.stat().st_mode & stat.S_IXUSR),
        encoding=encoding,  # type: ignore[arg-type]
        content=content,
    )


def _samples(folder: Path) -> dict[str, str]:
    if not folder.exists():
        return {}
    _only(folder, {"good.md", "bad.md"})
    return {name: _text(folder / f"{name}.md") for name in ("bad", "good") if (folder / f"{name}.md").is_file()}


def _key(path: Path) -> Json:
    if not path.exists():
        return None
    try:
        found = json.loads(_text(path))
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    if not isinstance(found, dict) or not found:
        raise InputError(f"{path}: must be one JSON object, and not an empty one")
    return found


def _settings(path: Path, known: dict[str, type]) -> dict[str, Any]:
    """A small YAML mapping of texts, or nothing where there is no file."""
    if not path.exists():
        return {}
    try:
        found = yaml.load(_text(path), Loader=yaml.BaseLoader)  # every scalar is the text that stands there
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: must hold keys and values; known keys: {', '.join(known)}")
    for key, value in found.items():
        if key not in known:
            raise InputError(f"{path}: unknown key '{key}'; known keys: {', '.join(known)}")
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{path}: {key} must be a text")
    return found


def _only(folder: Path, known: set[str]) -> None:
    for entry in sorted(folder.iterdir()):
        if entry.name not in known and entry.name != ".DS_Store":
            raise InputError(f"{entry}: no part of this format; here may be {', '.join(sorted(known))}")


def _regular(root: Path) -> Iterator[Path]:
    """All files below a folder, sorted; nothing where there is no folder. Raises InputError for links and pipes."""
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(folders + names):
            path = Path(folder) / name
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                yield path
            elif not stat.S_ISDIR(mode):
                raise InputError(f"{path}: neither a file nor a folder")


def _text(path: Path) -> str:
    if not path.is_file():
        raise InputError(f"{path}: missing")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error.reason} at byte {error.start})") from error


def _checked_name(name: str, where: Path) -> None:
    if not _NAME.match(name):
        raise InputError(f"{where}: the name {name} must be lower-case letters, digits and single hyphens")
