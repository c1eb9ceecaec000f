"""Weights of rows: read, checked, counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.parallel import for_each_part
from fastmetrics._kernels.columns import column_checks

TINY_WEIGHT = 2.0**-500
TINY_WEIGHT_BITS = 512  # tiny weights are multiplied by this power of two
WEIGHTS_WANTED = f"weights must lie between 0 and {column_checks.MAX_WEIGHT:g}"


def as_weights(values: Any, rows: int, first: str = "y_true", name: str = "sample_weight") -> np.ndarray:
    """A column of weights as float64, in [0, MAX_WEIGHT]: sums of products of weights stay finite."""
    return as_weights_and_zeros(values, rows, 1, first, name)[0]


def as_weights_and_zeros(
    values: Any, rows: int, n_threads: int | None, first: str = "y_true", name: str = "sample_weight"
) -> tuple[np.ndarray, int]:
    """A column of weights as `as_weights` returns it, and the number of zeros."""
    array = validation.as_floats(values, name)
    validation.check_column(array, name)
    validation.check_lengths(rows, array.shape[0], first, name)
    weights = array.astype(np.float64, copy=False)
    return weights, count_zero_weights(weights, name, n_threads)


def count_zero_weights(weights: np.ndarray, name: str, n_threads: int | None = 1) -> int:
    """The number of zeros in a column of weights (float64); raises an error if one is not in [0, MAX_WEIGHT]."""

    def count(start: int, stop: int) -> list[int]:
        counts = np.zeros(2, np.int64)
        column_checks.check_weights(weights, start, stop, counts)
        return counts.tolist()

    rows = weights.shape[0]
    counted = [count(0, rows)] if n_threads == 1 else for_each_part(rows, count, n_threads)
    if any(is_invalid for is_invalid, _ in counted):
        row = first_bad_weight(weights)
        raise ValueError(f"{name} has {weights[row]} at row {row}: {WEIGHTS_WANTED}")
    return sum(n_zeros for _, n_zeros in counted)


def scale_tiny_weights(weights: np.ndarray) -> np.ndarray:
    """Weights of a result that one factor for all weights does not change: tiny ones times a power of two.

    Products with weights below the normal doubles lose bits. Weights of the usual size stay as they are.
    """
    if weights.dtype.kind != "f" or not weights.shape[0] or weights[0] >= TINY_WEIGHT:
        return weights
    if not 0 < weights.max() < TINY_WEIGHT:
        return weights
    if weights.min() < 0:
        return weights  # an error will name the weight as it was given
    scaled: np.ndarray = np.ldexp(weights, TINY_WEIGHT_BITS)
    return scaled


def check_some_weight(weights: np.ndarray, name: str = "sample_weight") -> None:
    """Raise ValueError if all weights are zero, for results that are undefined then. Types are checked elsewhere."""
    is_number = weights.dtype.kind in "biuf"
    if is_number and not (weights.size and weights.flat[0]) and not weights.any():
        raise ValueError(f"{name} is zero at every row: at least one weight must be greater than 0")


def first_bad_weight(weights: np.ndarray) -> int:
    """The first row whose weight is not allowed."""
    return validation.first_bad_row(~((weights >= 0) & (weights <= column_checks.MAX_WEIGHT)))
