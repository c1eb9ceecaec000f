"""Quantiles and tail probabilities of the standard normal distribution."""

from __future__ import annotations

import math

ROOT_OF_TWO = math.sqrt(2.0)


def two_sided_quantile(level: float) -> float:
    """The z for which a standard normal variable lies in [-z, z] with probability `level`."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf((1 - level) / 2)


def normal_pvalue(z: float, alternative: str) -> float:
    """The tail probability of the standard normal distribution beyond z, with full relative precision for every z."""
    if alternative == "two-sided":
        return math.erfc(abs(z) / ROOT_OF_TWO)
    return math.erfc((z if alternative == "greater" else -z) / ROOT_OF_TWO) / 2
