"""Wilcoxon's signed-rank test, with the Hodges-Lehmann estimate of the median difference."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.comparison.test_results import Estimate, SignificanceResult, check_alternative, check_level
from fastmetrics._core.distributions.normal import normal_pvalue, two_sided_quantile
from fastmetrics._core.exact import divide
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.metrics.significance.paired_samples import as_differences

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike
    from fastmetrics._core.types.options import Alternative, WilcoxonMethod, ZeroMethod

__all__ = ["wilcoxon"]

# "auto" is exact up to these numbers of differences that are not zero: without ties, and with ties. Only they have a
# sign. The numbers are scipy's, which also counts zeros.
MAX_AUTO_EXACT_PAIRS = 50
MAX_AUTO_EXACT_TIED_PAIRS = 13
MAX_EXACT_PAIRS = 500
# If at most this many sums are left, they are listed and partitioned. For many values: this many per value.
MAX_LISTED_SUMS = 1 << 14
SUMS_PER_VALUE = 8


class RankSums(NamedTuple):
    """Sums of signed ranks as integers: ranks are doubled, sums are multiplied by 4."""

    ranks: np.ndarray  # doubled, of the differences that are not zero
    positive: int
    negative: int
    added: int  # contribution of zeros to either sum
    center: int  # expected sum of the positive ranks
    variance: int  # of the sum of positive ranks, times 48
    ties: bool  # among the differences that are not zero


@answers_unknown
def wilcoxon(
    a: NumericArrayLike,
    b: NumericArrayLike | None = None,
    *,
    zero_method: ZeroMethod = "wilcox",
    correction: bool = False,
    alternative: Alternative = "two-sided",
    method: WilcoxonMethod = "auto",
    ci: float | None = 0.95,
) -> SignificanceResult:
    """Test whether the differences of pairs are symmetric about zero.

    The differences a - b are ranked by magnitude; equal ones share their mean rank. T+ is the sum of the ranks of the
    positive differences. F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945;
    scipy.stats.wilcoxon, with its options and defaults. The effect size is the matched-pairs rank-biserial correlation
    (T+ - T-) / (T+ + T-) (D. Kerby, 2014).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The value of each system for every unit (user, query), finite numbers, with the same units in the same order.
        Without `b`, `a` has the differences.
    zero_method : {"wilcox", "pratt", "zsplit"}
        "wilcox": differences of 0 are dropped. "pratt": they are ranked, then dropped. "zsplit": they are ranked, and
        half of their ranks is added to each side.
    correction : bool
        Continuity correction of 1/2 if the normal distribution is used.
    alternative : {"two-sided", "less", "greater"}
        "greater": the differences lie above zero.
    method : {"auto", "exact", "asymptotic"}
        "exact": over all 2^n signs of the ranks, also if ranks are tied (at most 500 differences). "asymptotic": the
        normal distribution with the variance corrected for ties. "auto" is exact up to 50 differences that are not
        zero, and up to 13 if some of them have equal magnitudes.
    ci : float or None
        Level of the interval of the median difference; None for neither interval nor estimate.

    Returns
    -------
    SignificanceResult
        The statistic is min(T+, T-), or T+ if one-sided. The estimate "median difference" is the Hodges-Lehmann
        estimate: the median of the means of all pairs of differences (each also with itself, zeros included). `ci` is
        its interval from the distribution of the signed ranks: exact without ties up to 50 differences, otherwise
        normal.
        Too few pairs have no interval of that level (fewer than 6 at 0.95). `n` counts the ranked differences.

    Raises
    ------
    ValueError
        Fewer than two pairs, different lengths, NaN or infinite values, an exact test of too many differences.

    Notes
    -----
    If all differences are zero, p is 1 and `method` notes it. With ties, method="exact" counts the signs of the tied
    ranks; scipy uses the distribution without ties. scipy's "auto" counts zeros too: of 14 pairs of which 5 differ it
    uses the normal distribution. Differences are compared as floats: round values that should tie.

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
    validation.check_option(zero_method, "zero_method", ("wilcox", "pratt", "zsplit"))
    validation.check_option(method, "method", ("auto", "exact", "asymptotic"))
    validation.check_flag(correction, "correction")
    differences, _ = as_differences(a, b)
    sums = rank_sums(differences, zero_method)
    n = differences.shape[0]
    n_zero = n - sums.ranks.shape[0]
    ranked = sums.ranks.shape[0] if zero_method == "wilcox" else n
    name = "Wilcoxon signed-rank test"
    effect = "rank-biserial correlation"
    if n_zero == n:
        return SignificanceResult(0.0, 1.0, None, 0.0, None, ranked, f"{name}; all differences are 0: p = 1", effect)
    if method == "auto":
        limit = MAX_AUTO_EXACT_TIED_PAIRS if sums.ties else MAX_AUTO_EXACT_PAIRS
        method = "exact" if n - n_zero <= limit else "asymptotic"
    if method == "exact":
        if n - n_zero > MAX_EXACT_PAIRS:
            text = f"method='exact' takes at most {MAX_EXACT_PAIRS} differences that are not zero; found {n - n_zero}"
            raise ValueError(text)
        pvalue = exact_pvalue(sums, alternative)
    else:
        pvalue = asymptotic_pvalue(sums, alternative, correction)
    estimates: tuple[Estimate, ...] = ()
    interval = None
    if ci is not None:
        rank = interval_rank(n, ci)
        low, middle, high = walsh_averages(differences, rank)
        interval = (low, high) if rank else None
        estimates = (Estimate("median difference", middle, interval),)
    both = sums.positive + sums.negative
    return SignificanceResult(
        (min(sums.positive, sums.negative) if alternative == "two-sided" else sums.positive) / 4,
        pvalue,
        None,
        (sums.positive - sums.negative) / both,
        interval,
        ranked,
        f"{name}, {'exact' if method == 'exact' else 'normal approximation'}",
        effect,
        "median difference",
        estimates,
    )


