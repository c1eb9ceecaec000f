"""Student's t distribution, for any degrees of freedom above 0: infinitely many are the normal distribution."""

from __future__ import annotations

import math
from functools import lru_cache

from fastmetrics._core.distributions.incomplete_integrals import beta_density, beta_tails
from fastmetrics._core.distributions.normal import log_far_tail, normal_quantile, normal_tail
from fastmetrics._core.distributions.quantiles import solve_log_tail
from fastmetrics._core.elementary import log, power
from fastmetrics._kernels.significance import tail_integrals

NEGLIGIBLE = 1e-9  # its square is below the rounding of 1
LEAST_TAIL = 1e-290  # below, tails lose digits
LOG_TWO = 0.6931471805599453


def student_pvalue(t: float, df: float, alternative: str) -> float:
    """The tail probability of Student's t distribution beyond t, with full relative precision."""
    if t != t:
        return t
    if alternative == "two-sided":
        return 2 * upper_tail(abs(t), df)
    beyond = t if alternative == "greater" else -t
    return upper_tail(beyond, df) if beyond >= 0 else 1 - upper_tail(-beyond, df)


def upper_tail(t: float, df: float) -> float:
    """The probability above t >= 0."""
    if math.isinf(df):
        return normal_tail(t)
    root = math.sqrt(df)
    if root < NEGLIGIBLE * t:
        # Of the series in df / t^2 the first term remains: (sqrt(df) / t)^df / (df B(df/2, 1/2)). Its power falls below
        # the least double before the factor, whose powers of 2 cancel, can overflow.
        power_of_t = power(root / t, df)
        factor = beta_density(df / 2, 0.5, 0.5, 0.5) * power(2.0, (df + 1) / 2) / df if power_of_t else 0.0
        return factor * power_of_t
    square = t / root * (t / root)
    return beta_tails(df / 2, 0.5, 1 / (1 + square), square / (1 + square)).below / 2


def log_upper_tail(t: float, df: float) -> float:
    """The logarithm of the probability above t >= 0, also where the probability is no double."""
    tail = upper_tail(t, df)
    if tail > LEAST_TAIL:
        return log(tail)
    if math.isinf(df):
        return log_far_tail(t)
    root = math.sqrt(df)
    if root < NEGLIGIBLE * t:  # the first term, as above
        log_factor = tail_integrals.log_beta_density(df / 2, 0.5, 0.5, 0.5) + (df + 1) / 2 * LOG_TWO - log(df)
        return log_factor + df * (log(root) - log(t))
    square = t / root * (t / root)
    x, rest = 1 / (1 + square), square / (1 + square)
    return tail_integrals.log_beta_tail(df / 2, 0.5, x, rest) - LOG_TWO


def student_quantile(level: float, df: float) -> float:
    """The t for which a variable of Student's distribution lies in [-t, t] with probability `level`.

    The relative error is below 1e-14 for levels from 0.01 on.
    """
    return student_tail_quantile((1 - level) / 2, df)


@lru_cache(maxsize=1024)
def student_tail_quantile(tail: float, df: float) -> float:
    """The t that a variable of Student's distribution is above with probability `tail`, of at most 1/2."""
    if tail == 0.5:  # the square of t may be 0
        return 0.0
    if math.isinf(df):
        return -normal_quantile(tail)

    def tail_and_decline(t: float) -> tuple[float, float]:
        whole = df + t * t
        # The density times t: that of the beta distribution at df / whole, whose logarithm falls by 2 (1 - df / whole).
        return upper_tail(t, df), -beta_density(df / 2, 0.5, df / whole, t * t / whole)

    return solve_log_tail(tail_and_decline, tail, -normal_quantile(tail))
