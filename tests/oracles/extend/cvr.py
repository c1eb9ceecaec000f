"""Conversion rate after a click: X. Ma et al. (2018), Entire space multi-task model, SIGIR, section 2.1."""

from collections.abc import Sequence
from fractions import Fraction

from oracles.sums import total


def cvr(clicks: Sequence[int], conversions: Sequence[int], weights: Sequence[float] | None = None) -> Fraction | None:
    """The share of the clicked rows that have a conversion. None without a click."""
    weighted = [Fraction(1) if weights is None else Fraction(weights[row]) for row in range(len(clicks))]
    clicked = [row for row, click in enumerate(clicks) if click]
    mass = total(weighted[row] for row in clicked)
    return total(weighted[row] for row in clicked if conversions[row]) / mass if mass else None