def rank_sums(differences: np.ndarray, zero_method: str) -> RankSums:
    """Rank the differences by magnitude and sum the ranks."""
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
    tie_lengths, n_ties = np.unique(tied, return_counts=True)
    ties = sum(count * (t**3 - t) for t, count in zip(tie_lengths.tolist(), n_ties.tolist(), strict=True))
    n_dropped = zeros if zero_method == "pratt" else 0
    return RankSums(
        doubled,
        2 * above + added,
        2 * (total - above) + added,
        added,
        n * (n + 1) - n_dropped * (n_dropped + 1),
        2 * (n * (n + 1) * (2 * n + 1) - n_dropped * (n_dropped + 1) * (2 * n_dropped + 1)) - ties,
        bool(np.any(lengths[starts >= n_zero] > 1)),
    )


def asymptotic_pvalue(sums: RankSums, alternative: str, correction: bool) -> float:
    excess = (sums.positive - sums.center) / 4
    if correction:
        excess -= {"greater": 0.5, "less": -0.5, "two-sided": math.copysign(0.5, excess) if excess else 0.0}[
            alternative
        ]
    return normal_pvalue(excess / math.sqrt(sums.variance / 48), alternative)


def exact_pvalue(sums: RankSums, alternative: str) -> float:
    """The share of all choices of signs whose sum is at least as extreme."""
    doubled: list[int] = sums.ranks.tolist()
    above, total = (sums.positive - sums.added) // 2, sum(doubled)
    sides = {"less": above, "greater": total - above, "two-sided": min(above, total - above)}
    count = count_sums(doubled, sides[alternative])
    if alternative == "two-sided":
        return min(divide(2 * count, 1 << len(doubled)), 1.0)
    return divide(count, 1 << len(doubled))


