"""Single records out of large JSONL files: the file is mapped and searched, so memory does not grow with it."""

import json
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from proceval.errors import InputError
from proceval.schema import Record, Response

R = TypeVar("R", bound=Record)


def containing(path: Path, word: str) -> Iterator[bytes]:
    """The whole lines that hold `"word"` with its quotes, in file order; none where there is no file.

    A last line without its line end is being written and is left out.
    """
    if not path.is_file() or not path.stat().st_size:
        return
    needle = json.dumps(word).encode()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        at = whole.find(needle)
        while at >= 0:
            end = whole.find(b"\n", at)
            if end < 0:
                return
            yield whole[whole.rfind(b"\n", 0, at) + 1 : end]
            at = whole.find(needle, end)


def records(path: Path, kind: type[R], word: str) -> Iterator[R]:
    """The records on those lines. Raises InputError naming file and field for a line that is none."""
    for line in containing(path, word):
        try:
            yield kind.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(
                f"{path}, the line about {word}{', field ' + where if where else ''}: {first['msg']}"
            ) from error


def document(path: Path) -> Any:
    """The content of a small JSON file, or None where there is none. Raises InputError for a file that is not JSON."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from error


def answers(path: Path) -> int:
    """How many answers lie in a records.jsonl, 0 where there is none. Raises InputError where the first is no answer."""
    count = whole_lines(path)
    if not count:
        return 0
    with path.open("rb") as file:
        line = file.readline()
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not the JSON Lines that proceval writes (line 1: {error})") from error
    known = found if isinstance(found, dict) else {}
    missing = [name for name, field in Response.model_fields.items() if field.is_required() and name not in known]
    if missing:
        raise InputError(f"{path}: its first record has no {missing[0]!r}; these are not records of proceval")
    return count


def whole_lines(path: Path) -> int:
    """How many finished lines a file has; 0 where there is no file."""
    if not path.is_file():
        return 0
    count = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            count += block.count(b"\n")
    return count
