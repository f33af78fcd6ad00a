"""Answers in words: each valid form of a right answer is read as it, and nothing else ever is."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from proceval.compare import key
from proceval.schema import Json
from proceval.scorer.reply import read

PATH = {"weight": 3, "path": [0, 1]}

READS: list[tuple[str, Json, Json]] = [
    ("ANSWER: 42", 1, 42),
    ("ANSWER = 42", 1, 42),
    ("**ANSWER:** 42", 1, 42),
    ("**ANSWER: 42**", 1, 42),
    ("ANSWER: `42`.", 1, 42),
    ("### Final answer: 42\n", 1, 42),
    ("3. Answer: 42", 1, 42),
    ("So 41 is wrong, hence ANSWER: **(42)!**", 1, 42),
    ("5 * 147 = \\$735. ANSWER: \\$735", 1, 735),
    ("There are 1,204 edges.\nANSWER: 1,204", 1, 1204),
    ("ANSWER: \u22127", 1, -7),
    ("ANSWER: 1\nWait, that misses one.\nANSWER: 2", 1, 2),
    ("ANSWER: 2\n\nANSWER: 2", 1, 2),
    ("ANSWER: 1\nThat is one too few.\nANSWER:\n```\n2\n```", 1, 2),
    ("ANSWER:\n\n42\n", 1, 42),
    ("ANSWER: $\\boxed{42}$", 1, 42),
    ("Therefore \\boxed{41} no, \\boxed{42}", 1, 42),
    ("<think>ANSWER: 41</think>\nANSWER: 42", 1, 42),
    ('<think>\nis "yes"</think>\nANSWER: 42', 1, 42),
    ("<think>\nANSWER: 41\nno, `41 + 1`</think>\n\nANSWER: 42", 1, 42),
    ("42", 1, 42),
    ("```\n42\n```", 1, 42),
    ("ANSWER: " + "9" * 300, 1, int("9" * 300)),
    ("ANSWER: [0, 3, 5]", [1], [0, 3, 5]),
    ("ANSWER: [0,3,5,]", [1], [0, 3, 5]),
    ("ANSWER: 0 -> 3 -> 5", [1], [0, 3, 5]),
    ("ANSWER: 0, 3 and 5.", [1], [0, 3, 5]),
    ("ANSWER: []", [1], []),
    ('ANSWER: {"weight": 3, "path": [0, 1]}', PATH, PATH),
    ("ANSWER: {'path': [0, 1], 'weight': 3}", PATH, PATH),
    ('ANSWER:\n```json\n{"weight": 3,\n "path": [0, 1]}\n```', PATH, PATH),
    ('ANSWER: {\n  "weight": 3,\n  "path": [0, 1]\n}\n', PATH, PATH),
    ("ANSWER: ```42```\nThat is the least.", 1, 42),
    ("ANSWER: ```\n42\n```\nBecause of 7 edges.", 1, 42),
    ("**ANSWER:**\n\n~~~text\n42\n~~~\n\nBecause of 7 edges.", 1, 42),
    ('ANSWER:\n```json\n{"weight": 3,\n "path": [0, 1]}\n```\nThe path is the lightest.', PATH, PATH),
    ("ANSWER:\n```\n42\n```\nby\n```python\nsum(range(3))\n```\n", 1, 42),
    ("ANSWER:\n```json\n42", 1, 42),
    ("ANSWER: 2\nI check that again.\nANSWER: 2\nIt is right.", 1, 2),
    ("End with ANSWER: <number>.\nANSWER: 2\nIt is right.", 1, 2),
    ("ANSWER: 42\n<think>or 41?</think>", 1, 42),
    ("<think>" + "x" * 200_000 + "</think>ANSWER: 42", 1, 42),
    ("ANSWER: True", False, True),
    ("ANSWER: true", False, True),
    ('ANSWER: "ab"', "x", "ab"),
    ("ANSWER: 42.0", 1, 42.0),
    ("ANSWER: [\"#\", '# no comment']", ["x"], ["#", "# no comment"]),
    ("ANSWER: {'a': 1, 'b': {'a': 2}}", {}, {"a": 1, "b": {"a": 2}}),
    ("ANSWER: 7\n" * 5000, 1, 7),
]

UNREADABLE: list[tuple[str, Json]] = [
    ("ANSWER: 1\nANSWER: 2", 1),
    ("ANSWER: 1, ANSWER: 2", 1),
    ("ANSWER: 1\n\n.\n\nANSWER: 2\n\n", 1),
    ("ANSWER: 1\nNo.\nANSWER:\n```\n2\n```", 1),
    ("```\nANSWER: 1\nANSWER: 2\n```", 1),
    ("ANSWER: 6\nor\nANSWER: 7", 1),
    ("ANSWER: 6\nThen again it may be\nANSWER: 7\nor not.", 1),
    ("ANSWER: 6\nI take that back.\nANSWER: 7\nI take that back, too.\nANSWER: 6", 1),
    ("", 1),
    ("banana", 1),
    ("It is 42", 1),
    ("The grid is 4x6", 1),
    ("20 of the 50 nodes remain, so ANSWER: 40%", 1),
    ("ANSWER: 7 apples", 1),
    ("ANSWER: 41 42", 1),
    ("ANSWER: 1,20", 1),
    ("ANSWER: 1_204", 1),
    ("ANSWER: \uff11\uff12", 1),
    ("ANSWER: +5", 1),
    ("ANSWER: 007", 1),
    ("ANSWER: 0x10", 1),
    ("ANSWER: forty-two", 1),
    ("ANSWER: 1\nANSWER: 2\nANSWER: 3", 1),
    ("ANSWER: 1\nHm.\nANSWER: 2\nOh.\nANSWER: 3", 1),
    ("ANSWER: 1\nANSWER: 2\nIt is one of these.", 1),
    ("ANSWER: 1\nHm.\nANSWER: 2\nIt is one of these.", 1),
    ("ANSWER: ```1``` ```2```", 1),
    ("ANSWER: ```1``` or 2", 1),
    ("ANSWER: 1, ANSWER: 2, ANSWER: 3", 1),
    ("Example: f(3) gives 6.\nEnd with one line `ANSWER: ` followed by the result as JSON, as in the examples.\n", 1),
    ("ANSWER: 1 | ANSWER: 2\nANSWER: 3", 1),
    ("ANSWER:\n```\n1\n```\n```\n2\n```", 1),
    ("ANSWER:\n```\n1\n```\nor\n\n```json\n2\n```\n", 1),
    ("ANSWER: [1, 2, 3]", 1),
    ("ANSWER: 1 or 2", 1),
    ("ANSWER: 1", True),
    ("ANSWER: true", 1),
    ("ANSWER: null", 1),
    ("ANSWER: NaN", 1),
    ('ANSWER: {"weight": 3, "weight": 4}', PATH),
    ("<think>ANSWER: 42", 1),
    ('<think>I end with "</think>" and\nANSWER: 42', 1),
    ("<think>ANSWER: 42</think>", 1),
    ("ANSWER: " + "9" * 9000, 1),
    ("ANSWER: " + "[" * 9000, [1]),
    ("ANSWER: " + "-" * 9000 + "1", 1),
    ("ANSWER: " + "9" * 9000 + ", 1", [1]),
    ("ANSWER: {'weight': 3, 'weight': 4}", PATH),
    ("ANSWER: {'path': [{1: 2, 1: 3}]}", PATH),
    ("ANSWER: 7 # or 8", 1),
    ("ANSWER: [7, 8] # or [8, 7]", [1]),
    ("ANSWER: {'a': 1 # or 2\n}", {}),
    ("".join(f"ANSWER: {n}\n" for n in range(3)) + "ANSWER: 7\n" * 100, 1),
    ("".join(f"ANSWER: {n}\n" for n in range(5000)), 1),
]


@pytest.mark.parametrize(("reply", "like", "value"), READS)
def test_valid_forms_are_read(reply: str, like: Json, value: Json) -> None:
    said = read(reply, like)
    assert said.text == key(value)
    assert said.rule in ("marker", "marker_below", "marker_fenced", "marker_corrected", "boxed", "whole")


@pytest.mark.parametrize(("reply", "like"), UNREADABLE)
def test_everything_else_is_unreadable_and_the_rule_says_why(reply: str, like: Json) -> None:
    said = read(reply, like)
    assert said.text is None
    assert said.rule


@pytest.mark.parametrize("wrong", ["[5, 3, 0]", "0, 3", "[0, 3, 5, 5]"])
def test_order_and_multiplicity_matter(wrong: str) -> None:
    said = read(f"ANSWER: {wrong}", [1])
    assert said.text is not None
    assert said.text != key([0, 3, 5])


@pytest.mark.parametrize(
    "filler",
    [
        "ANSWER: 1\n",
        "ANSWER",
        "\\boxed{1}",
        "\\boxed{",
        "<think>",
        "```\n",
        "*",
        "(",
        "answer_",
        "ANSWER:```\n",
        "ANSWER: ```1``` ",
    ],
)
def test_hostile_repetition_is_read_in_reasonable_work(filler: str) -> None:
    for like in (1, [1], PATH):
        read(filler * (190_000 // len(filler)), like)


@contextmanager
def _at_most(cpu_s: float) -> Iterator[None]:
    """An end to work that would take minutes; what is linear needs a hundredth of this."""

    def stop(*_: Any) -> None:
        raise AssertionError(f"not read within {cpu_s} seconds of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize(
    "said",
    [
        "1{}" + " " * 9900 + "x\n",
        "[1{}" + " " * 9900 + "x\n",
        "[1{}" + "\t,\t" * 3200 + "x\n",
        "\\boxed{{" + "{}" + "\\{{x\\}}" * 30 + "}}z\n",
        "`{}" + "*_" * 4900 + "x\n",
    ],
)
def test_one_value_is_read_in_work_that_grows_with_its_length_alone(said: str) -> None:
    for like in (1, [1], PATH):
        with _at_most(20.0):
            read("".join("ANSWER: " + said.format(n) for n in range(190_000 // len(said))), like)


@pytest.mark.parametrize("start", ["ANSWER: ```", "ANSWER:\n```\n1\n```\n"])
@pytest.mark.parametrize("filler", [" ", "\n", "`", "```\n", "``` x", "*", "~~~~`"])
def test_hostile_fences_are_read_in_reasonable_work(start: str, filler: str) -> None:
    read(start + filler * (190_000 // len(filler)) + "x", 1)


@pytest.mark.parametrize("remark", ["", "\n", "\n.\n", "\nHm.\n", "\nor maybe\n", "\nWait, that misses one.\n"])
@pytest.mark.parametrize("end", ["", "\n", "\nSo it is."])
def test_a_second_answer_counts_only_as_a_correction_in_words_with_nothing_behind(remark: str, end: str) -> None:
    said = read(f"ANSWER: 6\n{remark}\nANSWER: 7{end}", 1)
    corrected = "misses" in remark and not end.strip()
    assert (said.text, said.rule) == ((key(7), "marker_corrected") if corrected else (None, "several_answers"))
