"""Numbers from samples, with what they are worth: exact where they can be, null where they are undefined.

Samples of one problem, and in code mode all problems that share a prompt, are one cluster: intervals count clusters and
not samples.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, exp, lgamma, log
from statistics import NormalDist


def pass_at_k(samples: int, correct: int, k: int) -> Fraction | None:
    """Chance that at least one of `k` samples drawn without replacement is right: 1 - C(n-c, k) / C(n, k).

    Unbiased for samples >= k (Chen et al., 2021); None below that. Raises ValueError unless 0 <= correct <= samples and
    k >= 1.
    """
    _check(samples, correct, k)
    if samples < k:
        return None
    return 1 - Fraction(comb(samples - correct, k), comb(samples, k))


def pass_hat_k(samples: int, correct: int, k: int) -> Fraction | None:
    """Chance that all of `k` samples drawn without replacement are right: C(c, k) / C(n, k) (Yao et al., 2024).

    None for samples < k; raises ValueError as pass_at_k does.
    """
    _check(samples, correct, k)
    if samples < k:
        return None
    return Fraction(comb(correct, k), comb(samples, k))


def mean(values: Sequence[Fraction | None]) -> Fraction | None:
    """Mean over problems; None when there is none or any is undefined: a mean over the rest is of another set."""
    defined = [value for value in values if value is not None]
    return sum(defined, Fraction(0)) / len(defined) if defined and len(defined) == len(values) else None


def bounds(passed: int, failed: int, unscored: int) -> tuple[Fraction, Fraction] | None:
    """Share of passed samples if every unscored one had failed, and if every one had passed; None without samples."""
    total = passed + failed + unscored
    return (Fraction(passed, total), Fraction(passed + unscored, total)) if total else None


def _check(samples: int, correct: int, k: int) -> None:
    if k < 1 or not 0 <= correct <= samples:
        raise ValueError(
            f"pass@k needs 0 <= correct <= samples and k >= 1, got samples={samples}, correct={correct}, k={k}"
        )


@dataclass(frozen=True)
class Interval:
    """An estimate in [0, 1] with its confidence interval."""

    estimate: float
    low: float | None
    high: float | None
    """None with fewer than two clusters: one cluster says nothing about how much clusters differ."""
    clusters: int
    method: str


def clustered_interval(clusters: Sequence[Sequence[float]], *, confidence: float = 0.95) -> Interval | None:
    """Mean of all values with an interval that lets values within one cluster depend on each other in any way.

    Values lie in [0, 1]. Sandwich variance with Student's t on (clusters - 1) degrees of freedom (Miller, 2024,
    "Adding error bars to evals"); when all clusters agree that variance is 0, and Wilson's interval (1927) with one
    trial a cluster stands in. Cut to [0, 1]. None without any value.
    """
    filled = [list(values) for values in clusters if values]
    count = sum(len(values) for values in filled)
    if not count:
        return None
    estimate = sum(sum(values) for values in filled) / count
    groups = len(filled)
    if groups < 2:
        return Interval(estimate, None, None, groups, "undefined")
    residuals = [sum(values) - estimate * len(values) for values in filled]
    variance = groups / (groups - 1) * sum(residual * residual for residual in residuals) / count**2
    if variance < 1e-18:
        return Interval(estimate, *_wilson(estimate, groups, confidence), groups, "wilson")
    half = student_t((1 + confidence) / 2, groups - 1) * variance**0.5
    return Interval(estimate, max(0.0, estimate - half), min(1.0, estimate + half), groups, "clustered_t")


@cache
def student_t(probability: float, freedom: int) -> float:
    """Quantile of Student's t for a probability of at least one half, by bisection on the incomplete beta function."""
    if not 0.5 <= probability < 1 or freedom < 1:
        raise ValueError(f"student_t needs 0.5 <= probability < 1 and freedom >= 1, got {probability} and {freedom}")
    low, high = 0.0, 1.0
    while _student_cdf(high, freedom) < probability:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_cdf(middle, freedom) < probability else (low, middle)
    return high


def _wilson(estimate: float, trials: int, confidence: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (estimate + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * (estimate * (1 - estimate) / trials + z * z / (4 * trials * trials)) ** 0.5
    return max(0.0, centre - half), min(1.0, centre + half)


def _student_cdf(t: float, freedom: int) -> float:
    return 1 - 0.5 * _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function by Lentz's continued fraction (Press et al., Numerical Recipes, 6.4)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = exp(a * log(x) + b * log(1 - x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
    fraction = c = 1.0
    d = 0.0
    for step in range(400):
        m = step // 2
        if step == 0:
            term = 1.0
        elif step % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + term * d or 1e-300)
        c = 1 + term / c or 1e-300
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * (fraction - 1)


def krippendorff_alpha(units: Sequence[Sequence[Hashable]]) -> float | None:
    """Agreement beyond chance of any number of judges about nominal values; 1 is perfect, 0 is chance (Krippendorff, 2004).

    One sequence a unit, with the values that judges gave it in any order; who gave none is left out, and units with
    fewer than two values count for nothing. None where nothing can be paired, or where all values are equal: without
    any difference there is no chance to measure against.
    """
    pairable = [unit for unit in units if len(unit) > 1]
    values = Counter(value for unit in pairable for value in unit)
    total = sum(values.values())
    if total < 2 or len(values) < 2:
        return None
    observed = Fraction(0)
    for unit in pairable:
        counts = Counter(unit).values()
        observed += Fraction(len(unit) ** 2 - sum(n * n for n in counts), len(unit) - 1)
    expected = Fraction(total * total - sum(n * n for n in values.values()), total - 1)
    return float(1 - observed / expected)
