"""Suites are read strictly: whatever is not as it must be is one sentence that names file and line."""

import json
from pathlib import Path

import pytest

from proceval.errors import InputError
from proceval.track import review_leaks, review_suite
from tests.track.reviewing import RUBRIC, suite


def _broken(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


FAULTS = {
    "no prompt": ({"prompt.md": ""}, ["prompt.md", "missing"]),
    "a blank prompt": ({"prompt.md": " \n"}, ["prompt.md", "empty"]),
    "no rubric": ({"rubric.md": ""}, ["rubric.md", "missing"]),
    "a rubric of prose": ({"rubric.md": "Be nice.\n"}, ["rubric.md", "not a single criterion"]),
    "an empty section": (
        {"rubric.md": RUBRIC.split("## must-not-flag")[0] + "## must-not-flag\n"},
        ["rubric.md, line 13", "'must-not-flag' has no criterion"],
    ),
    "an id twice": (
        {"rubric.md": _broken(RUBRIC, "### early-return", "### off-by-one")},
        ["rubric.md, line 15", "'off-by-one' is there already, in line 7"],
    ),
    "an unknown section": (
        {"rubric.md": _broken(RUBRIC, "## engagement", "## may-flag")},
        ["rubric.md, line 21", "unknown section 'may-flag'", "must-flag, must-not-flag, engagement"],
    ),
    "a section twice": (
        {"rubric.md": _broken(RUBRIC, "## engagement", "## must-flag")},
        ["rubric.md, line 21", "there twice"],
    ),
    "a criterion outside": ({"rubric.md": "### lonely\n\nText.\n"}, ["rubric.md, line 1", "before the first section"]),
    "a criterion without a text": (
        {"rubric.md": _broken(RUBRIC, "The review leaves the early return alone.", "")},
        ["rubric.md, line 15", "'early-return' says nothing"],
    ),
    "an id with capitals": (
        {"rubric.md": _broken(RUBRIC, "### names-both", "### NamesBoth")},
        ["rubric.md, line 23", "'NamesBoth'"],
    ),
    "signs without backticks": (
        {"rubric.md": _broken(RUBRIC, "Signs: `early return`, `bad`", "Signs: early return, bad")},
        ["rubric.md, line 15", "backticks"],
    ),
    "no input file": ({"input/src/last.py": "", "input/first.py": ""}, ["input", "not a single file"]),
    "a misspelt file": ({"promt.md": "Review."}, ["promt.md", "no part of this format", "prompt.md"]),
    "an unknown key": ({"case.yaml": "dificulty: hard\n"}, ["case.yaml", "unknown key 'dificulty'", "difficulty"]),
    "a twin that is not there": ({"case.yaml": "twin: other\n"}, ["case.yaml", "twin other"]),
    "a key that is no object": ({"key.json": "[1]"}, ["key.json", "one JSON object"]),
    "a key that is no JSON": ({"key.json": "{"}, ["key.json", "not JSON"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_case_is_named(name: str, tmp_path: Path) -> None:
    changes, words = FAULTS[name]
    with pytest.raises(InputError) as caught:
        review_suite.load(suite(tmp_path, one=changes), "*")
    assert all(word in str(caught.value) for word in words), caught.value
    assert "\n" not in str(caught.value)


def test_a_link_among_the_input_files_is_refused(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    (folder / "cases" / "one" / "input" / "etc").symlink_to("/etc")
    with pytest.raises(InputError, match="input/etc: neither a file nor a folder"):
        review_suite.load(folder, "*")


def test_cases_are_chosen_by_glob_and_a_glob_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    folder = suite(tmp_path, **{"a-one": {}, "a-two": {}, "b-one": {}})
    assert [case.family for case in review_suite.load(folder, "a-*").cases] == ["a-one", "a-two"]
    with pytest.raises(InputError, match=r"cases=c\*: matches none of a-one, a-two, b-one"):
        review_suite.load(folder, "c*")


def test_an_id_follows_from_what_is_asked_and_graded_and_from_nothing_else(tmp_path: Path) -> None:
    def identity(name: str, **changes: str) -> str:
        folder = suite(tmp_path / name, one=changes)
        return review_suite.load(folder, "*").cases[0].id

    same = identity("plain")
    assert identity("samples", **{"selftest/good.md": "Another good review.\n"}) == same
    for path, text in {
        "input/first.py": "x = 1\n",
        "prompt.md": "Review!\n",
        "rubric.md": RUBRIC + "More.\n",
        "key.json": '{"truth": 1}',
    }.items():
        assert identity(path.replace("/", "-"), **{path: text}) != same, path


def test_headings_inside_fenced_code_of_a_rubric_head_nothing(tmp_path: Path) -> None:
    text = RUBRIC.replace("The review leaves", "```\n### not-a-criterion\n```\n\nThe review leaves")
    (case,) = review_suite.load(suite(tmp_path, one={"rubric.md": text}), "*").cases
    assert [c.id for c in case.criteria] == ["off-by-one", "early-return", "names-both"]
    assert "### not-a-criterion" in case.criteria[1].text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no front matter\n", "has no name"),
        ("---\nname: review\n---\n", "two or more words"),
        ("---\nx: y\n---\n", "no name"),
    ],
)
def test_a_skill_needs_a_name_that_nobody_says_by_chance(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "skill.md").write_text(text)
    with pytest.raises(InputError, match=says):
        review_suite.read_skill(tmp_path / "skill.md")


class TestOwnSuite:
    own = review_suite.load(review_suite.OWN, "*")

    def test_it_has_five_cases_with_every_kind_of_criterion_and_both_sides_of_a_self_test(self) -> None:
        assert len(self.own.cases) == 5
        assert {c.kind for case in self.own.cases for c in case.criteria} == {
            "must_flag",
            "must_not_flag",
            "engagement",
        }
        assert all(set(self.own.samples[case.id]) == {"good", "bad"} for case in self.own.cases)
        assert all(c.signs for case in self.own.cases for c in case.criteria)

    def test_what_a_criterion_of_a_flaw_points_at_stands_in_the_file(self) -> None:
        for case in self.own.cases:
            text = "\n".join(file.content for file in case.files)
            for criterion in case.criteria:
                assert criterion.kind != "must_flag" or criterion.signs[0].removeprefix("unfold ") in text, criterion.id

    def test_neither_files_nor_prompts_give_the_skill_or_the_flaws_away(self) -> None:
        assert self.own.skill is not None
        assert review_leaks.in_cases(self.own.skill.name, self.own.cases) == []
        for case in self.own.cases:
            text = " ".join([case.prompt, *(file.content for file in case.files)]).casefold()
            assert not any(word in text for word in ("planted", "flaw", "deliberate", "rubric"))

    def test_it_ships_inside_the_package(self) -> None:
        package = Path(review_suite.__file__).parent.parent
        assert review_suite.OWN.is_relative_to(package)
        json.dumps([case.model_dump() for case in self.own.cases])
