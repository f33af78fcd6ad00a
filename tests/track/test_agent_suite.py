"""Case files of agents: what was written for the original loads unchanged, and every mistake has its file and line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proceval.errors import InputError
from proceval.track.agent_suite import MAX_TURNS, Suite, load

THE_ORIGINAL = r"""
- id: mend-sum
  fixture: broken
  setup:
    - git init -q
  turns:
    - run test.rb and mend what fails
  expect:
    verify: ruby test.rb
    files:
      lib/sum.rb:
        contains: ["a + b"]
        not_contains: ["a - b"]
    response_contains: ["plus"]
    response_not_contains: ["sorry"]
    response_matches: ['\A[\s\S]{0,400}\z', '^done$']
    max_turns: 12
- id: 50-72
  fixture: broken
  turns:
    - say hello
"""
GOOD = "- id: one\n  fixture: broken\n  turns:\n    - do it\n  expect:\n    verify: 'true'\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "fixtures" / "broken" / "lib").mkdir(parents=True)
    (tmp_path / "fixtures" / "broken" / "lib" / "sum.rb").write_text("a - b\n")
    (tmp_path / "hidden" / "more").mkdir(parents=True)
    (tmp_path / "hidden" / "calls.jsonl").write_text('{"arguments": {"a": 1}, "expected": [1]}\n')
    (tmp_path / "hidden" / "odd.jsonl").write_text('{"arguments": {"a": 1}}\n')
    return tmp_path


@pytest.fixture
def read(home: Path) -> Callable[..., Suite]:
    def read(text: str, globs: str | list[str] = "*") -> Suite:
        (home / "cases" / "fix.yml").write_text(text)
        return load(home / "cases", None, globs)

    return read


def test_a_file_of_the_original_loads_unchanged(read: Callable[..., Suite]) -> None:
    suite = read(THE_ORIGINAL)
    first, second = suite.cases
    assert (first.family, first.domain, first.difficulty) == ("fix/mend-sum", "fix", "given")
    assert (first.setup, first.max_turns, second.max_turns) == (("git init -q",), 12, MAX_TURNS)
    assert [(c.kind, c.path, c.text) for c in first.checks] == [
        ("verify", "", "ruby test.rb"),
        ("contains", "lib/sum.rb", "a + b"),
        ("not_contains", "lib/sum.rb", "a - b"),
        ("response_contains", "", "plus"),
        ("response_not_contains", "", "sorry"),
        ("response_matches", "", r"\A[\s\S]{0,400}\z"),
        ("response_matches", "", "^done$"),
    ]
    assert second.unchecked
    assert not first.unchecked
    assert any("line 16" in w and "empty reply" in w for w in suite.warnings)
    assert any("fix/50-72 is unchecked" in w for w in suite.warnings)


def test_everything_of_ours_is_read(read: Callable[..., Suite]) -> None:
    (case,) = read(
        GOOD
        + """\
    checks:
      - {id: heavy, weight: 2.5, verify: exit 0}
      - weight: 3
        response_contains: [a, b, c]
      - calls: {function: lib.core.run, tests: calls}
    rubric:
      - The reply is polite.
      - {id: short, text: The reply is short., weight: 2}
  timeout_s: 12.5
  protect: [tests, "**/conftest.py"]
  hidden: more
  difficulty: hard
  network: false
