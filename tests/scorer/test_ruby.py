"""Ruby's regular expressions mean in Python what they mean in Ruby."""

import re

import pytest

from proceval.scorer.ruby import Untranslatable, matches_nothing, translate


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        (r"^b$", "a\nb\nc", "ab\nbc"),
        (r"\Ab\z", "b", "b\n"),
        (r"\Ab\Z", "b\n", "b\n\n"),
        (r"(?m)a.b", "a\nb", "a\n\nb"),
        (r"a.b", "a-b", "a\nb"),
        (r"(?m:a.b).", "a\nbc", "a\nb\n"),
        (r"a(?i)b|c", "aC", "C"),
        (r"(a(?i)b|c)d", "aBd", "ABd"),
        (r"\A\h{4}\z", "beef", "beeg"),
        (r"\A[\H]\z", "g", "b"),
        (r"(?<sign>[ab])\k<sign>", "bb", "ab"),
        (r"\A[[:alpha:]_]+\z", "ab_c", "ab1"),
        (r"\A\d\z", "7", "٧"),
        (r"\A\w\z", "_", "é"),
        (r"\A[\W]\z", "é", "e"),
        (r"\A[\D]\z", "٧", "7"),
        (r"\A[\s\S]{0,400}\z", "any \n\u2003 é 😀", "x" * 401),
        (r"a\Rb", "a\r\nb", "a b"),
        (r"(?x) a b  # spaces ( and this count for nothing", "ab", "a b"),
        (r"\u{1F600}", "😀", "😁"),
        (r"\A(?>a+)b", "aab", "b"),
        (r"(?#a comment)ab", "ab", "b"),
        (r"(?i-m:A)", "a", "b"),
        (r"[]a]", "]", "b"),
        (r"[a&~|]", "&", "b"),
        (r"\-\/\_", "-/_", "-_"),
        (r"(?'n'x)\k'n'", "xx", "x"),
        (r"x(?!y)", "xz", "xy"),
        (r"(?<=a)b", "ab", "b"),
    ],
)
def test_a_pattern_matches_what_ruby_matches(pattern: str, matching: str, other: str) -> None:
    translated = translate(pattern)
    assert re.search(translated, matching), translated
    assert not re.search(translated, other), translated


def test_the_end_of_a_text_is_no_start_of_a_line() -> None:
    assert not re.search(translate(r"\n^\z"), "a\n")
    assert re.search(translate(r"\n$"), "a\n")


@pytest.mark.parametrize(
    "pattern",
    [
        "(a", "a)", "[a", "*a", "a\\", r"\p{L}", r"\X", r"\Ga", r"a\Kb", r"\g<x>", "(?~a)", "[a[b]]", "[a&&b]", "[[:^alpha:]]",
        "(?<n", r"\u{110000}", "[\\", "(?a)b", "a{2,1}", r"(?<=a+)b",
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_refused(pattern: str) -> None:
    with pytest.raises(Untranslatable):
        translate(pattern)


def test_a_pattern_that_an_empty_text_matches_is_noticed() -> None:
    assert matches_nothing(translate(r"\A[\s\S]{0,400}\z"))
    assert matches_nothing(translate("x*"))
    assert not matches_nothing(translate(r"\A[\s\S]{1,400}\z"))
