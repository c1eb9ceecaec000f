"""Slow definitions of statistics of weighted values: quantiles, extremes, and the share below a number.

R. Hyndman and Y. Fan (1996), Sample quantiles in statistical packages, The American Statistician 50(4), definition 7:
the quantile of n values stands at position (n - 1) p of the sorted values, counted from 0. A whole weight w is w equal
values, as in F. Harrell's Hmisc::wtd.quantile. Weights of a smaller sum than the number of values are scaled up to it.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from oracles.sums import total

Sample = Sequence[tuple[float, Any]]  # values with their weights


def value_at(sample: Sample, rank: int, size: Fraction) -> Fraction:
    """The least value such that the values up to it have more than the share rank / size of the weight."""
    whole = total(Fraction(weight) for _, weight in sample)
    for value in sorted({value for value, _ in sample}):
        up_to = total(Fraction(weight) for other, weight in sample if other <= value)
        if up_to / whole > Fraction(rank) / size:
            return Fraction(value)
    raise AssertionError("a rank is below the size")


def quantile(sample: Sample, p: Fraction, rule: str = "linear") -> Fraction:
    """The quantile p, in [0, 1], by the rule "linear", "lower" or "higher"."""
    values = [Fraction(value) for value, _ in sample]
    if p in (0, 1):
        return min(values) if p == 0 else max(values)
    size = max(total(Fraction(weight) for _, weight in sample), Fraction(len(sample)))
    position = (size - 1) * p
    low, high = (value_at(sample, rank, size) for rank in (math.floor(position), math.ceil(position)))
    return {"lower": low, "higher": high, "linear": low + (position - math.floor(position)) * (high - low)}[rule]


def share_below(sample: Sample, number: float) -> Fraction:
    """The share of weight of the values below a number."""
    whole = total(Fraction(weight) for _, weight in sample)
    return total(Fraction(weight) for value, weight in sample if value < number) / whole


def stat(sample: Sample, name: str, rule: str = "linear", at: float = 0.0) -> Fraction:
    """The statistic that a metric string names: stat=p10, min, max or below."""
    if name == "below":
        return share_below(sample, at)
    p = {"min": Fraction(0), "max": Fraction(1)}
    return quantile(sample, p[name] if name in p else Fraction(name[1:]) / 100, rule)
