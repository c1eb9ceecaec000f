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
# Sums of two differences, and standard deviations, stay finite up to here.
GREATEST = 2.0**1022


def sum_of(values: np.ndarray) -> float:
    """The correctly rounded sum of a column of float64."""
    return math.fsum(values.tolist()) if values.shape[0] <= FEW else exact_sum(np.ascontiguousarray(values))


def as_differences(a: Any, b: Any) -> tuple[np.ndarray, float]:
    """a - b in float64, at least two, and how far apart two of them can be by rounding alone."""
    differences, rounding = subtract(a, b)
    if differences.shape[0] < 2:
        raise ValueError("a has one row: at least two pairs are needed")
    return differences, rounding


def subtract(a: Any, b: Any) -> tuple[np.ndarray, float]:
    """a - b, or a where b is None, in float64, and how far apart two of them can be by rounding alone."""
    one = inputs.as_numbers(a, "a")
    width = np.finfo(one.dtype).eps
    greatest = float(np.abs(one).max())
    differences = one.astype(np.float64, copy=False)
    if b is not None:
        other = inputs.as_numbers(b, "b")
        inputs.check_lengths(one.shape[0], other.shape[0], "a", "b")
        width = max(width, np.finfo(other.dtype).eps)
        greatest = max(greatest, float(np.abs(other).max()))
        with np.errstate(over="ignore"):
            differences = differences - other
    if greatest > GREATEST / 2:
        refuse_beyond(differences, one, None if b is None else other)
    return differences, UNITS_OF_ROUNDING * float(width) * greatest


def refuse_beyond(differences: np.ndarray, one: np.ndarray, other: np.ndarray | None) -> None:
    """Refuse what is so large that sums and deviations are no floats."""
    beyond = np.flatnonzero(~(np.abs(differences) <= GREATEST))
    if not beyond.shape[0]:
        return
    row = int(beyond[0])
    if other is not None and not np.isfinite(differences[row]):
        raise ValueError(f"a - b is beyond the largest float at row {row}: {one[row]} and {other[row]}")
    what = "a" if other is None else "a - b"
    raise ValueError(
        f"{what} has {differences[row]} at row {row}: at most {GREATEST:.2g} can be squared and added; divide all "
        "values by the same number"
    )
