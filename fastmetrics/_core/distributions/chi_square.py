"""The chi-square distribution, central and not."""

from __future__ import annotations

import math

from fastmetrics._core.distributions.incomplete_integrals import gamma_tails
from fastmetrics._core.distributions.normal import normal_pvalue, normal_quantile
from fastmetrics._core.distributions.quantiles import solve_falling_logarithm
from fastmetrics._core.elementary import log
from fastmetrics._kernels.significance import tail_integrals

# For each degree of freedom. Above, the square of a normal variable approximates the noncentral distribution to more
# digits than needed.
MOST_SUMMED = 1e6
DEVIATIONS = 9.0  # of the Poisson distribution of the terms


def chi_square_pvalue(statistic: float, df: int) -> float:
    """The upper tail probability of the chi-square distribution, with full relative precision."""
    if df == 1:
        return normal_pvalue(math.sqrt(statistic), "two-sided")
    return tail_integrals.gamma_tails(df / 2, statistic / 2)[1]


def solve_noncentrality(statistic: float, df: int, p: float) -> float:
    """The noncentrality for which a chi-square variable is below the statistic with probability p; 0 if none is."""
    if gamma_tails(df / 2, statistic / 2).below <= p:
        return 0.0
    # That of one degree of freedom, where a normal variable is within sqrt(statistic). More degrees need less.
    z = normal_quantile(p)
    greatest = math.sqrt(statistic) - z
    if statistic > MOST_SUMMED * df:
        return max(greatest * greatest - (df - 1), 0.0)

    def logarithm_and_slope(root: float) -> tuple[float, float]:
        below, change = noncentral_cdf(statistic, df, root * root)
        return (log(below / p), -2 * change * root / below) if below else (-math.inf, -math.inf)

    # The start: as if the variable were normal, of variance 2 df + 4 times the noncentrality.
    excess = statistic - df + 2 * z * z
    start = excess - z * math.sqrt(max(4 * excess - 4 * z * z + 2 * df, 0.0))
    root = solve_falling_logarithm(logarithm_and_slope, greatest, math.sqrt(start) if start > 0 else greatest)
    return root * root


def noncentral_cdf(statistic: float, df: int, noncentrality: float) -> tuple[float, float]:
    """P(X <= statistic), and how fast it falls with the noncentrality."""
    return tail_integrals.noncentral_chi_square(statistic, df, noncentrality / 2, DEVIATIONS)