"""
    ).cases
    assert [(c.id, c.weight) for c in case.checks] == [
        ("verify", 1.0), ("heavy", 2.5), ("checks-2-1", 1.0), ("checks-2-2", 1.0), ("checks-2-3", 1.0), ("checks-3", 1.0),
    ]  # fmt: skip
    assert case.checks[-1].calls[0].expected == [1]
    assert [(r.criterion.id, r.criterion.kind, r.weight) for r in case.rubric] == [
        ("rubric-1", "rubric", 1),
        ("short", "rubric", 2),
    ]
    assert (case.timeout_s, case.protect, case.hidden, case.difficulty) == (
        12.5,
        ("tests", "**/conftest.py"),
        "more",
        "hard",
    )


def test_a_case_has_another_id_when_anything_that_is_asked_or_judged_changes(
    home: Path, read: Callable[..., Suite]
) -> None:
    before = read(GOOD).cases[0].id
    assert read(GOOD + "  difficulty: hard\n").cases[0].id == before
    assert read(GOOD.replace("do it", "do that")).cases[0].id != before
    assert read(GOOD.replace("'true'", "'false'")).cases[0].id != before
    (home / "fixtures" / "broken" / "lib" / "sum.rb").write_text("a + b\n")
    assert read(GOOD).cases[0].id != before


MISTAKES = [
    ("- id: one\n  fixture: broken\n", 1, "has no turns"),
    (GOOD + "  fixtrue: x\n", 7, "did you mean fixture"),
    (GOOD + "  id: two\n", 7, "twice, first in line 1"),
    (GOOD + GOOD, 7, "twice, first in line 1"),
    (GOOD.replace("verify", "verfiy"), 6, "did you mean verify"),
    (GOOD + "    response_contain: [x]\n", 7, "did you mean response_contains"),
    (GOOD + "    response_contains: []\n", 7, "empty list"),
    (GOOD + "    response_contains: ['']\n", 7, "is empty"),
    (GOOD + "    response_contains: word\n", 7, "must be a list"),
    (GOOD + "    response_contains: [no]\n", 7, "truth value"),
    (GOOD + "    response_contains: [010]\n", 7, "whole number; write '010' in quotes"),
    (GOOD + "    response_contains: [1.10]\n", 7, "a number"),
    (GOOD + "    response_contains: [2024-01-01]\n", 7, "a date"),
    (GOOD + "    response_contains: [~]\n", 7, "write '~' in quotes"),
    (GOOD + "    response_contains: [[a]]\n", 7, "not a list"),
    (GOOD + "    response_matches: ['(a']\n", 7, "nothing closes"),
    (GOOD + "    max_turns: 010\n", 7, "decimal digits"),
    (GOOD + "    max_turns: 0\n", 7, "from 1 to"),
    (GOOD + "    max_turns: '3'\n", 7, "whole number"),
    (GOOD + "    files: {}\n", 7, "is empty"),
    (GOOD + "    files: {a.py: {}}\n", 7, "is empty"),
    (GOOD + "    files: {a.py: {contain: [x]}}\n", 7, "did you mean contains"),
    (GOOD + "    files: {../a.py: {contains: [x]}}\n", 7, "no path inside"),
    (GOOD + "    contains: [x]\n", 7, "belongs under a file's name"),
    (GOOD + "    protect: [x]\n", 7, "belongs beside expect"),
    (GOOD + "  verify: x\n", 7, "belongs under expect"),
    (GOOD + "    checks: [{weight: 2}]\n", 7, "exactly one of"),
    (GOOD + "    checks: [{verify: a, calls: {}}]\n", 7, "exactly one of"),
    (GOOD + "    checks: [{verify: a, weight: 0}]\n", 7, "above 0"),
    (GOOD + "    checks: [{verify: a, id: verify}]\n", 6, "two checks are called verify"),
    (GOOD + "    calls: {function: run, tests: calls}\n", 7, "package.module.name"),
    (GOOD + "    calls: {function: a.run, tests: nothing}\n", 7, "there is no"),
    (GOOD + "    rubric: [{id: a}]\n", 7, "has no text"),
    (GOOD + "  network: true\n", 7, "not offered"),
    (GOOD + "  network: no\n", 7, "true or false"),
    (GOOD + "  protect: [/etc]\n", 7, "protect"),
    (GOOD + "  hidden: nothing\n", 7, "no such folder"),
    (GOOD + "  timeout_s: -1\n", 7, "above 0"),
    (GOOD + "  setup: git init\n", 7, "must be a list"),
    (GOOD.replace("broken", "brokn"), 2, "no such folder"),
    (GOOD.replace("broken", "../x"), 2, "no plain name"),
    (GOOD.replace("broken", "no"), 2, "truth value"),
    (GOOD.replace("one", "a/b"), 1, "is no name"),
    ("- id: one\n  fixture: broken\n  turns: [x]\n  expect:\n", 4, "expect must be a mapping"),
    ("- id: one\n  fixture: broken\n  turns: [x]\n  expect: {}\n", 4, "expect is empty"),
    ("id: one\n", 1, "must be a list"),
    ("[]\n", 1, "empty list"),
    ("", 1, "empty"),
    ("- id: one\n\tfixture: x\n", 2, "not YAML"),
    ("- [a\n", 2, "not YAML"),
    ("--- \n- id: a\n--- \n- id: b\n", 3, "not YAML"),
]


@pytest.mark.parametrize(("text", "line", "says"), MISTAKES, ids=[f"{n}-{m[2]}" for n, m in enumerate(MISTAKES)])
def test_a_mistake_has_its_file_and_line(read: Callable[..., Suite], text: str, line: int, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert f"fix.yml, line {line}:" in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_hidden_call_that_is_none_is_named_by_its_own_line(read: Callable[..., Suite]) -> None:
    with pytest.raises(InputError, match=r"odd\.jsonl, line 1: must be"):
        read(GOOD + "    calls: {function: a.run, tests: odd}\n")


def test_globs_choose_and_none_chosen_is_an_error(read: Callable[..., Suite]) -> None:
    assert [case.family for case in read(THE_ORIGINAL, "fix/m*").cases] == ["fix/mend-sum"]
    assert len(read(THE_ORIGINAL, ["fix/m*", "*/50-72"]).cases) == 2
    with pytest.raises(InputError, match=r"cases=build/\*: matches none of fix/mend-sum"):
        read(THE_ORIGINAL, "build/*")


def test_a_mistake_in_a_case_that_is_not_chosen_is_an_error_too(read: Callable[..., Suite]) -> None:
    with pytest.raises(InputError, match="line 22: case 3"):
        read(THE_ORIGINAL + "- id: x\n", "fix/mend-sum")


def test_anchors_and_merges_work_and_two_files_of_one_group_do_not(home: Path, read: Callable[..., Suite]) -> None:
    text = GOOD.replace("- id: one", "- &base\n  id: one") + "- <<: *base\n  id: two\n"
    assert [case.family for case in read(text).cases] == ["fix/one", "fix/two"]
    (home / "cases" / "fix.yaml").write_text(GOOD)
    with pytest.raises(InputError, match="a group is one file"):
        load(home / "cases", None, "*")


def test_a_fixture_with_a_link_that_leads_out_is_refused(home: Path, read: Callable[..., Suite]) -> None:
    (home / "fixtures" / "broken" / "out").symlink_to("../../cases")
    with pytest.raises(InputError, match=r"line 2: fixture broken: out is"):
        read(GOOD)


def test_a_suite_in_place_of_its_cases_is_named(tmp_path: Path) -> None:
    (tmp_path / "suite" / "cases").mkdir(parents=True)
    with pytest.raises(InputError, match=r"is a suite; give its cases, track.cases_dir=.*/suite/cases"):
        load(tmp_path / "suite", None, "*")
