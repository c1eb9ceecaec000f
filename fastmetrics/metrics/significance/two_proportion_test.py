"""The z-test of two proportions, such as the click-through rates of an A/B test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.comparison.test_results import (
    Estimate,
    SignificanceResult,
    as_count,
    check_alternative,
    check_level,
)
from fastmetrics._core.distributions.normal import normal_pvalue, two_sided_quantile
from fastmetrics._core.elementary import arcsin, exp
from fastmetrics._core.exact import divide, divide_root

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Int
    from fastmetrics._core.types.options import Alternative, ProportionInterval

__all__ = ["two_proportion_test"]


@answers_unknown
def two_proportion_test(
    successes_a: Int,
    trials_a: Int,
    successes_b: Int,
    trials_b: Int,
    *,
    alternative: Alternative = "two-sided",
    ci: float | None = 0.95,
    ci_method: ProportionInterval = "newcombe",
) -> SignificanceResult:
    """Test whether two independent groups have the same proportion of successes.

    z = (p_a - p_b) / sqrt(p (1 - p) (1/n_a + 1/n_b)), where p is the pooled proportion, compared with the normal
    distribution, as in statsmodels' proportions_ztest. z squared is the statistic of `chi2_test` of the 2 x 2 table
    without correction. The effect size is Cohen's h = 2 asin sqrt(p_a) - 2 asin sqrt(p_b) (J. Cohen, "Statistical power
    analysis", 1988). Differences are a minus b: give the new variant first.

    Parameters
    ----------
    successes_a, trials_a, successes_b, trials_b : int
        Successes (clicks) and trials (impressions) of a and of b. Trials must be independent: if users return, compare
        users, not impressions.
    alternative : {"two-sided", "less", "greater"}
        "greater": p_a is greater than p_b.
    ci : float or None
        Level of the intervals; None for no intervals.
    ci_method : {"newcombe", "wald"}
        The interval of the difference. "newcombe": from Wilson's intervals of both proportions (R. Newcombe, Statistics
        in Medicine 17, 1998, method 10). "wald": difference +- z sqrt(p_a (1 - p_a) / n_a + p_b (1 - p_b) / n_b).

    Returns
    -------
    SignificanceResult
        `ci` is the interval of the difference. `estimates` are "difference" and "lift" (p_a / p_b - 1), each with its
        interval. The interval of the lift uses the logarithm of the ratio (D. Katz et al., Biometrics 34, 1978). It is
        None if a or b has no success. `n` is n_a + n_b.

    Raises
    ------
    ValueError
        Counts that are negative or not integers, more successes than trials, or no trials.

    Notes
    -----
    If all trials of both groups succeed, or all fail, p is 1 and `method` notes it. The lift over a proportion of 0 is
    infinite, or NaN if both proportions are 0.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.two_proportion_test(130, 1000, 100, 1000)
    >>> round(result.statistic, 4), round(result.pvalue, 5)
    (2.1027, 0.03549)
    >>> result.estimate("lift")
    Estimate(name='lift', value=0.3, interval=(0.016984..., 0.661775...))
    """
    check_alternative(alternative)
    check_level(ci)
    validation.check_option(ci_method, "ci_method", ("newcombe", "wald"))
    a, n_a = read_counts(successes_a, trials_a, "a")
    b, n_b = read_counts(successes_b, trials_b, "b")
    n, both = n_a + n_b, a + b
    numerator = a * n_b - b * n_a
    method = "two-proportion z-test, pooled"
    if both in (0, n):
        z, pvalue = 0.0, 1.0
        method += f"; {'everybody succeeds' if both else 'nobody succeeds'}: p = 1"
    else:
        z = math.copysign(math.sqrt(divide(numerator * numerator * n, n_a * n_b * both * (n - both))), numerator)
        pvalue = normal_pvalue(z, alternative)
    difference = divide(numerator, n_a * n_b)
    lift = divide(numerator, b * n_a) if b else (math.inf if a else math.nan)
    difference_ci: tuple[float, float] | None = None
    lift_ci: tuple[float, float] | None = None
    if ci is not None:
        quantile = two_sided_quantile(ci)
        difference_ci = (newcombe_interval if ci_method == "newcombe" else wald_interval)(a, n_a, b, n_b, quantile)
        lift_ci = lift_interval(a, n_a, b, n_b, quantile)
    return SignificanceResult(
        z,
        pvalue,
        None,
        2 * arcsin(math.sqrt(a / n_a)) - 2 * arcsin(math.sqrt(b / n_b)),
        difference_ci,
        n,
        method,
        "Cohen's h",
        "difference",
        (Estimate("difference", difference, difference_ci), Estimate("lift", lift, lift_ci)),
    )


def read_counts(successes: Any, trials: Any, name: str) -> tuple[int, int]:
    """Check successes and trials; return them as integers."""
    n_successes, n_trials = as_count(successes, f"successes_{name}"), as_count(trials, f"trials_{name}")
    if not n_trials:
        raise ValueError(f"trials_{name} is 0: at least one trial is needed")
    if n_successes > n_trials:
        raise ValueError(f"successes_{name} is {n_successes}, more than trials_{name} = {n_trials}")
    return n_successes, n_trials


def wilson_interval(successes: int, trials: int, z: float) -> tuple[float, float]:
    """The score interval of one proportion; E. Wilson, JASA 22, 1927."""
    share, square = successes / trials, z * z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = z / (1 + square / trials) * math.sqrt((share * (1 - share) + square / (4 * trials)) / trials)
    return max(middle - half, 0.0) if successes else 0.0, min(middle + half, 1.0) if successes < trials else 1.0


def newcombe_interval(a: int, n_a: int, b: int, n_b: int, z: float) -> tuple[float, float]:
    share_a, share_b, difference = a / n_a, b / n_b, divide(a * n_b - b * n_a, n_a * n_b)
    (low_a, high_a), (low_b, high_b) = wilson_interval(a, n_a, z), wilson_interval(b, n_b, z)
    low = difference - hypotenuse(share_a - low_a, high_b - share_b)
    return low, difference + hypotenuse(high_a - share_a, share_b - low_b)


def hypotenuse(x: float, y: float) -> float:
    """sqrt(x^2 + y^2), rounded once."""
    (a, unit_a), (b, unit_b) = x.as_integer_ratio(), y.as_integer_ratio()
    return divide_root((a * unit_b) ** 2 + (b * unit_a) ** 2, (unit_a * unit_b) ** 2)


def wald_interval(a: int, n_a: int, b: int, n_b: int, z: float) -> tuple[float, float]:
    difference = divide(a * n_b - b * n_a, n_a * n_b)
    half = z * math.sqrt(a * (n_a - a) / n_a**3 + b * (n_b - b) / n_b**3)
    return difference - half, difference + half


def lift_interval(a: int, n_a: int, b: int, n_b: int, z: float) -> tuple[float, float] | None:
    if not a or not b:
        return None
    ratio = divide(a * n_b, b * n_a)
    half = z * math.sqrt((n_a - a) / (a * n_a) + (n_b - b) / (b * n_b))
    return ratio * exp(-half) - 1, ratio * exp(half) - 1
