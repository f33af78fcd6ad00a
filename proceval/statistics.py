"""Numbers from samples, with what they are worth: exact where they can be, null where they are undefined.

Samples of one problem, and in code mode all problems that share a prompt, are one cluster: intervals count clusters and
not samples.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb


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
