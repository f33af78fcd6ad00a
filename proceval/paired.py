"""Two runs on the same problems: is one better, how sure is that, and what would settle it?

Pairs are formed by key (problem id and sample number), never by position, and only where both sides were scored. All
problems that share a prompt in either run are one cluster, as they are one task there.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, log2
from statistics import NormalDist

from proceval.schema import Verdict
from proceval.seeding import rng
from proceval.words import counted

RESAMPLES = 10_000
FEWEST = 6
"""Prompts below which no outcome is significant at the 5% level: an exact two-sided test of n gives 2 / 2^n at best."""


@dataclass(frozen=True)
class Comparison:
    """What pairing two runs gives; shares and probabilities are None where they are undefined."""

    problems: int
    """Problems with at least one pair."""
    prompts: int
    """Distinct prompts among them, prompts with a problem in common being one: what interval and sign-flip test count."""
    pairs: int
    unpaired: tuple[int, int]
    """Samples of each run that have no scored partner in the other."""
    accuracy: tuple[float, float] | None
    difference: float | None
    """Accuracy of the second run minus that of the first, over the pairs."""
    low: float | None
    high: float | None
    """95% interval of the difference, by bootstrap over prompts; None with fewer than FEWEST, or where all differ alike."""
    only_first: int
    only_second: int
    """Problems that one run solves and the other does not, in the first pair of each problem."""
    mcnemar_p: float | None
    """Exact two-sided McNemar test on those; takes problems for independent, so it is None unless each has its own prompt."""
    sign_flip_p: float | None
    """Exact two-sided test that flips whole prompts; valid however the problems of one prompt hang together."""
    prompts_needed: int | None
    """Distinct prompts that would show a difference of this size with 80% power at the 5% level; None when there is none."""


def compare(first: Iterable[Verdict], second: Iterable[Verdict]) -> Comparison:
    """Pair two runs.

    Raises ValueError when a run holds one sample twice, as a run of several models does, and for runs of different modes:
    a program for all instances and the answer to one are different tasks.
    """
    left, right = _scored(first), _scored(second)
    check_modes(left.values(), right.values())
    shared = sorted(set(left) & set(right))
    task_of = tasks([(left[key].prompt_sha256, right[key].prompt_sha256) for key in shared])
    clusters: dict[str, list[tuple[int, int]]] = defaultdict(list)
    firsts: dict[str, tuple[int, int]] = {}
    for key in shared:
        pair = int(left[key].passed), int(right[key].passed)
        clusters[task_of[left[key].prompt_sha256]].append(pair)
        firsts.setdefault(key[0], pair)
    groups = list(clusters.values())
    only_first = sum(a > b for a, b in firsts.values())
    only_second = sum(b > a for a, b in firsts.values())
    differences = [sum(b - a for a, b in group) for group in groups]
    alike = len({Fraction(sum(b - a for a, b in group), len(group)) for group in groups}) < 2
    low, high = (None, None) if len(groups) < FEWEST or alike else bootstrap(groups)
    total = len(shared)
    independent = total > 0 and len(groups) == len(firsts)
    return Comparison(
        problems=len(firsts),
        prompts=len(groups),
        pairs=total,
        unpaired=(len(left) - total, len(right) - total),
        accuracy=(sum(left[k].passed for k in shared) / total, sum(right[k].passed for k in shared) / total)
        if total
        else None,
        difference=sum(differences) / total if total else None,
        low=low,
        high=high,
        only_first=only_first,
        only_second=only_second,
        mcnemar_p=float(mcnemar(only_first, only_second)) if independent else None,
        sign_flip_p=float(sign_flip(differences)) if total else None,
        prompts_needed=clusters_needed([sum(b - a for a, b in group) / len(group) for group in groups]),
    )


def sentences(found: Comparison, *, first: str, second: str) -> list[str]:
    """The comparison in words, one finding a line, with its reservations."""
    if found.accuracy is None or found.difference is None:
        return [f"{first} and {second} share no scored sample: nothing to compare"]
    left, right = found.accuracy
    lines = [
        f"{counted(found.pairs, 'pair')} of samples, {counted(found.problems, 'problem')}, "
        f"{counted(found.prompts, 'distinct prompt')}",
        f"{first} {left:.1%}, {second} {right:.1%}, difference {found.difference:+.1%}"
        + ("" if found.low is None or found.high is None else f" [{found.low:+.1%}, {found.high:+.1%}]"),
        f"solved by {first} alone {found.only_first}, by {second} alone {found.only_second}",
    ]
    if found.mcnemar_p is not None:
        lines.append(f"exact McNemar test: p = {found.mcnemar_p:.3g}")
    lines.append(f"exact sign-flip test over prompts: p = {found.sign_flip_p:.3g}")
    if found.prompts < 2:
        lines.append("one prompt is one task: no interval, and no claim beyond it")
    elif found.prompts < FEWEST:
        lines.append(
            f"fewer than {FEWEST} prompts: no interval, and no difference could be significant at the 5% level"
        )
    elif found.low is None:
        lines.append("all prompts differ alike: drawing among them gives no interval")
    if found.prompts_needed is not None:
        lines.append(
            f"about {found.prompts_needed} distinct prompts would show such a difference (80% power, 5% level)"
        )
    if any(found.unpaired):
        lines.append(
            f"left out, without a scored partner: {found.unpaired[0]} of {first}, {found.unpaired[1]} of {second}"
        )
    return lines


def mcnemar(only_first: int, only_second: int) -> Fraction:
    """Exact two-sided McNemar test (1947): chance of a split at least this uneven among the discordant pairs."""
    trials = only_first + only_second
    tail = sum(comb(trials, k) for k in range(min(only_first, only_second) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**trials))


def sign_flip(differences: Sequence[int]) -> Fraction:
    """Exact two-sided permutation test: chance of a sum at least this far from 0 if every sign were a coin's.

    One difference a cluster. Counted by dynamic programming over all 2^n signs; work is n times the sum of sizes. With
    differences of one it is McNemar's test.
    """
    sizes = [abs(d) for d in differences if d]
    ways = {0: 1}
    for size in sizes:
        grown: dict[int, int] = defaultdict(int)
        for total, count in ways.items():
            grown[total + size] += count
            grown[total - size] += count
        ways = grown
    observed = abs(sum(differences))
    return Fraction(sum(count for total, count in ways.items() if abs(total) >= observed), 2 ** len(sizes))


def bootstrap(groups: Sequence[Sequence[tuple[int, int]]], *, confidence: float = 0.95) -> tuple[float, float]:
    """Percentile interval of the mean paired difference, resampling whole clusters (Efron, 1979); same bytes every time."""
    sums = [(sum(b - a for a, b in group), len(group)) for group in groups]
    random = rng("bootstrap", len(sums))
    found = []
    for _ in range(RESAMPLES):
        drawn = random.choices(sums, k=len(sums))
        found.append(sum(d for d, _ in drawn) / sum(n for _, n in drawn))
    found.sort()
    tail = (1 - confidence) / 2
    return found[int(tail * RESAMPLES)], found[min(RESAMPLES - 1, ceil((1 - tail) * RESAMPLES) - 1)]


def clusters_needed(differences: Sequence[float], *, power: float = 0.8, level: float = 0.05) -> int | None:
    """Clusters that would separate a mean difference of the size observed, by the normal approximation.

    Never fewer than the exact test needs to reject anything, 6 at the 5% level. None for fewer than two clusters and for
    no difference at all.
    """
    count = len(differences)
    mean = sum(differences) / count if count else 0.0
    if count < 2 or mean == 0:
        return None
    variance = sum((d - mean) ** 2 for d in differences) / (count - 1)
    quantiles = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(power)
    return max(ceil(log2(2 / level)), ceil(quantiles**2 * variance / mean**2))


def check_modes(first: Iterable[Verdict], second: Iterable[Verdict]) -> None:
    """Raises ValueError for runs of different modes; a run without verdicts has none."""
    modes = [sorted({verdict.mode for verdict in side}) for side in (first, second)]
    if all(modes) and modes[0] != modes[1]:
        raise ValueError(f"the runs have different modes, {'+'.join(modes[0])} and {'+'.join(modes[1])}")


def tasks(prompts: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Prompt of the first run -> its task: prompts that are joined, maybe by way of others, through the second's."""
    joined: dict[tuple[int, str], tuple[int, str]] = {}

    def top(one: tuple[int, str]) -> tuple[int, str]:
        while joined.setdefault(one, one) != one:
            joined[one] = joined[joined[one]]
            one = joined[one]
        return one

    for left, right in prompts:
        joined[top((1, right))] = top((0, left))
    return {left: "".join(map(str, top((0, left)))) for left, _ in prompts}


def _scored(verdicts: Iterable[Verdict]) -> dict[tuple[str, int], Verdict]:
    found: dict[tuple[str, int], Verdict] = {}
    seen = set()
    for verdict in verdicts:
        key = verdict.problem_id, verdict.sample
        if key in seen:
            raise ValueError(
                f"problem {key[0]}, sample {key[1]} occurs twice in one run; compare the runs of one model each"
            )
        seen.add(key)
        if verdict.scored:
            found[key] = verdict
    return found
