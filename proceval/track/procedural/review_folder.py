"""Writes procedural review cases as a suite folder: what docs/cases-review.md describes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from proceval.folder import write_atomically
from proceval.schema import Json
from proceval.track.procedural.refactor import Change
from proceval.track.procedural.review import Made


def write_suite(folder: Path, cases: Iterable[Made], name: str) -> None:
    """All cases below `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "suite.yaml", f"name: {name}\n")
    for case in cases:
        home = folder / "cases" / case.name
        for below in ("input", "selftest"):
            (home / below).mkdir(parents=True, exist_ok=True)
        write_atomically(home / "input" / case.key.file, case.text)
        write_atomically(home / "prompt.md", case.prompt)
        write_atomically(home / "rubric.md", rubric(case))
        write_atomically(home / "key.json", json.dumps(case.key.model_dump(mode="json"), indent=1) + "\n")
        twin = f"twin: {case.twin}\n" if case.twin else ""
        write_atomically(home / "case.yaml", f"difficulty: {case.difficulty}\n{twin}")
        good, bad = samples(case)
        write_atomically(home / "selftest" / "good.md", good)
        write_atomically(home / "selftest" / "bad.md", bad)


def rubric(case: Made) -> str:
    """The same truth for a judge who reads: what must be flagged, and what must be left alone."""
    parts = [f"# {case.key.entry_point}: {case.key.truth}\n"]
    change = case.change
    if change is not None and case.key.witness is not None:
        shown = json.dumps(case.key.witness["input"])
        parts.append(
            "## must-flag\n\n### bug\n\n"
            f"Of `{case.key.file}` the review names {_place(change)}, or says unmistakably {_meant(change)}; it says why "
            f"the function then goes wrong for inputs within the contract, such as {shown}; and it proposes a fix with the "
            f"effect of {_fix(change)}.\n\n"
            f"Signs: {_sign(change.come or change.gone)}, `the bug is`\n"
        )
    parts.append("## must-not-flag\n")
    if case.key.witness is None:
        parts.append(
            "### no-invented-bug\n\nThe review does not assert that the function returns a wrong value, raises or never ends for "
            "an input within the contract: it is right for all of them.\n\nSigns: `the bug is`\n"
        )
    if case.key.proof is not None:
        held, signs = _edit(case.key.proof)
        parts.append(
            f"### equivalent-edit\n\nThe review does not assert that {held} makes the function go wrong. It is proved "
            f"harmless: {case.key.proof['lemma']}\n\nSigns: {_sign(signs)}, `is a mistake`\n"
        )
    if case.key.witness is not None or case.key.proof is None:
        parts.append(
            "### no-taste\n\nThe review does not call names, helper functions, the form of loops or the order of independent "
            "statements a fault that must be changed.\n\nSigns: `style`, `must be changed`\n"
        )
    if case.key.witness is None:
        parts.append(
            "## engagement\n\n### traces-the-code\n\nThe review says of at least one statement of the file, by its line, its "
            f"code or its variables, what it does or why it is right.\n\nSigns: `{_first_line(case)}`\n"
        )
    return "\n".join(parts)


def samples(case: Made) -> tuple[str, str]:
    """A review that meets every criterion, and one that meets none."""
    invented = f"The bug is somewhere in `{case.key.entry_point}`, I suppose.\n\nThe style must be changed.\n"
    if case.key.proof is not None:
        held, _ = _edit(case.key.proof)
        invented += f"\n{held[0].upper()}{held[1:]} is a mistake.\n"
    bad = dict.fromkeys(("line", "input", "expected", "actual"), 0)
    if case.change is None:
        good = f"I went through it: `{_first_line(case)}` is as it should be, and so is the rest.\n\nnull\n"
        return good, f"{invented}\n{json.dumps({**bad, 'input': {}})}\n"
    good = (
        f"The bug is at {_place(case.change)}: for the input below the function goes wrong. "
        f"A fix has the effect of {_fix(case.change)}.\n\n```json\n{json.dumps(case.key.witness)}\n```\n"
    )
    return good, f"{invented.replace('The bug is', 'There is no bug')}\nnull\n"


def _first_line(case: Made) -> str:
    """A line of the function's body that says something, as a reviewer might quote it."""
    lines = [line.strip() for line in case.text.splitlines()]
    return next(line for line in reversed(lines) if line and "`" not in line)


def _place(change: Change) -> str:
    """Where the change is, and what is wrong there."""
    if not change.come:
        return f"the place {_where(change)}, where {_code(change.gone)} is missing"
    return f"{_where(change)}, which holds {_code(change.come)}" + ("" if change.gone else " and must not be there")


def _fix(change: Change) -> str:
    """What undoes the change."""
    if not change.come:
        depth = len(change.gone[0]) - len(change.gone[0].lstrip())
        return f"restoring {_code(change.gone)} {_where(change)}, indented by {depth} spaces"
    if not change.gone:
        return f"removing {_code(change.come)} from {_where(change)}"
    return f"{_code(change.gone)} in {_where(change)}"


def _meant(change: Change) -> str:
    return "which statement it means" if change.come else "what is missing"


def _where(change: Change) -> str:
    """`line 3`, `lines 3 to 4`, or for what is gone `between lines 3 and 4`, `behind line 4` at the end."""
    first, last = change.lines[0], change.lines[-1]
    if not change.come:
        return f"between lines {first} and {last}" if first != last else f"behind line {first}"
    return f"lines {first} to {last}" if first != last else f"line {first}"


def _edit(proof: Mapping[str, Json]) -> tuple[str, list[str]]:
    """A harmless edit in words, and its lines: those that stand in the file, and those that it left out."""
    lines, missing = ([str(line) for line in proof[name]] for name in ("lines", "missing"))
    parts = [_code(lines)] * bool(lines) + [f"the lack of {_code(missing)}"] * bool(missing)
    return " and ".join(parts), lines + missing


def _code(lines: Sequence[str]) -> str:
    return ", then ".join(f"`{line.strip()}`" for line in lines)


def _sign(lines: Sequence[str]) -> str:
    return ", ".join(f"`{line.strip()}`" for line in lines)
