"""Two shares against each other: click-through rates of an A/B test."""

from __future__ import annotations

import math
from typing import Any

from fastmetrics._core import inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.normal import deviations
from fastmetrics._core.significance import (
    Estimate,
    SignificanceResult,
    as_count,
    check_alternative,
    check_level,
    normal_pvalue,
)

__all__ = ["two_proportion_test"]

CI_METHODS = ("newcombe", "wald")


def two_proportion_test(
    successes_a: Any,
    trials_a: Any,
    successes_b: Any,
    trials_b: Any,
    *,
    alternative: str = "two-sided",
    ci: float | None = 0.95,
    ci_method: str = "newcombe",
) -> SignificanceResult:
    """Do two independent groups succeed equally often?

    z = (p_a - p_b) / sqrt(p (1 - p) (1/n_a + 1/n_b)) with p the share of both together, against the normal
    distribution: the z-test of statsmodels' proportions_ztest. z squared is `chi2_test` of the 2 x 2 table without
    correction. The effect size is Cohen's h = 2 asin sqrt(p_a) - 2 asin sqrt(p_b) (J. Cohen, "Statistical power
    analysis", 1988). Differences are a minus b: give the new variant first.

    Parameters
    ----------
    successes_a, trials_a, successes_b, trials_b : int
        Successes (clicks) among trials (impressions) of a and of b. A trial must not depend on others: where users
        come back, compare users, not impressions.
    alternative : {"two-sided", "less", "greater"}
        "greater": p_a is greater than p_b.
    ci : float or None
        Level of the intervals; None for none.
    ci_method : {"newcombe", "wald"}
        Of the difference: from Wilson's intervals of both shares (R. Newcombe, Statistics in Medicine 17, 1998, method
        10), or difference +- z sqrt(p_a (1 - p_a) / n_a + p_b (1 - p_b) / n_b).

    Returns
    -------
    SignificanceResult
        `ci` is that of the difference. `estimates` are "difference" and "lift", p_a / p_b - 1, each with its interval.
        That of the lift is from the logarithm of the ratio (D. Katz et al., Biometrics 34, 1978), and None where
        a or b has no success. `n` is n_a + n_b.

    Raises
    ------
    ValueError
        Counts that are negative or no whole numbers, more successes than trials, no trial.

    Notes
    -----
    Nobody succeeds, or everybody: no difference, p = 1, and `method` says so. The lift over a share of 0 is infinite,
    or NaN if both are 0.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.two_proportion_test(130, 1000, 100, 1000)
    >>> round(result.statistic, 4), round(result.pvalue, 5)
    (2.1027, 0.03549)
    >>> result.estimate("lift")
    Estimate(name='lift', value=0.3, ci=(0.016984..., 0.661775...))
    """
    check_alternative(alternative)
    check_level(ci)
    inputs.check_option(ci_method, "ci_method", CI_METHODS)
    a, n_a = as_share(successes_a, trials_a, "a")
    b, n_b = as_share(successes_b, trials_b, "b")
    n, both = n_a + n_b, a + b
    ahead = a * n_b - b * n_a
    method = "two-proportion z-test, pooled"
    if both in (0, n):
        z, pvalue = 0.0, 1.0
        method += f"; {'everybody succeeds' if both else 'nobody succeeds'}: p = 1"
    else:
        z = math.copysign(math.sqrt(divide(ahead * ahead * n, n_a * n_b * both * (n - both))), ahead)
        pvalue = normal_pvalue(z, alternative)
    difference = divide(ahead, n_a * n_b)
    lift = divide(ahead, b * n_a) if b else (math.inf if a else math.nan)
    of_difference: tuple[float, float] | None = None
    of_lift: tuple[float, float] | None = None
    if ci is not None:
        quantile = deviations(ci)
        of_difference = (newcombe if ci_method == "newcombe" else wald)(a, n_a, b, n_b, quantile)
        of_lift = lift_interval(a, n_a, b, n_b, quantile)
    return SignificanceResult(
        z,
        pvalue,
        None,
        2 * math.asin(math.sqrt(a / n_a)) - 2 * math.asin(math.sqrt(b / n_b)),
        of_difference,
        n,
        method,
        "Cohen's h",
        "difference",
        (Estimate("difference", difference, of_difference), Estimate("lift", lift, of_lift)),
    )


def as_share(successes: Any, trials: Any, name: str) -> tuple[int, int]:
    """Successes and trials as integers, checked."""
    succeeded, tried = as_count(successes, f"successes_{name}"), as_count(trials, f"trials_{name}")
    if not tried:
        raise ValueError(f"trials_{name} is 0: at least one trial is needed")
    if succeeded > tried:
        raise ValueError(f"successes_{name} is {succeeded}, more than trials_{name} = {tried}")
    return succeeded, tried


def wilson(successes: int, trials: int, z: float) -> tuple[float, float]:
    """The score interval of one share; E. Wilson, JASA 22, 1927."""
    share, square = successes / trials, z * z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = z / (1 + square / trials) * math.sqrt((share * (1 - share) + square / (4 * trials)) / trials)
    return max(middle - half, 0.0) if successes else 0.0, min(middle + half, 1.0) if successes < trials else 1.0


def newcombe(a: int, n_a: int, b: int, n_b: int, z: float) -> tuple[float, float]:
    share_a, share_b, difference = a / n_a, b / n_b, divide(a * n_b - b * n_a, n_a * n_b)
    (low_a, high_a), (low_b, high_b) = wilson(a, n_a, z), wilson(b, n_b, z)
    low = difference - math.hypot(share_a - low_a, high_b - share_b)
    return low, difference + math.hypot(high_a - share_a, share_b - low_b)


def wald(a: int, n_a: int, b: int, n_b: int, z: float) -> tuple[float, float]:
    difference = divide(a * n_b - b * n_a, n_a * n_b)
    half = z * math.sqrt(a * (n_a - a) / n_a**3 + b * (n_b - b) / n_b**3)
    return difference - half, difference + half


def lift_interval(a: int, n_a: int, b: int, n_b: int, z: float) -> tuple[float, float] | None:
    if not a or not b:
        return None
    ratio = divide(a * n_b, b * n_a)
    half = z * math.sqrt((n_a - a) / (a * n_a) + (n_b - b) / (b * n_b))
    return ratio * math.exp(-half) - 1, ratio * math.exp(half) - 1
