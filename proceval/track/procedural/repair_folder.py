"""Writes procedural repair cases as a suite folder: what docs/cases-agent.md describes."""

import json
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any

import yaml

from proceval.folder import write_atomically
from proceval.track.procedural.repair import Made
from proceval.track.procedural.slow import BOUND_S

_HERE = Path(__file__).parent
_TURNS = {name: Template((_HERE / f"{name}.md").read_text(encoding="utf-8")) for name in ("repair", "slow")}
PUBLIC = "python3 -P -m unittest discover -q -s tests -t ."
PROTECT = ["tests", "README.md", "*.py", "**/conftest.py", "**/sitecustomize.py", "**/usercustomize.py"]
"""What the checks read and the repair has no business in; modules of the package are the agent's."""


def write_suite(folder: Path, cases: Iterable[Made]) -> None:
    """All cases below `folder`."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        for path, text in case.fixture.items():
            _write(folder / "fixtures" / _name(case) / path, text)
        lines = [
            json.dumps({"arguments": arguments, "expected": expected}) + "\n" for arguments, expected in case.calls
        ]
        _write(folder / "hidden" / f"{_name(case)}.jsonl", "".join(lines))
        if case.probe is not None:
            _write(folder / "hidden" / _name(case) / "probe.py", case.probe[0])
            _write(folder / "expected" / f"{_name(case)}.txt", case.probe[1] + "\n")
        _write(folder / "scripted" / case.kind.group / case.id / "gold.sh", _gold(case))
        groups.setdefault(case.kind.group, []).append(entry(case))
    for group, entries in groups.items():
        text = yaml.dump(entries, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=110)
        _write(folder / "cases" / f"{group}.yml", text)


class _Plain(yaml.SafeDumper):  # type: ignore[misc]
    """Texts of several lines as they are, and no references between cases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Plain.add_representer(str, _text)


def entry(case: Made) -> dict[str, Any]:
    """The case as its YAML file says it."""
    layout = case.layout
    expect: dict[str, Any] = {
        "calls": {"function": f"{layout.name}.{layout.function}.{layout.function}", "tests": _name(case)}
    }
    found: dict[str, Any] = {"id": case.id, "fixture": _name(case), "difficulty": case.kind.difficulty}
    turn = _TURNS[case.kind.group].substitute(function=layout.function, bound_s=BOUND_S)
    found |= {"turns": [turn], "expect": expect, "protect": PROTECT}
    if case.probe is None:
        expect["verify"] = PUBLIC
    else:
        # The bound is the system's: a process that goes over it is killed, and prints nothing.
        expect["prints"] = {"run": f"ulimit -t {BOUND_S}; python3 -P probe.py || exit 1", "is": _name(case)}
        found["hidden"] = _name(case)
    return found


def _name(case: Made) -> str:
    return f"{case.kind.group}-{case.id}"


def _gold(case: Made) -> str:
    """A right run: writes the files as they should be."""
    parts = [f"cat > {path} <<'END_OF_FILE'\n{text}END_OF_FILE\n" for path, text in case.gold.items()]
    return "".join(parts) + f"echo 'Repaired: {case.layout.function} was wrong.'\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
