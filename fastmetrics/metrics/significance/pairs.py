"""Two columns of the same units as one column of differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.exact import exact_sum

# Up to here Python's own exact sum is quicker than a state is made; it has the same bits.
FEW = 2048
# Values are known to half a unit in the last place, and a difference is rounded once more.
UNITS_OF_ROUNDING = 4


def sum_of(values: np.ndarray) -> float:
    """The correctly rounded sum of a column of float64."""
    return math.fsum(values.tolist()) if values.shape[0] <= FEW else exact_sum(np.ascontiguousarray(values))


def as_differences(a: Any, b: Any) -> tuple[np.ndarray, float]:
    """a - b in float64, and how far apart two of them can be by rounding alone."""
    one = inputs.as_numbers(a, "a")
    width = np.finfo(one.dtype).eps
    greatest = float(np.abs(one).max())
    differences = one.astype(np.float64, copy=False)
    if b is not None:
        other = inputs.as_numbers(b, "b")
        inputs.check_lengths(one.shape[0], other.shape[0], "a", "b")
        width = max(width, np.finfo(other.dtype).eps)
        greatest = max(greatest, float(np.abs(other).max()))
        differences = differences - other
    if differences.shape[0] < 2:
        raise ValueError("a has one row: at least two pairs are needed")
    return differences, UNITS_OF_ROUNDING * float(width) * greatest
