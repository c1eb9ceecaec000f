"""What the type of probabilities says of them: its machine epsilon, and how far a row may be from the sum 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SUM_TOLERANCE = 1e-8  # for the sum of a row, added to the square root of its type's epsilon, as in scikit-learn
ROUNDING = 5e-7  # of a probability that is written with six digits
BFLOAT16_EPSILON = 2.0**-7


def sum_tolerance(eps: float, n_classes: int) -> float:
    """How far the sum of the probabilities of a row may be from 1.

    The square root of the epsilon of their type, as in scikit-learn, or the most that rounding each to six digits
    moves the sum. Of columns, rows whose values have the digits of a type of 16 bits may also be its epsilon away
    (`_kernels/probability/class_losses.pyx`): Parquet has no bfloat16, so it comes as float32.
    """
    return max(math.sqrt(eps), n_classes * ROUNDING) + SUM_TOLERANCE


def noted_distance(eps: float) -> float:
    """From which distance of a sum to 1 on reports have a note: beyond what sums in float32 or their type leave."""
    return min(math.sqrt(eps), ROUNDING) + SUM_TOLERANCE


def describe_sums(distance: float) -> str:
    """The note on rows whose sums are up to a distance from 1."""
    return f"probabilities of rows sum to 1 only within {distance:.2g}, as rounded ones do; they are used as they are"


def machine_epsilon(values: Any, predictions: np.ndarray) -> float:
    """Return the machine epsilon of the argument's type. Types of 16 bits are widened, but keep their own epsilon."""
    if is_bfloat16(values):
        return BFLOAT16_EPSILON
    return float(np.finfo(np.float16 if is_float16(values) else predictions.dtype).eps)


def is_bfloat16(values: Any) -> bool:
    """Whether an array of NumPy with ml_dtypes, or a tensor, is of bfloat16, which NumPy itself does not have."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.isbuiltin == 1:
        return False
    return str(dtype).endswith("bfloat16")


def is_float16(values: Any) -> bool:
    """Whether a column of NumPy (any byte order), Arrow, pandas or polars is float16."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind == "f" and dtype.itemsize == 2
    return str(getattr(values, "type", "")) == "halffloat" or str(dtype).lower() == "float16"


def bfloat16_values(values: Any) -> np.ndarray:
    """bfloat16 as float32, which holds its values."""
    return np.asarray(values.float() if hasattr(values, "float") else values.astype(np.float32))


def widen_bfloat16(values: Any) -> Any:
    """A column, or a list of rows that are arrays, as float32 where it is of bfloat16; others are themselves."""
    if is_bfloat16(values):
        return bfloat16_values(values)
    if isinstance(values, (list, tuple)) or getattr(getattr(values, "dtype", None), "kind", "") == "O":
        first = next((row for row in values if row is not None), None)
        if is_bfloat16(first):
            return [bfloat16_values(row) if is_bfloat16(row) else row for row in values]
    return values
