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
        # behind {n,m} a + repeats again, behind {n} a ? makes optional: neither is possessive or lazy as in Python
        (r"\A[ab]{2}+\z", "abab", "aba"),
        (r"\Aa{2,3}+\z", "aaaaa", "a"),
        (r"\Aa{2,3}+ab\z", "aaab", "ab"),
        (r"\Aa{,2}+ab\z", "aaaab", "b"),
        (r"\Aa{2,}+ab\z", "aaab", "aab"),
        (r"\Aa{2}?\z", "", "a"),
        (r"\A(a{2}?)(?<rest>a*)\k<rest>\z", "aa", "a"),
        (r"\Aa{2}??\z", "aa", "aaa"),
        (r"\Aa{2}?+a\z", "aaa", "aa"),
        (r"\Aa{2}+?\z", "aaaa", "aaa"),
        (r"\Aa{2}++\z", "aaaa", "aaa"),
        (r"\A(?:a{2}++a|b)\z", "aaa", "aaaa"),
        (r"\Aa{2}{3}\z", "aaaaaa", "aaaaa"),
        (r"\Aa{2}*\z", "", "aaa"),
        (r"\Aa+{2}\z", "aa", "a"),
        (r"\Aa?{2}b\z", "aab", "aaab"),
        (r"\Aa{1,2}?+b\z", "aaaaab", "b"),
        (r"\Aa{2}{2}?\z", "", "aa"),
        # what is repeated is one character, escape, class or group
        (r"\Axab{2}+\z", "xabbbb", "xabab"),
        (r"\Axb{2}?\z", "x", "b"),
        (r"\A\x41\u0042{2}+\z", "ABBBB", "ABAB"),
        (r"\A\x41{2}+\z", "AAAA", "AAA"),
        (r"\A\u{41}{2}?\z", "", "A"),
        (r"\A\d{2}+\z", "1234", "123"),
        (r"\A\h{2}?\z", "", "f"),
        (r"\A\.{2}+\z", "....", "..."),
        (r"\A\101{2}+\z", "AAAA", "AAA"),
        (r"\A(a)b\1{2}+\z", "abaaaa", "abaaa"),
        (r"\A(?<n>ab){2}+\z", "abababab", "ababab"),
        (r"\A(?:ab|c){2}?\z", "", "ab"),
        (r"\A(?:x(y){2}+)?\z", "xyyyy", "xyyy"),
        (r"\A(?i)a{2}+\z", "AaaA", "AaA"),
        (r"\A(?:x(?i)a)\z", "xA", "XA"),
        (r"\Aa(?#twice){2}+\z", "aaaa", "aaa"),
        (r"(?x)\A a {2} + \z", "aaaa", "aaa"),
        (r"(?x)\A a{1,2} ? \z", "", "aaa"),
        # as in Python
        (r"\A(a{1,2}?)(a*)b\z", "aaab", "b"),
        (r"\Aa{,2}\z", "", "aaa"),
        (r"\Aa*+b\z", "aab", "a"),
        (r"\A(?:a++a|c)\z", "c", "aa"),
        (r"\A(?:a?+a|c)\z", "c", "a"),
        (r"\Aa*?b??\z", "ab", "abb"),
        # a brace that is no repeat stands for itself
        (r"\Aa{,}\z", "a{,}", "aa"),
        (r"\A{a}{b}{1,x}{ 2}\z", "{a}{b}{1,x}{ 2}", "a"),
        (r"\Aa{}{2}\z", "a{}}", "a{}{}"),
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
        "a**", "a+?*", "a{2}+*", "a*++", "a?+?", "a|*b", "(+a)", "(?i)*", "a(?i)?", "{2}", "|{2}", "a{100001}", "a{1,100001}+",
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_refused(pattern: str) -> None:
    with pytest.raises(Untranslatable):
        translate(pattern)


def test_a_pattern_that_an_empty_text_matches_is_noticed() -> None:
    assert matches_nothing(translate(r"\A[\s\S]{0,400}\z"))
    assert matches_nothing(translate("x*"))
    assert matches_nothing(translate(r"\Ax{2}?\z"))
    assert matches_nothing(translate(r"\A[\s\S]{0,4}+\z"))
    assert not matches_nothing(translate(r"\Ax{2}+\z"))
    assert not matches_nothing(translate("a{,}"))
    assert not matches_nothing(translate(r"\A[\s\S]{1,400}\z"))


def test_where_a_lazy_and_a_greedy_repeat_end() -> None:
    """Which of the ways is taken first, by what the first group holds."""
    for pattern, held in [
        (r"(a{2,3}?)", "aa"), (r"(a{2,3})", "aaa"), (r"(a{2}?)", "aa"), (r"(a{2}??)", ""), (r"(a{2}+?)", "aa"),
        (r"(a{2}+)", "aaaa"), (r"(a{1,2}?+)", "aaaaa"), (r"(a{,2}?)", ""), (r"(a{2,2}?)", "aa"),
    ]:  # fmt: skip
        found = re.search(translate(pattern), "aaaaa")
        assert found, pattern
        assert found[1] == held, pattern


def test_a_repeat_of_a_repeat_says_what_to_write() -> None:
    with pytest.raises(
        Untranslatable, match=r"^\* behind \+\? repeats a repeat; write \(\?:\.\.\.\) around the first$"
    ):
        translate("a+?*")
    assert re.search(translate(r"\A(?:a+?)*\z"), "aaa")
    with pytest.raises(Untranslatable, match=r"^there is nothing that \{2,3\}\? repeats$"):
        translate("(a|{2,3}?)")
