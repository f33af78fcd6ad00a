"""Suites of agent cases on disk, read strictly: docs/cases-agent.md says what a folder holds."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from proceval.errors import InputError
from proceval.schema import AgentCase, AgentCheck, Criterion, WeightedCriterion
from proceval.scorer.ruby import Untranslatable, matches_nothing, translate
from proceval.seeding import digest
from proceval.track.agent_beside import read_calls, read_expected, read_scripts
from proceval.track.strict_yaml import Node, read
from sandbox import beneath, fixture

OWN = Path(__file__).parent / "agent_cases" / "cases"
"""The suite that ships with proceval."""

MAX_TURNS = 30
"""Model requests of a case that says nothing else."""

_CASE = ("id", "fixture", "setup", "turns", "expect", "timeout_s", "protect", "hidden", "difficulty", "network")
_CHECKS = (
    "verify",
    "files",
    "response_contains",
    "response_not_contains",
    "response_matches",
    "calls",
    "prints",
)
_EXPECT = (*_CHECKS, "checks", "rubric", "max_turns")
_TO_EXPECT = dict.fromkeys(_EXPECT, "under expect")
_TO_CASE = dict.fromkeys(_CASE, "beside expect")
_TO_FILE = {name: "under a file's name" for name in ("contains", "not_contains")}


@dataclass(frozen=True)
class Suite:
    """A suite as it was read: the cases that were chosen, and where their folders lie."""

    cases: tuple[AgentCase, ...]
    fixtures: Path
    hidden: Path
    warnings: tuple[str, ...]

    def fixture(self, case: AgentCase) -> Path:
        return self.fixtures / case.fixture

    @property
    def secret(self) -> tuple[Path, ...]:
        """Folders that hold keys; the fixtures are none, and what lies beside these is not ours to hide."""
        return tuple(self.hidden.parent / name for name in ("hidden", "expected", "scripted", "cases"))

    def hidden_files(self, case: AgentCase) -> dict[str, bytes]:
        """Content by path of what is laid over the workspace before the checks."""
        if case.hidden is None:
            return {}
        root = str(self.hidden / case.hidden)
        found = fixture.survey(root)
        return {path: beneath.read(root, path, 1 << 24) for path, entry in found.items() if entry.kind == "file"}


def load(cases_dir: Path, fixtures_dir: Path | None, globs: str | list[str]) -> Suite:
    """The cases whose `group/id` matches a glob. Raises InputError naming file and line for whatever is wrong."""
    if not cases_dir.is_dir():
        raise InputError(f"track.cases_dir={cases_dir}: no such folder")
    fixtures = cases_dir.parent / "fixtures" if fixtures_dir is None else fixtures_dir
    if not fixtures.is_dir():
        if fixtures_dir is None and (cases_dir / "cases").is_dir():
            raise InputError(
                f"track.cases_dir={cases_dir} is a suite; give its cases, track.cases_dir={cases_dir / 'cases'}"
            )
        raise InputError(f"track.fixtures_dir={fixtures}: no such folder")
    files = sorted([*cases_dir.glob("*.yml"), *cases_dir.glob("*.yaml")])
    if not files:
        raise InputError(f"{cases_dir}: not a single case file, GROUP.yml")
    groups: dict[str, Path] = {}
    reader = _Reader(cases_dir.parent, fixtures)
    for file in files:
        if file.stem in groups:
            raise InputError(f"{file}: there is also {groups[file.stem].name}; a group is one file")
        groups[file.stem] = file
        reader.group(file)
    wanted = [globs] if isinstance(globs, str) else globs
    chosen = tuple(case for case in reader.cases if any(fnmatchcase(case.family, glob) for glob in wanted))
    if not chosen:
        names = ", ".join(case.family for case in reader.cases[:20]) + (" ..." if len(reader.cases) > 20 else "")
        raise InputError(f"cases={','.join(wanted)}: matches none of {names}")
    kept = {case.family for case in chosen}
    return Suite(chosen, fixtures, cases_dir.parent / "hidden", tuple(w for name, w in reader.warnings if name in kept))


class _Reader:
    def __init__(self, home: Path, fixtures: Path):
        self.home, self.fixtures = home, fixtures
        self.cases: list[AgentCase] = []
        self.warnings: list[tuple[str, str]] = []
        """`group/id` and the sentence."""
        self._digests: dict[Path, str] = {}

    def group(self, file: Path) -> None:
        lines: dict[str, int] = {}
        for number, node in enumerate(read(file, "case").entries(), 1):
            given = Node(file, node.raw, f"case {number}").table(_CASE, _TO_EXPECT)
            for name in ("id", "fixture", "turns"):
                if name not in given:
                    node.refuse(f"case {number} has no {name}")
            case = self._case(file.stem, given)
            name = case.family.partition("/")[2]
            if name in lines:
                given["id"].refuse(f"the id {name} stands here twice, first in line {lines[name]}")
            lines[name] = given["id"].line
            self.cases.append(case)

    def _case(self, group: str, given: dict[str, Node]) -> AgentCase:
        name = given["id"].text()
        if "/" in name or name.startswith(".") or name != name.strip() or not name.isprintable() or len(name) > 100:
            given["id"].refuse(f"the id {name!r} is no name: no slash, no point in front, at most 100 characters")
        if "network" in given and given["network"].truth():
            given["network"].refuse("network: true is not offered; a workspace has no network")
        family = f"{group}/{name}"
        expect = given["expect"].table(_EXPECT, _TO_CASE | _TO_FILE) if "expect" in given else {}
        checks = list(self._checks(family, expect, weight=1.0))
        checks += self._weighted(family, expect["checks"]) if "checks" in expect else []
        rubric = _rubric(expect["rubric"]) if "rubric" in expect else []
        if not checks and not rubric:
            self.warnings.append((family, f"{family} is unchecked: it passes whatever the agent does"))
        _distinct(given, [check.id for check in checks] + [one.criterion.id for one in rubric])
        hidden = _plain(given["hidden"]) if "hidden" in given else None
        content: dict[str, Any] = {
            "family": family,
            "domain": group,
            "fixture": _plain(given["fixture"]),
            "fixture_sha256": self._folder(given["fixture"], self.fixtures),
            "setup": given["setup"].texts() if "setup" in given else [],
            "turns": given["turns"].texts(),
            "checks": [_dumped(check) for check in checks],
            "rubric": [one.model_dump() for one in rubric],
            "max_turns": expect["max_turns"].whole(1, 10_000) if "max_turns" in expect else MAX_TURNS,
            "timeout_s": given["timeout_s"].positive() if "timeout_s" in given else None,
            "protect": _patterns(given["protect"]) if "protect" in given else [],
            "hidden": hidden,
            "hidden_sha256": self._folder(given["hidden"], self.home / "hidden") if "hidden" in given else None,
            "scripted": read_scripts(self.home / "scripted" / group / name),
        }
        return AgentCase(
            id=digest(content)[:20],
            difficulty=given["difficulty"].text() if "difficulty" in given else "given",
            **content,
        )

    def _folder(self, node: Node, root: Path) -> str:
        """Digest of a folder's content. Raises InputError where it does not exist or holds what cannot be copied."""
        folder = root / _plain(node)
        if not folder.is_dir():
            node.refuse(f"{node.name} {_plain(node)}: no such folder in {root}")
        if folder not in self._digests:
            found = fixture.survey(str(folder))
            for path, entry in found.items():
                inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), entry.target))
                if entry.kind == "other" or entry.target.startswith("/") or inside.split("/")[0] == "..":
                    node.refuse(
                        f"{node.name} {_plain(node)}: {path} is a device, or a link that leads out of the folder"
                    )
            listed = [[path, e.kind, e.executable, e.target, e.digest] for path, e in found.items()]
            self._digests[folder] = digest(listed)
        return self._digests[folder]

    # -------------------------------------------------------------------------------------- checks

    def _checks(self, family: str, given: dict[str, Node], weight: float) -> Iterator[AgentCheck]:
        """One check for every command, text, pattern and function."""
        for name in _CHECKS:
            if name not in given:
                continue
            node = given[name]
            if name == "verify":
                yield AgentCheck(id="verify", kind="verify", weight=weight, text=node.text())
            elif name == "files":
                yield from self._files(node, weight)
            elif name == "calls":
                yield self._calls(node, weight)
            elif name == "prints":
                yield from self._prints(node, weight)
            else:
                for entry in node.entries():
                    if name == "response_matches":
                        self._pattern(family, entry)
                    yield AgentCheck(id=entry.name.replace(" ", "-"), kind=name, weight=weight, text=entry.text())  # type: ignore[arg-type]

    def _files(self, node: Node, weight: float) -> Iterator[AgentCheck]:
        for path, wanted in node.table(None).items():
            plain = posixpath.normpath(path)
            if plain.startswith(("/", "..")) or plain == ".":
                wanted.refuse(f"files: {path} is no path inside the workspace")
            for kind, entries in wanted.table(("contains", "not_contains")).items():
                for entry in entries.entries():
                    identity = f"{plain}-{entry.name.replace(' ', '-')}"
                    yield AgentCheck(id=identity, kind=kind, weight=weight, text=entry.text(), path=plain)  # type: ignore[arg-type]

    def _calls(self, node: Node, weight: float) -> AgentCheck:
        given = node.table(("function", "tests"))
        for name in ("function", "tests"):
            if name not in given:
                node.refuse(f"calls has no {name}")
        function = given["function"].text()
        parts = function.split(".")
        if len(parts) < 2 or not all(part.isidentifier() for part in parts):
            given["function"].refuse(f"function {function}: write package.module.name")
        file = self.home / "hidden" / f"{_plain(given['tests'])}.jsonl"
        return AgentCheck(
            id="calls", kind="calls", weight=weight, text=function, calls=read_calls(file, given["tests"])
        )

    def _prints(self, node: Node, weight: float) -> Iterator[AgentCheck]:
        """One check for a mapping, one for each of a list of them."""
        for one in node.entries() if node.is_list else [node]:
            given = one.table(("run", "is"))
            for name in ("run", "is"):
                if name not in given:
                    one.refuse(f"{one.name} has no {name}")
            file = self.home / "expected" / f"{_plain(given['is'])}.txt"
            yield AgentCheck(
                id=one.name.replace(" ", "-"),
                kind="prints",
                weight=weight,
                text=given["run"].text(),
                expected=read_expected(file, given["is"]),
            )

    def _weighted(self, family: str, node: Node) -> Iterator[AgentCheck]:
        for entry in node.entries():
            given = entry.table((*_CHECKS, "id", "weight"), _TO_CASE | _TO_FILE)
            kinds = [name for name in given if name in _CHECKS]
            if len(kinds) != 1:
                entry.refuse(f"{entry.name} must have exactly one of {', '.join(_CHECKS)}")
            weight = given["weight"].positive() if "weight" in given else 1.0
            made = list(self._checks(family, {kinds[0]: given[kinds[0]]}, weight))
            name = given["id"].text() if "id" in given else entry.name.replace(" ", "-")
            for number, check in enumerate(made, 1):
                identity = name if len(made) == 1 else f"{name}-{number}"
                yield check.model_copy(update={"id": identity, "weight": weight / len(made)})

    def _pattern(self, family: str, node: Node) -> None:
        try:
            translated = translate(node.text())
        except Untranslatable as error:
            node.refuse(f"{node.name} {node.text()!r}: no regular expression that can be used: {error}")
        if matches_nothing(translated):
            where = f"{node.file}, line {node.line}"
            self.warnings.append((family, f"{where}: {node.name} {node.text()!r} matches an empty reply"))


