"""Student's t-test of pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastmetrics._core.significance import (
    Estimate,
    SignificanceResult,
    check_alternative,
    check_level,
    special_functions,
    student_pvalue,
)
from fastmetrics.metrics.significance.pairs import as_differences, sum_of

__all__ = ["paired_t_test"]


def paired_t_test(
    a: Any, b: Any = None, *, alternative: str = "two-sided", ci: float | None = 0.95
) -> SignificanceResult:
    """Is the mean difference of pairs zero?

    t = mean(d) / (sd(d) / sqrt(n)) of the differences d = a - b, against Student's t with n - 1 degrees of
    freedom. Student, "The probable error of a mean", Biometrika 6, 1908; scipy.stats.ttest_rel. The effect size is
    Cohen's d_z, mean(d) / sd(d).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        One value of each system for every unit (user, query): the same units, in the same order. Without `b`, `a`
        are the differences.
    alternative : {"two-sided", "less", "greater"}
        "greater": the mean of `a` is greater.
    ci : float or None
        Level of the interval of the mean difference; None for no interval.

    Returns
    -------
    SignificanceResult
        `ci`, and the estimate "mean difference", are in the units of the values. Means and variances are of exact sums,
        so the order of pairs changes no bit.

    Raises
    ------
    ValueError
        Fewer than two pairs, lengths that differ, NaN or infinite values.

    Notes
    -----
    Differences that are all the same have no variance to judge them by: p = 1, without an interval, and `method` says
    so. Where they are all 0 the statistic is 0; else it is NaN, where scipy has an infinite one and p = 0 even for two
    pairs. `sign_flip_test` and `wilcoxon` take such differences. What differs by rounding only is the same.

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
    # At the scale of the largest, whose exponent comes back below: squares neither overflow nor vanish.
    scale = int(np.frexp(max(-lowest, highest))[1])
    differences = np.ldexp(differences, -scale)
    mean = sum_of(differences) / n
    apart = differences - mean
    deviation = math.sqrt(sum_of(apart * apart) / (n - 1))
    error = deviation / math.sqrt(n)
    interval = None
    if ci is not None:
        half = -float(special_functions().stdtrit(n - 1, (1 - ci) / 2)) * error
        interval = math.ldexp(mean - half, scale), math.ldexp(mean + half, scale)
    return SignificanceResult(
        mean / error,
        student_pvalue(mean / error, n - 1, alternative),
        n - 1,
        mean / deviation,
        interval,
        n,
        "paired t-test",
        "Cohen's d_z",
        "mean difference",
        (Estimate("mean difference", math.ldexp(mean, scale), interval),),
    )
