"""The run folder that comes nearest to one that is not there, and the words in which the two differ."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from proceval.words import shown

LOOKED_AT = 200
"""Run folders whose configuration is read, the latest first."""
TOLD = 4
"""Differences that are named; beyond that two runs have little in common."""

Plain = dict[str, Any]


def sentence(outputs: Path, wanted: Plain, keys: Iterable[str], holds: str, looked_for: Path) -> str:
    """What stands nearest to a run that holds no such file: `; the nearest is ...`, or nothing where there is none."""
    best: tuple[int, Path, list[str]] | None = None
    folders = [path.parent for path in outputs.glob("*/config.yaml")] if outputs.is_dir() else []
    for folder in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True)[:LOOKED_AT]:
        if not filled(folder / holds) or folder.resolve() == looked_for.resolve():
            continue
        found = list(differences(wanted, _settings(folder), keys))
        if best is None or len(found) < best[0]:
            best = len(found), folder, found
    if best is None:
        return ""
    _, folder, found = best
    more = f" and {len(found) - TOLD} more" if len(found) > TOLD else ""
    how = (
        f"made with {', '.join(found[:TOLD])}{more}" if found else "made by another version of proceval or its solvers"
    )
    return f"; the nearest is {shown(folder)}, {how}"


def filled(path: Path) -> bool:
    """Whether there is such a file with something in it."""
    return path.is_file() and path.stat().st_size > 0


def differences(wanted: Plain, found: Plain, keys: Iterable[str]) -> Iterator[str]:
    """`seed=2 instead of seed=1`, one for each key in which two configurations differ, as one would write it."""
    for key in keys:
        yield from _between(key, wanted.get(key), found.get(key))


def _between(key: str, wanted: Any, found: Any) -> Iterator[str]:
    if wanted == found:
        return
    left, right = _word(key, wanted), _word(key, found)
    if left != right or not (isinstance(wanted, dict) and isinstance(found, dict)):
        yield f"{key}={right} instead of {key}={left}"
        return
    for name in dict.fromkeys([*wanted, *found]):
        if name == "difficulty":
            continue  # which a domain's families repeat
        yield from _between(f"{key}.{name}", wanted.get(name), found.get(name))


def _word(key: str, value: Any) -> str:
    """A value as it is written on the command line: the option that made a part, the names in a group of several."""
    if isinstance(value, dict):
        if "_target_" in value:
            return str(value.get("id") or value["_target_"].split(".")[-2])
        if key in ("domain", "difficulty"):
            return _listed(sorted(value) if key == "domain" else list(value))
        return "{" + ",".join(f"{name}:{_word(f'{key}.{name}', below)}" for name, below in value.items()) + "}"
    return _listed(value) if isinstance(value, list) else "null" if value is None else str(value)


def _listed(names: Sequence[Any]) -> str:
    return str(names[0]) if len(names) == 1 else f"[{','.join(map(str, names))}]"


def _settings(folder: Path) -> Plain:
    try:
        found = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}