def count_sums(ranks: list[int], limit: int) -> int:
    """The number of subsets of the ranks whose sum is at most `limit`.

    The numbers of subsets of each sum are the digits of one long integer, each wide enough for 2^n. Adding a rank is
    one shift and one addition. B. Streitberg, J. Roehmel, "Exact distributions for permutation and rank tests", 1986.
    """
    step = math.gcd(*ranks)
    width = len(ranks) + 2
    kept = (1 << (width * (limit // step + 1))) - 1
    digits = 1
    for rank in ranks:
        digits = (digits + (digits << (width * (rank // step)))) & kept
    # A number is congruent to the sum of its digits modulo the base minus one.
    return digits % ((1 << width) - 1)


def interval_rank(n: int, ci: float) -> int:
    """The rank, from either end, of the Walsh averages at the ends of the interval; 0 if there is no interval."""
    if n <= MAX_AUTO_EXACT_PAIRS:
        return int(np.searchsorted(signed_rank_tails(n), (1 - ci) / 2, side="right"))
    variance = n * (n + 1) * (2 * n + 1) / 24
    return max(math.floor(n * (n + 1) / 4 - two_sided_quantile(ci) * math.sqrt(variance)), 0)


@lru_cache(maxsize=MAX_AUTO_EXACT_PAIRS)
def signed_rank_tails(n: int) -> np.ndarray:
    """P(T+ <= t) for n differences without ties, for every t."""
    ways = np.zeros(n * (n + 1) // 2 + 1, np.int64)
    ways[0] = 1
    for rank in range(1, n + 1):
        ways[rank:] += ways[:-rank].copy()
    return np.cumsum(ways) / float(1 << n)


def walsh_averages(differences: np.ndarray, rank: int) -> tuple[float, float, float]:
    """The rank-th smallest, the median, and the rank-th largest Walsh average; J. Hodges, E. Lehmann, 1963.

    With rank 0 there is no interval, and the smallest and largest are NaN.
    """
    values = np.sort(differences)
    n = values.shape[0]
    total = n * (n + 1) // 2
    middle = (total + 1) // 2
    ranks = [middle, total + 1 - middle] + ([rank, total + 1 - rank] if rank else [])
    if total <= MAX_LISTED_SUMS:
        first, second = np.triu_indices(n)
        sums = values[first] + values[second]
        sums.partition([one - 1 for one in ranks])
        selected = [float(sums[one - 1]) for one in ranks]
    else:
        by_rank = {one: select_sum(values, one) for one in set(ranks)}
        selected = [by_rank[one] for one in ranks]
    low, high = (selected[2] / 2, selected[3] / 2) if rank else (math.nan, math.nan)
    return low, (selected[0] + selected[1]) / 4, high


def select_sum(values: np.ndarray, rank: int) -> float:
    """The rank-th smallest sum of two ascending values, each also with itself."""
    low, high = -math.inf, math.inf
    below, at_most = 0, values.shape[0] * (values.shape[0] + 1) // 2
    start, stop = 2 * float(values[0]), 2 * float(values[-1])
    # Bisect (low, high] until it has few enough sums to list.
    few = max(MAX_LISTED_SUMS, SUMS_PER_VALUE * values.shape[0])
    while at_most - below > few:
        middle = (start + stop) / 2
        if not start < middle < stop:
            return smallest_sum_from(values, start)
        count = int(count_sums_at_most(values, middle).sum())
        if count >= rank:
            high, stop, at_most = middle, middle, count
        else:
            low, start, below = middle, middle, count
    firsts = np.zeros(values.shape[0], np.int64) if low == -math.inf else count_sums_at_most(values, low)
    lasts = count_sums_at_most(values, high)
    many = lasts - firsts
    row = np.repeat(np.arange(values.shape[0]), many)
    within = np.arange(row.shape[0]) - np.repeat(np.cumsum(many) - many, many)
    sums = values[row] + values[row + firsts[row] + within]
    return float(np.partition(sums, rank - below - 1)[rank - below - 1])


def smallest_sum_from(values: np.ndarray, start: float) -> float:
    """The smallest sum that is at least `start`, up to rounding; many ties have this sum."""
    rounding = 4 * float(np.finfo(np.float64).eps * np.abs(values).max())
    rows = np.arange(values.shape[0])
    partners = np.maximum(np.searchsorted(values, start - rounding - values, side="left"), rows)
    has_one = partners < values.shape[0]
    return float((values[has_one] + values[partners[has_one]]).min())


def count_sums_at_most(values: np.ndarray, limit: float) -> np.ndarray:
    """For each of the ascending values, the number of sums with itself and later values that are at most `limit`."""
    stops = np.searchsorted(values, limit - values, side="right")
    return np.asarray(np.maximum(stops - np.arange(values.shape[0]), 0))
