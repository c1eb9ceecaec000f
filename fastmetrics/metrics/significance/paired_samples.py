"""Paired samples: the differences of two columns, and their exact sum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.exact import exact_sum

# Up to this length `math.fsum` is faster than an exact state, with the same result.
MAX_FSUM_VALUES = 2048
# Each value has an error of half a unit in the last place, and a difference is rounded once more.
ROUNDING_UNITS = 4
# Up to this magnitude, sums of two differences and standard deviations are finite.
MAX_MAGNITUDE = 2.0**1022


def sum_exactly(values: np.ndarray) -> float:
    """The correctly rounded sum of a column of float64."""
    return math.fsum(values.tolist()) if values.shape[0] <= MAX_FSUM_VALUES else exact_sum(np.ascontiguousarray(values))


def as_differences(a: Any, b: Any) -> tuple[np.ndarray, float]:
    """Like `subtract`, for at least two pairs."""
    differences, rounding = subtract(a, b)
    if differences.shape[0] < 2:
        raise ValueError("a has one row: at least two pairs are needed")
    return differences, rounding


def subtract(a: Any, b: Any) -> tuple[np.ndarray, float]:
    """a - b (a if b is None) in float64, and how far two equal differences can be apart by rounding."""
    first = validation.as_numbers(a, "a")
    epsilon = np.finfo(first.dtype).eps
    greatest = float(np.abs(first).max())
    differences = first.astype(np.float64, copy=False)
    if b is not None:
        second = validation.as_numbers(b, "b")
        validation.check_lengths(first.shape[0], second.shape[0], "a", "b")
        epsilon = max(epsilon, np.finfo(second.dtype).eps)
        greatest = max(greatest, float(np.abs(second).max()))
        with np.errstate(over="ignore"):
            differences = differences - second
    if greatest > MAX_MAGNITUDE / 2:
        raise_too_large(differences, first, None if b is None else second)
    return differences, ROUNDING_UNITS * float(epsilon) * greatest


def raise_too_large(differences: np.ndarray, first: np.ndarray, second: np.ndarray | None) -> None:
    """Raise if sums or deviations of the differences would overflow."""
    too_large = np.flatnonzero(~(np.abs(differences) <= MAX_MAGNITUDE))
    if not too_large.shape[0]:
        return
    row = int(too_large[0])
    if second is not None and not np.isfinite(differences[row]):
        raise ValueError(f"a - b is beyond the largest float at row {row}: {first[row]} and {second[row]}")
    what = "a" if second is None else "a - b"
    raise ValueError(
        f"{what} has {differences[row]} at row {row}: at most {MAX_MAGNITUDE:.2g} can be squared and added; divide all "
        "values by the same number"
    )
