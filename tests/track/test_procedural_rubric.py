"""What a procedural rubric calls wrong is what is wrong, and what it calls the fix is what the twin has, in all families."""

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from proceval.audit.material import Material
from proceval.audit.template import template
from proceval.seeding import rng
from proceval.track.procedural import review
from proceval.track.procedural.refactor import rewrite
from proceval.track.procedural.review import Made
from proceval.track.procedural.review_folder import rubric, samples
from tests.audit.conftest import FAMILIES

_OFTEN = ("deletion", "loop_once")
"""Operators that leave a line out or put one in; of each other kind some edits will do."""
Twins = tuple[Made, Made]


def _material(**known: Any) -> Material:
    fields = dict.fromkeys(Material.model_fields) | {"twins": (), "statement": "", "truth": "bug"}
    return Material.model_construct(**(fields | known))


def _made(
    family: Any, edited: str, honest: str, seed: tuple[Any, ...], harmless: Material | None = None
) -> Twins | None:
    """(with the bug, without it) as the track writes them, for a bug that was never run: only texts matter here."""
    original = ast.unparse(ast.parse(family.reference)) + "\n"
    rewritten = rewrite((original, honest, edited), family.entry_point, rng("rubric", *seed), 5)
    shelf = SimpleNamespace(family=family, tests=[])
    pair = review._Pair(
        shelf=shelf,  # type: ignore[arg-type]
        bug=_material(operator=str(seed[1])),
        harmless=harmless,
        rewritten=rewritten,
        tried=SimpleNamespace(revealed_by=0.5),  # type: ignore[arg-type]
        witness=({"n": 1}, 1, 2),
    )
    try:
        one, other = review._cases(pair, "easy", 0, rng("order", *seed))
    except ValueError:  # several places: such a pair is never drawn
        return None
    return (one, other) if one.key.truth == "bug" else (other, one)


def _all_twins(family: Any) -> Iterator[Twins | None]:
    found: Counter[str] = Counter()
    original = ast.unparse(ast.parse(family.reference)) + "\n"
    for mutant in template(family.reference, ("gate",)).runnable:
        found[mutant.operator] += 1
        if mutant.operator in _OFTEN or found[mutant.operator] == 1:
            yield _made(family, mutant.text + "\n", original, (family.name, mutant.operator, found[mutant.operator]))


@pytest.fixture(scope="module")
def twins() -> list[Twins]:
    drawn = [pair for family in FAMILIES.values() for pair in _all_twins(family)]
    made = [pair for pair in drawn if pair is not None]
    assert len(made) > 0.9 * len(drawn), "most edits stay in one place"
    return made


def _difference(bug: Made, twin: Made) -> tuple[Counter[str], Counter[str], set[int]]:
    """Lines that only the twin has, lines that only the bug has, and numbers of the latter or of a gap's two sides."""
    old, new = twin.text.splitlines(), bug.text.splitlines()
    gone, come = (
        {line.strip(): 1 for line in one if line not in set(other)} for one, other in ((old, new), (new, old))
    )
    for line, many in (Counter(old) - Counter(new)).items():
        gone[line.strip()] = many
    for line, many in (Counter(new) - Counter(old)).items():
        come[line.strip()] = many
    numbers: set[int] = set()
    for tag, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "delete":
            numbers |= {start, start + 1}
        elif tag != "equal":
            numbers |= set(range(start + 1, end + 1))
    return Counter(gone), Counter(come), numbers


def _must_flag(made: Made) -> str:
    return rubric(made).partition("## must-flag")[2].partition("## must-not-flag")[0]


def _prose(made: Made) -> list[str]:
    """What is said of the bug: to judges, to the offline judge, and in the sample of a good review."""
    criterion, _, signs = _must_flag(made).partition("Signs:")
    said = re.sub(r"such as \{.*\}; and", "", criterion)
    return [said, signs, samples(made)[0].partition("```json")[0]]


def test_every_kind_of_edit_is_there(twins: list[Twins]) -> None:
    kinds = Counter()
    for bug, twin in twins:
        gone, come, _ = _difference(bug, twin)
        kinds["delete" if not come else "insert" if not gone else "replace"] += 1
        kinds["several lines"] += sum(gone.values()) > 1 or sum(come.values()) > 1
    assert min(kinds[kind] for kind in ("delete", "insert", "replace", "several lines")) >= 15, kinds


