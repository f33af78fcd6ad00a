"""What the Review and Agent pages show: the files that a sample of a case leaves beside the records of its run."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from proceval.console import lines
from proceval.console.places import Place
from proceval.errors import InputError
from proceval.report.run import Run
from proceval.schema import Verdict

Track = Literal["review", "agent"]

SHEETS: dict[Track, str] = {"review": "grades.json", "agent": "checks.json"}
"""The judged sheet of a sample, by which its folder is known."""
MARKS = ("verdicts.jsonl", "records.jsonl", "cases.jsonl")
"""Files that change when samples come."""
MOST = 5_000
"""Samples that are listed."""
DEEP = 6

Plain = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One sample of one case as it lies on the disk."""

    folder: Path
    home: Path
    """The run folder that holds it."""
    arm: str
    name: str
    sample: int
    outcome: str
    fault: str
    score: float | None
    detail: str
    sheet: Plain

    @property
    def key(self) -> str:
        return self.folder.as_posix()


def cases(place: Place, track: Track) -> list[Case]:
    """Every judged sample of a place, by arm, case and sample. Raises InputError for a sheet that is broken.

    A sample that broke before its sheet could be written is there as well, with what its verdict says.
    """
    found: dict[tuple[Path, str, str, int], Case] = {}
    for home in place.folders:
        for path in _sheets(home, SHEETS[track]):
            case = _case(_inside(path, home), home)
            found[home, case.arm, case.name, case.sample] = case
            if len(found) == MOST:
                break
        for verdict in _verdicts(home, track):
            if len(found) < MOST:
                key = (home, verdict.arm, verdict.family, verdict.sample)
                found.setdefault(key, _without_sheet(verdict, home, track))
    return sorted(found.values(), key=lambda case: (case.arm, case.name, case.sample))


def _verdicts(home: Path, track: Track) -> Iterator[Verdict]:
    """The verdicts of a track; none where the run asked problems and not cases."""
    if (home / "cases.jsonl").is_file():
        yield from (verdict for verdict in Run(home).each("verdicts.jsonl", Verdict) if verdict.mode == track)


def _without_sheet(verdict: Verdict, home: Path, track: Track) -> Case:
    folder = home / verdict.arm / verdict.family
    if verdict.sample:
        number = verdict.sample
        folder = folder / f"sample-{number + 1}" if track == "review" else folder.with_name(f"{folder.name}.{number}")
    return Case(
        folder=_inside(folder, home), home=home, arm=verdict.arm, name=verdict.family, sample=verdict.sample,
        outcome=verdict.outcome, fault=verdict.fault, score=None, detail=verdict.detail, sheet={},
    )  # fmt: skip


def _sheets(home: Path, name: str) -> Iterator[Path]:
    """Sheets below the arms of a run: RUN/ARM/CASE.../NAME."""
    waiting = [(child, 1) for child in _below(home)]
    while waiting:
        folder, depth = waiting.pop(0)
        if (folder / name).is_file():
            yield folder / name
        if depth < DEEP:
            waiting += [(child, depth + 1) for child in _below(folder)]


def _below(folder: Path) -> list[Path]:
    skipped = {"certificates", "figures", "wandb", "data"}
    return sorted(
        child
        for child in folder.iterdir()
        if child.is_dir() and not child.is_symlink() and child.name not in skipped and not child.name.startswith(".")
    )


def _inside(path: Path, home: Path) -> Path:
    """The path of a sample's own file or folder. Raises InputError where it leads out of the run, or is or crosses a link."""
    real = home.resolve()
    wanted = real / path.relative_to(home) if path.is_relative_to(home) else path
    if wanted == real or path.resolve() != wanted or not wanted.is_relative_to(real):
        raise InputError(f"{path}: is a link or leads out of the run {home}; it is not read")
    return path


def _case(path: Path, home: Path) -> Case:
    found = lines.document(path)
    try:
        name, outcome, fault = found["case"], found["outcome"], found["fault"]
        arm = found.get("arm", path.relative_to(home).parts[0])
        number = found.get("sample", _number(path.parent.name, name))
        score = found.get("score")
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path}: not the sheet of a judged sample ({error!r})") from error
    return Case(
        folder=path.parent, home=home, arm=str(arm), name=str(name), sample=int(number), outcome=str(outcome),
        fault=str(fault), score=float(score) if isinstance(score, int | float) else None,
        detail=str(found.get("detail", "")), sheet=found,
    )  # fmt: skip


def _number(folder: str, case: str) -> int:
    """A further sample of an agent's case lies in a folder with its number behind the case's name."""
    rest = folder.removeprefix(str(case).rpartition("/")[2]).removeprefix(".")
    return int(rest) if rest.isdigit() else 0


def text(case: Case, name: str) -> str | None:
    """The content of one of a sample's files, or None where there is none. Raises InputError for a link."""
    try:
        return _inside(case.folder / name, case.home).read_text(encoding="utf-8", errors="backslashreplace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{case.folder / name}: cannot be read ({error.strerror})") from error


def task(case: Case) -> Plain | None:
    """The case as it was asked, from cases.jsonl, or None where the run does not hold it."""
    for line in lines.containing(case.home / "cases.jsonl", case.name):
        try:
            found = json.loads(line)
        except ValueError as error:
            raise InputError(f"{case.home / 'cases.jsonl'}, the line about {case.name}: not JSON ({error})") from error
        if isinstance(found, dict) and found.get("family") == case.name:
            return found
    return None


def rows(case: Case, name: str) -> list[Plain]:
    """The grades or checks of a sheet, as rows of a table."""
    found = case.sheet.get(name)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        return []
    return [{key: _cell(value) for key, value in one.items()} for one in found]


def _cell(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) or value is None else json.dumps(value)


def votes(case: Case) -> list[Plain]:
    """One row a judge and criterion: what it gave, and the passage that it rests on."""
    found = []
    for judge in case.sheet.get("judges") or ():
        for vote in judge.get("votes") or () if isinstance(judge, dict) else ():
            if isinstance(vote, dict):
                found.append({"judge": judge.get("judge"), **{key: _cell(value) for key, value in vote.items()}})
    return found


@dataclass(frozen=True)
class Turn:
    """One message of an agent's transcript."""

    role: str
    content: str
    calls: tuple[tuple[str, str], ...]
    """(tool, arguments as text) of the calls that the message asks for."""
    facts: str
    """What else the line says: tokens, cost, latency."""


def transcript(case: Case) -> list[Turn]:
    """The messages of transcript.jsonl. Raises InputError naming the line that is none."""
    found = []
    for number, line in enumerate((text(case, "transcript.jsonl") or "").splitlines(), 1):
        try:
            message = json.loads(line)
            calls = tuple((str(c["name"]), _readable(c["arguments"])) for c in message.get("tool_calls") or ())
            known = {"role", "content", "tool_calls", "tool_call_id"}
            rest = ", ".join(
                f"{key} {value}" for key, value in message.items() if key not in known and value is not None
            )
            found.append(Turn(str(message["role"]), str(message.get("content") or ""), calls, rest))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{case.folder / 'transcript.jsonl'}, line {number}: no message ({error!r})") from error
    return found


def _readable(arguments: Any) -> str:
    """A tool's arguments with the line ends of their texts, where they are JSON of texts."""
    try:
        found = json.loads(arguments)
    except (ValueError, TypeError):
        return str(arguments)
    if not isinstance(found, dict):
        return str(arguments)
    return "\n".join(f"{key}: {value if isinstance(value, str) else json.dumps(value)}" for key, value in found.items())
