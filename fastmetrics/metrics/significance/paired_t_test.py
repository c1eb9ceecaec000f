"""Student's t-test of paired samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.comparison.test_results import (
    Estimate,
    SignificanceResult,
    check_alternative,
    check_level,
)
from fastmetrics._core.distributions.student import student_pvalue, student_quantile
from fastmetrics.metrics.significance.paired_samples import as_differences, sum_exactly

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike
    from fastmetrics._core.types.options import Alternative

__all__ = ["paired_t_test"]


@answers_unknown
def paired_t_test(
    a: NumericArrayLike,
    b: NumericArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    ci: float | None = 0.95,
) -> SignificanceResult:
    """Test whether the mean difference of pairs is zero.

    t = mean(d) / (sd(d) / sqrt(n)) of the differences d = a - b, compared with Student's t with n - 1 degrees of
    freedom. Student, "The probable error of a mean", Biometrika 6, 1908; scipy.stats.ttest_rel. The effect size is
    Cohen's d_z, mean(d) / sd(d).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The value of each system for every unit (user, query), finite numbers, with the same units in the same order.
        Without `b`, `a` has the differences.
    alternative : {"two-sided", "less", "greater"}
        "greater": the mean of `a` is greater.
    ci : float or None
        The level of the interval of the mean difference, between 0 and 1; None for no interval.

    Returns
    -------
    SignificanceResult
        `ci` and the estimate "mean difference" have the units of the values. Means and variances use exact sums, so the
        result does not depend on the order of the pairs.

    Raises
    ------
    ValueError
        Fewer than two pairs, different lengths, NaN or infinite values.

    Notes
    -----
    If all differences are equal, there is no variance: p is 1, without an interval, and `method` notes it. The
    statistic is 0 if they are all 0, otherwise NaN; scipy returns an infinite statistic and p = 0, even for two pairs.
    `sign_flip_test` and `wilcoxon` accept such differences. Differences that differ only by rounding count as equal.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> print(fm.paired_t_test([0.62, 0.71, 0.55, 0.80, 0.66], [0.60, 0.66, 0.56, 0.73, 0.61]))
    paired t-test: statistic 2.57143, df 4, p 0.06189; Cohen's d_z 1.15,
    interval of the mean difference (-0.00287, 0.07487); n 5
    """
    check_alternative(alternative)
    check_level(ci)
    differences, rounding = as_differences(a, b)
    n = differences.shape[0]
    lowest, highest = float(differences.min()), float(differences.max())
    if highest - lowest <= rounding:
        same = 0.0 if max(-lowest, highest) <= rounding else differences[0]
        value = math.nan if same else 0.0
        method = f"paired t-test; all differences are {same:.6g}: p = 1"
        return SignificanceResult(
            value, 1.0, n - 1, value, None, n, method, "Cohen's d_z", "", (Estimate("mean difference", float(same)),)
        )
    # Divided by the power of two of the largest, so that squares neither overflow nor underflow; undone below.
    scale = int(np.frexp(max(-lowest, highest))[1])
    differences = np.ldexp(differences, -scale)
    mean = sum_exactly(differences) / n
    deviations = differences - mean
    standard_deviation = math.sqrt(sum_exactly(deviations * deviations) / (n - 1))
    error = standard_deviation / math.sqrt(n)
    interval = None
    if ci is not None:
        half = student_quantile(float(ci), n - 1) * error
        interval = math.ldexp(mean - half, scale), math.ldexp(mean + half, scale)
    return SignificanceResult(
        mean / error,
        student_pvalue(mean / error, n - 1, alternative),
        n - 1,
        mean / standard_deviation,
        interval,
        n,
        "paired t-test",
        "Cohen's d_z",
        "mean difference",
        (Estimate("mean difference", math.ldexp(mean, scale), interval),),
    )
