"""Exact fractions, published tables, and brute force: the numbers of every report."""

from fractions import Fraction
from itertools import combinations, product
from math import comb
from pathlib import Path
from random import Random

import pytest

from proceval.paired import bootstrap, clusters_needed, mcnemar, sign_flip
from proceval.statistics import bounds, clustered_interval, mean, pass_at_k, pass_hat_k, student_t

DOCUMENTED = (Path(__file__).resolve().parents[2] / "docs/statistics.md").read_text(encoding="utf-8")


def test_pass_at_k_and_pass_hat_k_are_the_share_of_all_draws() -> None:
    for n in range(1, 8):
        for c in range(n + 1):
            samples = [True] * c + [False] * (n - c)
            for k in range(1, n + 1):
                draws = list(combinations(samples, k))
                assert pass_at_k(n, c, k) == Fraction(sum(any(d) for d in draws), len(draws))
                assert pass_hat_k(n, c, k) == Fraction(sum(all(d) for d in draws), len(draws))


def test_pass_at_k_is_undefined_below_k_and_wrong_input_is_an_error() -> None:
    assert pass_at_k(2, 0, 5) is None
    assert pass_at_k(99, 0, 100) is None
    assert pass_at_k(5, 3, 2) == Fraction(9, 10)
    for wrong in [(5, 2, 0), (5, 6, 1), (5, -1, 1)]:
        for function in (pass_at_k, pass_hat_k):
            with pytest.raises(ValueError, match="correct"):
                function(*wrong)


def test_means_are_over_problems_and_never_pooled() -> None:
    one_each = [pass_at_k(1, int(i < 50), 1) for i in range(164)]
    assert mean(one_each) == Fraction(25, 82)
    assert mean([pass_at_k(1, int(i < 50), 10) for i in range(164)]) is None
    two = [(200, 1), (200, 0)]
    assert [mean([pass_at_k(n, c, k) for n, c in two]) for k in (1, 10, 100)] == [
        Fraction(1, 400), Fraction(1, 40), Fraction(1, 4),
    ]  # fmt: skip
    assert mean([]) is None
    assert mean([Fraction(1), None]) is None


def test_bounds_when_samples_are_unscored() -> None:
    assert bounds(3, 5, 2) == (Fraction(3, 10), Fraction(1, 2))
    assert bounds(0, 0, 0) is None


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (6, 2.447), (10, 2.228), (30, 2.042), (120, 1.980)],
)
def test_student_t_agrees_with_the_printed_table(freedom: int, quantile: float) -> None:
    assert round(student_t(0.975, freedom), 3) == quantile


@pytest.mark.parametrize(
    ("prompts", "wrong", "low", "method"),
    [(7, 0, 64.6, "wilson"), (7, 1, 50.8, "clustered_t"), (700, 0, 99.45, "wilson"), (700, 1, 99.58, "clustered_t"),
     (700, 2, 99.32, "clustered_t")],
)  # fmt: skip
def test_the_intervals_that_the_documentation_gives_near_100_percent(
    prompts: int, wrong: int, low: float, method: str
) -> None:
    found = clustered_interval([[0.0]] * wrong + [[1.0]] * (prompts - wrong))
    assert found is not None
    assert found.low is not None
    assert (found.high, found.method) == (1.0, method)
    assert f"[{low}, 100]" in DOCUMENTED
    assert 100 * found.low == pytest.approx(low, abs=0.05 if prompts == 7 else 0.005)


def test_student_t_refuses_what_it_cannot_answer() -> None:
    assert student_t(0.5, 4) == pytest.approx(0, abs=1e-9)
    for wrong in [(0.4, 3), (1.0, 3), (0.9, 0)]:
        with pytest.raises(ValueError, match="student_t"):
            student_t(*wrong)


def test_an_interval_of_singletons_is_the_textbook_one() -> None:
    found = clustered_interval([[1], [0], [1], [1], [0]])
    assert found is not None
    assert found.high is not None
    half = student_t(0.975, 4) * (0.3 / 5) ** 0.5  # sample variance 0.3 of five values
    assert found.high == pytest.approx(min(1, 0.6 + half))


def test_samples_of_one_cluster_are_no_new_evidence() -> None:
    once = clustered_interval([[1], [0], [1], [1], [0]])
    often = clustered_interval([[1] * 50, [0] * 50, [1] * 50, [1] * 50, [0] * 50])
    assert once is not None
    assert often is not None
    assert (once.low, once.high) == (pytest.approx(often.low), pytest.approx(often.high))
    assert often.clusters == 5


def test_intervals_without_variance_or_without_clusters() -> None:
    assert clustered_interval([]) is None
    assert clustered_interval([[], []]) is None
    single = clustered_interval([[1, 0, 1]])
    assert single is not None
    assert (single.low, single.high, single.method) == (None, None, "undefined")
    all_right = clustered_interval([[1, 1]] * 7)
    assert all_right is not None
    assert all_right.low == pytest.approx(7 / (7 + 1.959964**2), abs=1e-6)
    assert all_right.high == 1


def test_the_interval_covers_as_often_as_it_says() -> None:
    """Clusters whose chance of success differs; 95% intervals must cover the truth in about 95% of 400 worlds."""
    random = Random(11)
    covered = 0
    for _ in range(400):
        clusters = []
        for _ in range(25):
            chance = random.choice((0.2, 0.5, 0.8))
            clusters.append([float(random.random() < chance) for _ in range(6)])
        found = clustered_interval(clusters)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.5 <= found.high
    assert 0.91 <= covered / 400 <= 0.985


@pytest.mark.parametrize(("b", "c"), [(0, 0), (5, 0), (10, 2), (59, 6), (3, 3), (121, 59)])
def test_mcnemar_is_the_binomial_sum(b: int, c: int) -> None:
    n = b + c
    as_far = [k for k in range(n + 1) if abs(2 * k - n) >= abs(b - c)]
    assert mcnemar(b, c) == Fraction(sum(comb(n, k) for k in as_far), 2**n)
    assert mcnemar(b, c) == mcnemar(c, b) == sign_flip([1] * b + [-1] * c)


def test_mcnemar_of_a_published_table() -> None:
    """Agresti (1990), approval of a prime minister: 86 against 150 discordant; the exact p is 3.7e-05."""
    assert float(mcnemar(86, 150)) == pytest.approx(3.716e-05, rel=1e-3)


def test_sign_flip_is_the_enumeration() -> None:
    random = Random(3)
    for _ in range(30):
        differences = [random.randint(-4, 4) for _ in range(random.randint(1, 9))]
        sums = [
            sum(s * d for s, d in zip(signs, differences, strict=True))
            for signs in product((1, -1), repeat=len(differences))
        ]
        assert sign_flip(differences) == Fraction(sum(abs(s) >= abs(sum(differences)) for s in sums), len(sums))


def test_bootstrap_repeats_and_brackets() -> None:
    groups = [[(0, 1)], [(0, 1)], [(1, 1)], [(0, 0)], [(1, 0)], [(0, 1)]]
    low, high = bootstrap(groups)
    assert (low, high) == bootstrap(groups)
    assert low < sum(b - a for g in groups for a, b in g) / 6 < high


def test_clusters_needed() -> None:
    assert clusters_needed([1.0, -1.0]) is None
    assert clusters_needed([0.5]) is None
    differences = [1.0] * 30 + [0.0] * 60 + [-1.0] * 10
    variance = (40 - 100 * 0.04) / 99
    assert clusters_needed(differences) == -int(-((1.959964 + 0.841621) ** 2 * variance / 0.04) // 1)
