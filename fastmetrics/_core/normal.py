"""The standard normal distribution: tails that keep their digits, and quantiles."""

from __future__ import annotations

import math
from typing import Any

from fastmetrics._core import inputs


def check_level(ci: Any, name: str = "ci") -> float:
    """A level of confidence, strictly between 0 and 1."""
    if not inputs.is_number(ci) or not 0 < ci < 1:
        raise inputs.OptionError(f"{name} must lie between 0 and 1, both excluded; found {ci!r}")
    return float(ci)


def two_sided(z: float) -> float:
    """The probability of a value at least as far from 0."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def upper(z: float) -> float:
    """The probability of a greater value."""
    return math.erfc(z / math.sqrt(2.0)) / 2


def deviations(level: float) -> float:
    """How many standard deviations either side of the mean hold the share `level`."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf((1 - level) / 2)
