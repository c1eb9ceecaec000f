"""Fisher's randomization test of paired samples (sign-flip test)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns.weights import as_weights, check_some_weight
from fastmetrics._core.comparison.mean_differences import mean_difference
from fastmetrics._core.comparison.randomization_test import randomization_test
from fastmetrics._core.comparison.test_results import (
    Estimate,
    SignificanceResult,
    check_alternative,
    check_level,
    check_replicates,
    check_seed,
)
from fastmetrics.metrics.significance.paired_samples import subtract

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike
    from fastmetrics._core.types.options import Alternative

__all__ = ["sign_flip_test"]


@answers_unknown
def sign_flip_test(
    a: NumericArrayLike,
    b: NumericArrayLike | None = None,
    *,
    sample_weight: NumericArrayLike | None = None,
    alternative: Alternative = "two-sided",
    replicates: int = 10_000,
    seed: int = 0,
    ci: float | None = 0.95,
    n_threads: int | None = None,
) -> SignificanceResult:
    """Test whether the mean of paired differences is zero, by Fisher's randomization test.

    If the mean is zero, both signs of a difference are equally likely. The statistic is the mean of d = a - b. p is the
    share of assignments of signs whose mean is at least as extreme. All 2^n assignments are tested if there are at
    most `replicates`; otherwise p is (c + 1) / (R + 1), where c of R random assignments are as extreme. R. A. Fisher,
    The Design of Experiments, 1935; M. D. Smucker, J. Allan, B. Carterette, "A comparison of statistical significance
    tests for information retrieval evaluation", CIKM 2007.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The value of each system for every unit (user, query), finite numbers, with the same units in the same order.
        Without `b`, `a` has the differences.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    alternative : {"two-sided", "less", "greater"}
        "greater": `a` is greater than `b`. Two-sided: the mean is at least as far from zero, in either direction.
    replicates : int
        The number of random assignments. If there are no more assignments than this, all are tested.
    seed : int
        From 0 to 2**64 - 1; the same seed gives the same p.
    ci : float or None
        The level of the interval of the mean difference, between 0 and 1; None for no interval.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    SignificanceResult
        `effect_size` is Cohen's d_z, mean / standard deviation of the differences (n - 1). `ci` is Student's t interval
        of the mean, computed without scipy; the estimate "mean difference" has the same interval.

    Raises
    ------
    ValueError, TypeError
        No pairs, NaN or infinite values, different lengths, differences near the largest float, weights that are
        negative or all zero, `replicates` below 1, `ci` outside (0, 1).

    Notes
    -----
    The order of the pairs does not matter: differences are sorted by magnitude, and signs are drawn by position. If the
    samples are swapped, the two-sided p is the same, and the one-sided tests are swapped.

    Sums are integers, so comparisons do not depend on rounding. Differences of few bits (counts, halves, most of
    float32) are added exactly. Others, such as 0.1 or 1/3, are already rounded: sums closer than 2**-46 of the sum of
    all magnitudes are ties, and ties count as extreme. (scipy.stats.permutation_test uses 2e-14 of the statistic for
    the same reason.) More than 2**8 differences of many bits are rounded to multiples of at most n * 2**-60 of the
    largest, and sums closer than n of these multiples are ties.

    If all differences are zero, p is 1, `method` notes it, and the effect size is 0. If all differences are equal, they
    have no deviation: the effect size is infinite and the interval is a point; p is 2**(1 - n) if all assignments are
    tested. For one pair, p is 1 (two-sided), without an effect size and an interval.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.sign_flip_test([0.9, 0.7, 0.8, 0.6, 0.9], [0.6, 0.5, 0.7, 0.7, 0.5])
    >>> round(result.statistic, 6), result.pvalue, result.method
    (0.18, 0.1875, 'sign-flip test (all 32 assignments of signs)')
    >>> fm.sign_flip_test([1] * 30 + [-1] * 10).pvalue
    0.0025997400259974
    """
    check_alternative(alternative)
    check_level(ci)
    replicates, seed = check_replicates(replicates), check_seed(seed)
    differences, _ = subtract(a, b)
    n = differences.shape[0]
    units = None if sample_weight is None else as_weights(sample_weight, n, "a", "sample_weight")
    if units is not None:
        check_some_weight(units, "sample_weight")
        differences, units = differences[units > 0], units[units > 0]
        n = differences.shape[0]
    flips = randomization_test(
        differences if units is None else apply_weights(differences, units),
        replicates=replicates,
        seed=seed,
        alternative=alternative,
        n_threads=n_threads,
    )
    how = f"all {flips.total:,} assignments" if flips.is_exact else f"{flips.total:,} random assignments"
    method = f"sign-flip test ({how} of signs)"
    mean = mean_difference(differences, units)
    value, effect_size = mean.mean, mean.effect_size
    if not differences.any():
        value = effect_size = 0.0
        method = "sign-flip test; all differences are 0: p = 1"
    interval = None if ci is None else mean.interval(float(ci))
    estimates = (Estimate("mean difference", value, interval),)
    return SignificanceResult(
        value, flips.pvalue, None, effect_size, interval, n, method, "Cohen's d_z", "mean difference", estimates
    )


def apply_weights(differences: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Differences times weights; raise if a product overflows."""
    with np.errstate(over="ignore"):
        weighted: np.ndarray = weights * differences
    if not np.isfinite(weighted).all():
        raise ValueError("sample_weight times a - b is beyond the largest float: divide all weights by the same number")
    return weighted
