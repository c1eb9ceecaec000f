"""Fisher's randomisation test of paired samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.mean_differences import mean_difference
from fastmetrics._core.sign_flips import flip_signs
from fastmetrics._core.significance import (
    Estimate,
    SignificanceResult,
    check_alternative,
    check_level,
    check_replicates,
    check_seed,
)
from fastmetrics.metrics.significance.pairs import subtract

__all__ = ["sign_flip_test"]


def sign_flip_test(
    a: Any,
    b: Any = None,
    *,
    weights: Any = None,
    alternative: str = "two-sided",
    replicates: int = 10_000,
    seed: int = 0,
    ci: float | None = 0.95,
    n_threads: int | None = None,
) -> SignificanceResult:
    """Is the mean of paired differences zero? Fisher's randomisation test: if so, every sign is as good as the other.

    The statistic is the mean of d = a - b. p is the share of the assignments of signs whose mean is at least as
    extreme: of all 2**n where these are at most `replicates`, else (c + 1) / (R + 1) with c of R random ones. R. A.
    Fisher, The Design of Experiments, 1935; M. D. Smucker, J. Allan, B. Carterette, "A comparison of statistical
    significance tests for information retrieval evaluation", CIKM 2007.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The two values of every user, query or other unit; without `b`, the differences themselves. Finite numbers.
    weights : array-like of shape (n,), optional
        Weights of the units, none negative: the statistic is then sum(w d) / sum(w). A pair of weight 0 is absent.
    alternative : {"two-sided", "less", "greater"}
        "greater": `a` is greater than `b`. Two-sided: the mean is at least as far from zero, on either side.
    replicates : int
        Random assignments of signs, or the greatest number of assignments that are all gone through.
    seed : int
        From 0 to 2**64 - 1; the same seed gives the same p.
    ci : float or None
        Level of the interval of the mean difference; None for no interval.
    n_threads : int, optional
        Threads to use; the result does not depend on it.

    Returns
    -------
    SignificanceResult
        `effect_size` is Cohen's d_z, mean / standard deviation of the differences (n - 1); `ci` is Student's t interval
        of the mean, which scipy is not needed for, and is that of the estimate "mean difference" too.

    Raises
    ------
    ValueError, TypeError
        No pair, NaN or infinite values, lengths that differ, differences near the largest float, weights that are
        negative or all zero, `replicates` below 1, `ci` outside (0, 1).

    Notes
    -----
    The order of the pairs does not matter: differences are sorted by magnitude, and signs are drawn for places. Swapped
    samples have the same two-sided p, and one-sided tests swap with them.

    Sums are whole numbers, so what is extreme does not depend on rounding. Differences of few bits (counts, halves,
    most of float32) are added as they are. Others, such as 0.1 or 1/3, were rounded before they came: sums closer than
    2**-46 of the sum of all magnitudes are ties, and ties count as extreme. (scipy.stats.permutation_test takes 2e-14
    of the statistic for the same reason.) More than 2**8 differences of many bits are rounded to multiples of at most
    n * 2**-60 of the largest, and sums closer than n of these are ties.

    Differences that are all zero: p = 1, and `method` says so; the effect size is 0. Differences that are all the same
    have no deviation: the effect size is infinite and the interval a point; p is 2**(1 - n) where all assignments are
    gone through. One pair: p = 1 (two-sided), no effect size, no interval.

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
    units = None if weights is None else inputs.as_weights(weights, n, "a", "weights")
    if units is not None:
        inputs.check_some_weight(units, "weights")
        differences, units = differences[units > 0], units[units > 0]
        n = differences.shape[0]
    flips = flip_signs(
        differences if units is None else weigh(differences, units),
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


def weigh(differences: np.ndarray, weights: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        weighted: np.ndarray = weights * differences
    if not np.isfinite(weighted).all():
        raise ValueError("weights times a - b is beyond the largest float: smaller weights of the same ratios will do")
    return weighted
