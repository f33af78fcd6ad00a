"""What must be rejected, tried without any model: malformed judgements, leaking skills, rewritten files.

Each trial gives None when the thing was noticed, and one sentence when it was not.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from proceval.schema import ABSENT, CaseFile, Completion, Criterion, ReviewCase
from proceval.scorer.judge import Violation, validate
from proceval.track import review_leaks
from proceval.track.review_untouched import differences, listing
from sandbox import archive

RUBRIC = (
    Criterion(id="off-by-one", kind="must_flag", text="The review names `last` and its bound."),
    Criterion(id="early-return", kind="must_not_flag", text="The review leaves the early return alone."),
    Criterion(id="names-two", kind="engagement", text="The review names two functions."),
)
TRANSCRIPT = "`last` reads one item too many: stop at n - 1.\n\nThe early return in `first` is fine.\n"
_ROWS: list[dict[str, Any]] = [
    {"id": "off-by-one", "passed": True, "evidence": "`last` reads one item too many"},
    {"id": "early-return", "passed": True, "evidence": ABSENT},
    {"id": "names-two", "passed": True, "evidence": "The early return in `first` is fine."},
]
SKILL = "collision-fixture-skill"


def _rows(place: int | None = None, **changes: Any) -> str:
    rows = [dict(row) for row in _ROWS]
    if place is not None:
        rows[place] |= changes
    return json.dumps(rows)


def _without(place: int, key: str) -> str:
    rows = [dict(row) for row in _ROWS]
    del rows[place][key]
    return json.dumps(rows)


WELL_FORMED = {
    "bare": _rows(),
    "in one fence": f"```json\n{_rows()}\n```",
    "after reasoning": f"<think>[1, 2]</think>\n{_rows()}",
    "quoted with other quotes and spaces": _rows(0, evidence="last  reads one\nitem too many"),
}
MALFORMED = {
    "nothing": "",
    "prose": "All three criteria pass.",
    "prose before the array": f"Here you are: {_rows()}",
    "prose after the array": f"{_rows()}\nLet me know if you need more.",
    "two arrays": f"{_rows()}\n{_rows()}",
    "an object around it": json.dumps({"grades": _ROWS}),
    "cut short": _rows()[:-10],
    "an empty array": "[]",
    "texts instead of objects": json.dumps(["off-by-one", "early-return", "names-two"]),
    "a criterion missing": json.dumps(_ROWS[:2]),
    "a criterion twice": json.dumps([*_ROWS, _ROWS[2]]),
    "a duplicate in place of another": json.dumps([_ROWS[0], _ROWS[0], _ROWS[2]]),
    "reordered": json.dumps([_ROWS[1], _ROWS[0], _ROWS[2]]),
    "an unknown id": _rows(2, id="names-three"),
    "an id with other capitals": _rows(0, id="Off-by-one"),
    "an extra key": _rows(0, confidence=0.9),
    "a key twice": _rows().replace('"passed": true', '"passed": false, "passed": true', 1),
    "no verdict": _without(1, "passed"),
    "no evidence key": _without(1, "evidence"),
    "empty evidence": _rows(1, evidence=" "),
    "evidence that is null": _rows(1, evidence=None),
    "evidence that is a list": _rows(1, evidence=[ABSENT]),
    "a verdict in words": _rows(0, passed="true"),
    "a verdict as a number": _rows(0, passed=1),
    "NaN": _rows(0, passed=None).replace("null", "NaN", 1),
    "evidence that nobody said": _rows(0, evidence="`last` reads two items too many"),
    "evidence from the rubric": _rows(0, evidence="The review names `last` and its bound."),
    "evidence too short to show anything": _rows(0, evidence="one"),
    "presence shown by absence": _rows(0, evidence=ABSENT),
    "a flag shown by absence": _rows(1, passed=False),
}
"""Answers that break the contract, by what is wrong with them; all of them are about RUBRIC and TRANSCRIPT."""


def trials() -> Iterator[tuple[str, str | None]]:
    """(what is tried, what went wrong or None)."""
    for name, text in WELL_FORMED.items():
        yield f"accepted: {name}", _accepted(text)
    for name, text in MALFORMED.items():
        yield f"rejected: {name}", _rejected(partial(validate, _said(text), RUBRIC, TRANSCRIPT))
    yield "rejected: an empty transcript", _rejected(lambda: validate(_said(_rows()), RUBRIC, " \n"))
    yield "rejected: a rubric without criteria", _rejected(lambda: validate(_said("[]"), (), TRANSCRIPT))
    cut = _said(_rows()).model_copy(update={"finish_reason": "length"})
    yield "rejected: an answer at the token limit", _rejected(lambda: validate(cut, RUBRIC, TRANSCRIPT))
    yield from _leaks()
    yield from _rewrites()


def _said(text: str) -> Completion:
    return Completion(
        text=text, finish_reason="stop", prompt_tokens=None, completion_tokens=None, cost_usd=None, latency_s=0.0
    )


def _accepted(text: str) -> str | None:
    try:
        validate(_said(text), RUBRIC, TRANSCRIPT)
    except Violation as reason:
        return f"a judgement within the contract was rejected: {reason}"
    return None


def _rejected(check: Callable[[], Any]) -> str | None:
    try:
        check()
    except Violation:
        return None
    return "a judgement that breaks the contract was accepted"


def _leaks() -> Iterator[tuple[str, str | None]]:
    """Copies of a skill in a made-up home, in files under review and in words."""
    manifest = f"---\nname: {SKILL}\ndescription: a copy under another folder's name\n---\n"
    plants = {
        "a personal skill": (f".claude/skills/{SKILL}/SKILL.md", manifest),
        "a skill under another name": (".claude/skills/renamed/SKILL.md", manifest),
        "an enabled plug-in": (f".claude/plugins/market/tools/1.0/skills/{SKILL}/SKILL.md", manifest),
        "settings that enable it": (".claude/settings.json", json.dumps({"enabledPlugins": {f"{SKILL}@market": True}})),
    }
    for name, (path, content) in plants.items():
        with tempfile.TemporaryDirectory(prefix="proceval-home-") as home:
            homes = [os.path.join(home, ".claude", part) for part in ("skills", "plugins", "settings.json")]
            before = review_leaks.in_homes(SKILL, homes)
            planted = Path(home, path)
            planted.parent.mkdir(parents=True)
            planted.write_text(content, encoding="utf-8")
            found = review_leaks.in_homes(SKILL, homes)
            yield f"noticed: {name}", None if found and not before else "a colliding copy of a skill was not noticed"
    file = CaseFile(path="a.lean", executable=False, encoding="utf-8", content=f"-- see {SKILL}\n")
    case = ReviewCase(
        id="0", family="fixture", domain="fixture", difficulty="given", twin=None, prompt="Review it.", files=(file,),
        criteria=RUBRIC, key=None,
    )  # fmt: skip
    yield "noticed: a file under review that names it", None if review_leaks.in_cases(SKILL, [case]) else "it was not"
    spoken = review_leaks.named(SKILL, "As the Collision Fixture Skill says, ...")
    silent = not review_leaks.named(SKILL, "This skill would collide with a fixture.")
    yield "noticed: a transcript that names it", None if spoken and silent else "it was not, or another one was"


def _rewrites() -> Iterator[tuple[str, str | None]]:
    def edit(root: Path) -> None:
        (root / "a.lean").write_text("theorem b : True := trivial\n", encoding="utf-8")

    actions: dict[str, Callable[[Path], Any]] = {
        "other bytes": edit,
        "another mode": lambda root: (root / "a.lean").chmod(0o755),
        "another name": lambda root: (root / "a.lean").rename(root / "b.lean"),
        "a file more": lambda root: (root / "c.lean").touch(),
        "a file less": lambda root: (root / "a.lean").unlink(),
        "a folder more": lambda root: (root / "new").mkdir(),
    }
    for name, act in actions.items():
        with tempfile.TemporaryDirectory(prefix="proceval-files-") as folder:
            root = Path(folder)
            (root / "a.lean").write_text("theorem a : True := trivial\n", encoding="utf-8")
            (root / "a.lean").chmod(0o644)
            before = listing(archive.pack(folder, 1 << 20))
            same = differences(before, listing(archive.pack(folder, 1 << 20)), [])
            act(root)
            found = differences(before, listing(archive.pack(folder, 1 << 20)), [])
            yield f"noticed: {name}", None if found and not same else "a rewritten file was not noticed"
