"""The chi-square distribution, central and not."""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core.distributions.incomplete_integrals import gamma_density, gamma_tails
from fastmetrics._core.distributions.normal import normal_pvalue, normal_quantile
from fastmetrics._core.distributions.quantiles import solve_falling
from fastmetrics._core.elementary import exp, log

# For each degree of freedom. Above, the square of a normal variable approximates the noncentral distribution to more
# digits than needed.
MOST_SUMMED = 1e6
DEVIATIONS = 9.0  # of the Poisson distribution of the terms


def chi_square_pvalue(statistic: float, df: int) -> float:
    """The upper tail probability of the chi-square distribution, with full relative precision."""
    if df == 1:
        return normal_pvalue(math.sqrt(statistic), "two-sided")
    return gamma_tails(df / 2, statistic / 2).above


def solve_noncentrality(statistic: float, df: int, p: float) -> float:
    """The noncentrality for which a chi-square variable is below the statistic with probability p; 0 if none is."""
    if gamma_tails(df / 2, statistic / 2).below <= p:
        return 0.0
    root = math.sqrt(statistic) - normal_quantile(p)
    if statistic > MOST_SUMMED * df:
        return max(root * root - (df - 1), 0.0)

    def excess(root: float) -> float:
        return log(noncentral_cdf(statistic, df, root * root) / p)

    low = high = max(root, 0.0)
    while excess(high) > 0:
        high += 1
    while low > 0 and excess(low) < 0:
        low = max(low - 1, 0.0)
    root = solve_falling(excess, low, high)
    return root * root


def noncentral_cdf(statistic: float, df: int, noncentrality: float) -> float:
    """P(X <= statistic): the mean of central probabilities of df + 2 j degrees, where j is Poisson of half of it."""
    x, mean = statistic / 2, noncentrality / 2
    if not mean:
        return gamma_tails(df / 2, x).below
    reach = DEVIATIONS * math.sqrt(mean) + DEVIATIONS * DEVIATIONS / 2
    first, last = max(0, math.floor(mean - reach)), math.ceil(mean + reach)
    while not gamma_density(df / 2 + last, x) and last > first:
        last = (first + last) // 2  # further terms are below the least double
    # From the last to the first: P(a, x) = P(a + 1, x) + x^a e^-x / Gamma(a + 1), without a subtraction.
    j = np.arange(last, first, -1.0)
    a = df / 2 + last
    changes = gamma_density(a, x) / a * np.cumprod((df / 2 + j) / x)
    probabilities = np.cumsum(np.append(gamma_tails(a, x).below, changes))
    shares = poisson_probability(last, mean) * np.append(1.0, np.cumprod(j / mean))
    return math.fsum((shares * probabilities).tolist())


def poisson_probability(count: int, mean: float) -> float:
    return gamma_density(count, mean) / count if count else exp(-mean)
