"""Writes procedural review cases as a suite folder: what docs/cases-review.md describes."""

import json
from collections.abc import Iterable
from pathlib import Path

from proceval.folder import write_atomically
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
    if case.key.witness is not None:
        shown = json.dumps(case.key.witness["input"])
        parts.append(
            "## must-flag\n\n### bug\n\n"
            f"The review names line {_numbers(case.key.lines)} of `{case.key.file}`, which holds {_code(case.remarks)}, or says "
            "unmistakably which statement it means; it says why the function then goes wrong for inputs within the contract, "
            f"such as {shown}; and it proposes a fix with the effect of `{case.right}`.\n\n"
            f"Signs: {_sign(case.remarks)}, `the bug is`\n"
        )
    parts.append("## must-not-flag\n")
    if case.key.witness is None:
        parts.append(
            "### no-invented-bug\n\nThe review does not assert that the function returns a wrong value, raises or never ends for "
            "an input within the contract: it is right for all of them.\n\nSigns: `the bug is`\n"
        )
    if case.key.proof is not None:
        held = [str(line) for line in case.key.proof["lines"]] or [str(case.key.proof["after"])]
        parts.append(
            f"### equivalent-edit\n\nThe review does not assert that {_code(held)} makes the function go wrong. It is proved "
            f"harmless: {case.key.proof['lemma']}\n\nSigns: {_sign(held)}, `is a mistake`\n"
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
        held = [str(line) for line in case.key.proof["lines"]] or [str(case.key.proof["after"])]
        invented += f"\n{_code(held)} is a mistake.\n"
    bad = dict.fromkeys(("line", "input", "expected", "actual"), 0)
    if case.key.witness is None:
        good = f"I went through it: `{_first_line(case)}` is as it should be, and so is the rest.\n\nnull\n"
        return good, f"{invented}\n{json.dumps({**bad, 'input': {}})}\n"
    where = f"line {_numbers(case.key.lines)}, {_code(case.remarks)}"
    good = (
        f"The bug is in {where}: for the input below the function goes wrong. "
        f"It should have the effect of `{case.right}`.\n\n```json\n{json.dumps(case.key.witness)}\n```\n"
    )
    return good, f"{invented.replace('The bug is', 'There is no bug')}\nnull\n"


def _first_line(case: Made) -> str:
    """A line of the function's body that says something, as a reviewer might quote it."""
    lines = [line.strip() for line in case.text.splitlines()]
    return next(line for line in reversed(lines) if line and "`" not in line)


def _numbers(lines: tuple[int, ...]) -> str:
    return ", ".join(map(str, lines))


def _code(lines: list[str] | tuple[str, ...]) -> str:
    return " and ".join(f"`{line}`" for line in lines)


def _sign(lines: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"`{line}`" for line in lines)