def _dumped(check: AgentCheck) -> dict[str, Any]:
    """All of a check that is given: cases that say nothing of a key keep the id that they had before there was one."""
    return check.model_dump(exclude={"expected"} if check.expected is None else None)


def _rubric(node: Node) -> list[WeightedCriterion]:
    found = []
    for entry in node.entries():
        name, weight = entry.name.replace(" ", "-"), 1.0
        if isinstance(entry.raw.value, str):
            text = entry.text()
        else:
            given = entry.table(("id", "text", "weight"))
            if "text" not in given:
                entry.refuse(f"{entry.name} has no text")
            text = given["text"].text()
            name = given["id"].text() if "id" in given else name
            weight = given["weight"].positive() if "weight" in given else weight
        found.append(WeightedCriterion(criterion=Criterion(id=name, kind="rubric", text=text), weight=weight))
    return found


def _distinct(given: dict[str, Node], names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        given["expect"].refuse(f"two checks are called {twice}")


def _patterns(node: Node) -> list[str]:
    for entry in node.entries():
        try:
            fixture.covered("x", [entry.text()])
        except ValueError as error:
            entry.refuse(f"protect: {error}")
    return node.texts()


def _plain(node: Node) -> str:
    """A plain relative path, such as a fixture's name."""
    text = node.text()
    try:
        beneath.split(text)
    except ValueError:
        node.refuse(f"{node.name} {text} is no plain name of a folder or file")
    return text
