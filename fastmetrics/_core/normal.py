"""Quantiles of the standard normal distribution."""

from __future__ import annotations


def deviations(level: float) -> float:
    """How many standard deviations to either side of the mean hold the share `level`."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf((1 - level) / 2)
