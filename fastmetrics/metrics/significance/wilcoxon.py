"""Wilcoxon's signed-rank test, and the median difference that goes with it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.normal import deviations
from fastmetrics._core.significance import (
    Estimate,
    SignificanceResult,
    check_alternative,
    check_level,
    normal_pvalue,
)
from fastmetrics.metrics.significance.pairs import as_differences
from fastmetrics.metrics.significance.walsh import walsh_averages

__all__ = ["wilcoxon"]

ZERO_METHODS = ("wilcox", "pratt", "zsplit")
METHODS = ("auto", "exact", "asymptotic")
# When scipy's "auto" is exact: up to so many differences, and up to so many where some are equal or zero.
EXACT_PAIRS = 50
EXACT_TIED_PAIRS = 13
MOST_EXACT_PAIRS = 500


class RankSums(NamedTuple):
    """Sums of signed ranks as integers: ranks doubled, sums times four."""

    ranks: np.ndarray  # doubled, of the differences that are not zero
    positive: int
    negative: int
    added: int  # what zeros gave to either sum
    centre: int  # the sum of the positive ranks that chance expects
    variance: int  # of that sum, times 48
    ties: bool


def wilcoxon(
    a: Any,
    b: Any = None,
    *,
    zero_method: str = "wilcox",
    correction: bool = False,
    alternative: str = "two-sided",
    method: str = "auto",
    ci: float | None = 0.95,
) -> SignificanceResult:
    """Do the differences of pairs lie symmetrically about zero?

    The differences a - b are ranked by size, equal ones sharing their mean rank; T+ is the sum of the ranks of
    the positive ones. F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945;
    scipy.stats.wilcoxon, with its options and defaults. The effect size is the matched-pairs rank-biserial correlation
    (T+ - T-) / (T+ + T-) (D. Kerby, 2014).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        One value of each system for every unit (user, query): the same units, in the same order. Without `b`, `a`
        are the differences.
    zero_method : {"wilcox", "pratt", "zsplit"}
        Differences of 0 are left out; ranked, then left out; or ranked, and half of their ranks goes to either side.
    correction : bool
        Continuity correction of 1/2 where the normal distribution is used.
    alternative : {"two-sided", "less", "greater"}
        "greater": the differences lie above zero.
    method : {"auto", "exact", "asymptotic"}
        "exact": of all 2^n signs that the ranks could have, also where ranks are tied (at most 500 differences).
        "asymptotic": the normal distribution with the variance that ties leave. "auto" is exact up to 50 pairs, and up
        to 13 where some differences are equal or zero.
    ci : float or None
        Level of the interval of the median difference; None for neither interval nor estimate.

    Returns
    -------
    SignificanceResult
        The statistic is min(T+, T-), and T+ if one-sided. The estimate "median difference" is the Hodges-Lehmann one,
        the median of the means of all two differences (each with itself too, zeros included), and `ci` its interval
        from the distribution of the signed ranks: exact without ties up to 50 differences, else by the normal one.
        There is none of that level for a few pairs (fewer than 6 at 0.95). `n` counts the differences that were ranked.

    Raises
    ------
    ValueError
        Fewer than two pairs, lengths that differ, NaN or infinite values, an exact test of too many differences.

    Notes
    -----
    All differences zero: p = 1, and `method` says so. With ties, method="exact" counts the signs of the tied ranks,
    where scipy's uses the distribution without ties. Differences are compared as floats: round values that should tie.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    >>> after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    >>> print(fm.wilcoxon(before, after))
    Wilcoxon signed-rank test, exact: statistic 5, p 0.03906; rank-biserial correlation 0.7778,
    interval of the median difference (0.01, 0.786); n 9
    """
    check_alternative(alternative)
    check_level(ci)
    inputs.check_option(zero_method, "zero_method", ZERO_METHODS)
    inputs.check_option(method, "method", METHODS)
    inputs.check_flag(correction, "correction")
    differences, _ = as_differences(a, b)
    sums = rank_sums(differences, zero_method)
    n = differences.shape[0]
    n_zero = n - sums.ranks.shape[0]
    ranked = sums.ranks.shape[0] if zero_method == "wilcox" else n
    words = "Wilcoxon signed-rank test"
    effect = "rank-biserial correlation"
    if n_zero == n:
        return SignificanceResult(0.0, 1.0, None, 0.0, None, ranked, f"{words}; all differences are 0: p = 1", effect)
    if method == "auto":
        most = EXACT_TIED_PAIRS if sums.ties or n_zero else EXACT_PAIRS
        method = "exact" if n <= most else "asymptotic"
    if method == "exact":
        if ranked > MOST_EXACT_PAIRS:
            raise ValueError(f"method='exact' takes at most {MOST_EXACT_PAIRS} differences; found {ranked}")
        pvalue = exact_pvalue(sums, alternative)
    else:
        pvalue = asymptotic_pvalue(sums, alternative, correction)
    estimates: tuple[Estimate, ...] = ()
    interval = None
    if ci is not None:
        place = interval_place(n, ci)
        low, middle, high = walsh_averages(differences, place)
        interval = (low, high) if place else None
        estimates = (Estimate("median difference", middle, interval),)
    both = sums.positive + sums.negative
    return SignificanceResult(
        (min(sums.positive, sums.negative) if alternative == "two-sided" else sums.positive) / 4,
        pvalue,
        None,
        (sums.positive - sums.negative) / both,
        interval,
        ranked,
        f"{words}, {'exact' if method == 'exact' else 'normal approximation'}",
        effect,
        "median difference",
        estimates,
    )


def rank_sums(differences: np.ndarray, zero_method: str) -> RankSums:
    """Rank the differences by size."""
    sizes = np.abs(differences)
    order = np.argsort(sizes, kind="stable")
    sizes = sizes[order]
    positive = differences[order] > 0
    n_zero = int(np.searchsorted(sizes, 0.0, side="right"))
    skipped = n_zero if zero_method == "wilcox" else 0
    starts = np.flatnonzero(np.concatenate(([True], sizes[1:] != sizes[:-1])))
    lengths = np.diff(np.append(starts, sizes.shape[0]))
    # The mean of ranks start + 1 .. start + length, doubled.
    doubled = np.repeat(2 * (starts - skipped) + lengths + 1, lengths)[n_zero:]
    n = sizes.shape[0] - skipped
    zeros = n_zero - skipped
    added = zeros * (zeros + 1) if zero_method == "zsplit" else 0
    above = int(doubled[positive[n_zero:]].sum())
    total = int(doubled.sum())
    tied = lengths[(lengths > 1) & (starts >= n_zero)] if zero_method != "zsplit" else lengths[lengths > 1]
    sizes_of_ties, how_often = np.unique(tied, return_counts=True)
    ties = sum(many * (t**3 - t) for t, many in zip(sizes_of_ties.tolist(), how_often.tolist(), strict=True))
    gone = zeros if zero_method == "pratt" else 0
    return RankSums(
        doubled,
        2 * above + added,
        2 * (total - above) + added,
        added,
        n * (n + 1) - gone * (gone + 1),
        2 * (n * (n + 1) * (2 * n + 1) - gone * (gone + 1) * (2 * gone + 1)) - ties,
        bool(tied.shape[0]),
    )


def asymptotic_pvalue(sums: RankSums, alternative: str, correction: bool) -> float:
    ahead = (sums.positive - sums.centre) / 4
    if correction:
        ahead -= {"greater": 0.5, "less": -0.5, "two-sided": math.copysign(0.5, ahead) if ahead else 0.0}[alternative]
    return normal_pvalue(ahead / math.sqrt(sums.variance / 48), alternative)


def exact_pvalue(sums: RankSums, alternative: str) -> float:
    """The share of all choices of signs whose sum is as far out."""
    doubled: list[int] = sums.ranks.tolist()
    above, total = (sums.positive - sums.added) // 2, sum(doubled)
    sides = {"less": above, "greater": total - above, "two-sided": min(above, total - above)}
    count = count_sums(doubled, sides[alternative])
    if alternative == "two-sided":
        return min(divide(2 * count, 1 << len(doubled)), 1.0)
    return divide(count, 1 << len(doubled))


def count_sums(ranks: list[int], most: int) -> int:
    """How many subsets of the ranks have a sum of at most `most`.

    The numbers of subsets of each sum are the digits of one long integer, wide enough for 2^n: to take in a rank is one
    shift and one addition. B. Streitberg, J. Roehmel, "Exact distributions for permutation and rank tests", 1986.
    """
    step = math.gcd(*ranks)
    width = len(ranks) + 2
    kept = (1 << (width * (most // step + 1))) - 1
    digits = 1
    for rank in ranks:
        digits = (digits + (digits << (width * (rank // step)))) & kept
    # A number is its digits' sum, modulo the base less one.
    return digits % ((1 << width) - 1)


def interval_place(n: int, ci: float) -> int:
    """Which of the means of two differences, from either end, is an end of the interval; 0 where none is."""
    if n <= EXACT_PAIRS:
        tail = (1 - ci) / 2
        return int(np.searchsorted(signed_rank_tails(n), tail, side="right"))
    variance = n * (n + 1) * (2 * n + 1) / 24
    return max(math.floor(n * (n + 1) / 4 - deviations(ci) * math.sqrt(variance)), 0)


@lru_cache(maxsize=EXACT_PAIRS)
def signed_rank_tails(n: int) -> np.ndarray:
    """P(T+ <= t) of n differences without ties, for every t."""
    ways = np.zeros(n * (n + 1) // 2 + 1, np.int64)
    ways[0] = 1
    for rank in range(1, n + 1):
        ways[rank:] += ways[:-rank].copy()
    return np.cumsum(ways) / 2.0**n
