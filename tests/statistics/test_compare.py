"""Two runs paired by key: shuffled, partly unscored, with shared prompts."""

from random import Random

import pytest

from proceval.paired import compare, sentences
from proceval.schema import Verdict


def verdict(problem: int, sample: int, outcome: str, *, prompt: str | None = None) -> Verdict:
    fault = "none" if outcome == "passed" else outcome.removesuffix("_fault") if outcome.endswith("_fault") else "model"
    return Verdict(
        model="m", base_url=None, arm="default", strategy="flat", mode="code", problem_id=f"p{problem}", family="f",
        domain="d", difficulty="easy", prompt_sha256=prompt or f"q{problem}", sample=sample, outcome=outcome, fault=fault,
        tests=(), extraction="", turns=1, prompt_tokens=1, completion_tokens=1, cost_usd=None, latency_s=0.0, detail="",
    )  # type: ignore[arg-type]  # fmt: skip


def run(outcomes: str, **more: str) -> list[Verdict]:
    return [
        verdict(n, 0, {"1": "passed", "0": "wrong_answer", "?": "provider_fault"}[o], **more)
        for n, o in enumerate(outcomes)
    ]


def test_pairs_are_made_by_key_and_unscored_samples_pair_with_nothing() -> None:
    first, second = run("1100?1"), run("1011??")
    Random(1).shuffle(second)
    found = compare(first, second)
    assert (found.pairs, found.problems, found.prompts, found.unpaired) == (4, 4, 4, (1, 0))
    assert (found.only_first, found.only_second) == (1, 2)
    assert found.accuracy == (0.5, 0.75)
    assert found.difference == 0.25
    assert found.mcnemar_p == 1.0


def test_a_clear_difference_is_clear_and_none_is_none() -> None:
    clear = compare(run("0" * 12 + "1" * 8), run("1" * 20))
    assert clear.mcnemar_p == clear.sign_flip_p == pytest.approx(2 / 2**12)
    assert clear.low is not None
    assert clear.low > 0
    same = compare(run("01" * 10), run("01" * 10))
    assert (same.difference, same.sign_flip_p, same.prompts_needed) == (0, 1, None)


def test_problems_of_one_prompt_are_one_task() -> None:
    """Twenty problems of one prompt prove nothing about other prompts, however clear they are."""
    found = compare(run("0" * 20, prompt="same"), run("1" * 20, prompt="same"))
    assert (found.prompts, found.problems) == (1, 20)
    assert (found.low, found.high, found.mcnemar_p) == (None, None, None)
    assert found.sign_flip_p == 1


def test_prompts_of_either_run_join_problems_whichever_comes_first() -> None:
    """The first run has a prompt for two problems, the second one for another two: four problems, two tasks."""
    left = [verdict(n, 0, "passed", prompt=prompt) for n, prompt in enumerate("aabcd")]
    right = [verdict(n, 0, "wrong_answer", prompt=prompt) for n, prompt in enumerate("vwwxy")]
    there, back = compare(left, right), compare(right, left)
    assert (there.prompts, back.prompts) == (3, 3)
    assert there.sign_flip_p == back.sign_flip_p == 2 / 2**3
    assert (there.difference, back.difference) == (-1, 1)
    one, other = run("0110" * 5, prompt="p")[:10] + run("0110" * 5)[10:], run("1010" * 5)
    there, back = compare(one, other), compare(other, one)
    assert there.prompts == back.prompts == 11
    assert there.low == -(back.high or 0)
    assert there.mcnemar_p is back.mcnemar_p is None


def test_runs_of_different_modes_are_different_tasks() -> None:
    answers = [verdict.model_copy(update={"mode": "answer"}) for verdict in run("11")]
    for pair in ((answers, run("01")), (run("01"), answers)):
        with pytest.raises(ValueError, match="different modes, (answer and code|code and answer)"):
            compare(*pair)


def test_no_more_is_claimed_than_the_exact_test_can_show() -> None:
    few = compare(run("0" * 3), run("1" * 3))
    assert (few.sign_flip_p, few.low, few.high, few.prompts_needed) == (0.25, None, None, 6)
    assert "fewer than 6 prompts: no interval, and no difference could be significant at the 5% level" in sentences(
        few, first="a", second="b"
    )
    alike = compare(run("0" * 6), run("1" * 6))
    assert (alike.sign_flip_p, alike.low, alike.prompts_needed) == (2 / 2**6, None, 6)
    assert "all prompts differ alike: drawing among them gives no interval" in sentences(alike, first="a", second="b")


def test_runs_that_share_nothing_compare_to_nothing() -> None:
    found = compare(run("11"), [])
    assert (found.pairs, found.accuracy, found.difference, found.mcnemar_p, found.sign_flip_p) == (
        0,
        None,
        None,
        None,
        None,
    )


def test_a_run_with_one_sample_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="p0, sample 0 occurs twice"):
        compare(run("1") + run("0"), run("1"))


def test_the_comparison_in_words() -> None:
    found = compare(run("1100?1" * 5), run("1011??" * 5))
    first = run("11")
    assert sentences(compare(first, []), first="a", second="b") == [
        "a and b share no scored sample: nothing to compare"
    ]
    assert sentences(found, first="a", second="b") == [
        "20 pairs of samples, 20 problems, 20 distinct prompts",
        "a 50.0%, b 75.0%, difference +25.0% [-15.0%, +60.0%]",
        "solved by a alone 5, by b alone 10",
        "exact McNemar test: p = 0.302",
        "exact sign-flip test over prompts: p = 0.302",
        "about 91 distinct prompts would show such a difference (80% power, 5% level)",
        "left out, without a scored partner: 5 of a, 0 of b",
    ]
    alone = sentences(compare(run("0" * 3, prompt="p"), run("1" * 3, prompt="p")), first="a", second="b")
    assert "one prompt is one task: no interval, and no claim beyond it" in alone