def test_nothing_innocent_is_named(twins: list[Twins]) -> None:
    """Whatever the wording: code that is quoted is the wrong code or the right one, numbers are of the place."""
    for bug, twin in twins:
        gone, come, numbers = _difference(bug, twin)
        allowed = {*gone, *come, bug.key.file, "the bug is"}
        for said in _prose(bug):
            assert set(re.findall(r"`([^`]+)`", said)) <= allowed, (said, bug.text)
            named = {int(number) for number in re.findall(r"\blines? (\d+)", said)}
            named |= {int(number) for number in re.findall(r"\blines \d+ (?:and|to) (\d+)", said)}
            assert named <= numbers, (said, bug.text)
        assert set(bug.key.lines) <= numbers
        assert bug.key.witness is not None
        assert bug.key.witness["line"] in numbers


def test_doing_what_the_rubric_says_gives_the_twin(twins: list[Twins]) -> None:
    """Line by line, after the words alone; of several lines they do not say how deep those behind the first stand."""
    for bug, twin in twins:
        for said in (_must_flag(bug), samples(bug)[0]):
            mended, several = _mended(bug.text, said)
            wanted = twin.text.splitlines()
            if several:
                mended, wanted = ([line.strip() for line in lines] for lines in (mended, wanted))
            assert mended == wanted, (said, bug.text)


def _mended(text: str, said: str) -> tuple[list[str], bool]:
    """The lines after the fix, and whether it writes several."""
    fix = re.search(
        r"effect of (?P<verb>removing |restoring |)(?P<code>`.*?`)"
        r" (?P<at>from|in|between|behind) lines? (?P<first>\d+)(?: (?:and|to) (?P<last>\d+))?"
        r"(?:, indented by (?P<depth>\d+) spaces)?\.\n",
        said,
    )
    assert fix, said
    lines = text.splitlines()
    first, last = int(fix["first"]), int(fix["last"] or fix["first"])
    code = re.findall(r"`([^`]+)`", fix["code"])
    if fix["verb"] == "removing ":
        assert [line.strip() for line in lines[first - 1 : last]] == code
        lines[first - 1 : last] = []
    elif fix["verb"] == "restoring ":
        lines[first:first] = [" " * int(fix["depth"]) + line for line in code]
    else:
        depth = len(lines[first - 1]) - len(lines[first - 1].lstrip())
        lines[first - 1 : last] = [" " * depth + line for line in code]
    return lines, len(code) > 1


def test_each_kind_word_by_word() -> None:
    family = FAMILIES["dag_reachability"]
    original = ast.unparse(ast.parse(family.reference)) + "\n"
    lines = original.splitlines()
    at = lines.index("    return len(reached)")
    pushed = next(number for number, line in enumerate(lines) if line.strip() == "waiting.append(vertex)")
    texts = {
        "insert": [*lines[:at], "        break", *lines[at:]],
        "delete": [*lines[:pushed], *lines[pushed + 1 :]],
        "end": lines[:at],
    }
    said = {}
    for name, text in texts.items():
        pair = review._Pair(
            shelf=SimpleNamespace(family=family, tests=[]),  # type: ignore[arg-type]
            bug=_material(operator="made up"),
            harmless=None,
            rewritten=SimpleNamespace(texts=(original, original, "\n".join(text) + "\n"), steps=()),  # type: ignore[arg-type]
            tried=SimpleNamespace(revealed_by=0.5),  # type: ignore[arg-type]
            witness=({"n": 1}, 1, 2),
        )
        said[name] = next(_must_flag(one) for one in review._cases(pair, "easy", 0, rng(0)) if one.key.truth == "bug")
    assert f"names line {at + 1}, which holds `break` and must not be there, or says" in said["insert"]
    assert (
        f"a fix with the effect of removing `break` from line {at + 1}.\n\nSigns: `break`, `the bug is`"
        in said["insert"]
    )
    assert (
        f"the place between lines {pushed} and {pushed + 1}, where `waiting.append(vertex)` is missing"
        in said["delete"]
    )
    assert "unmistakably what is missing" in said["delete"]
    assert f"the place behind line {at}, where `return len(reached)` is missing" in said["end"]
