"""What the type of an array says: how arrays of other libraries are read, and the machine epsilon of probabilities."""

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


def is_float16(values: Any) -> bool:
    """Whether a column of NumPy (any byte order), Arrow, pandas or polars is float16."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind == "f" and dtype.itemsize == 2
    return str(getattr(values, "type", "")) == "halffloat" or str(dtype).lower() == "float16"


def is_bfloat16(values: Any) -> bool:
    """Whether an array of NumPy with ml_dtypes, or a tensor, is of bfloat16, which NumPy itself does not have."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.isbuiltin == 1:
        return False
    return "bfloat16" in str(dtype)


def plain_values(values: Any, name: str) -> Any:
    """Tensors and arrays of types that NumPy lacks, and lists of them, as arrays of NumPy; others are as given."""
    if isinstance(values, (list, tuple)) or getattr(getattr(values, "dtype", None), "kind", "") == "O":
        first = next((row for row in values if row is not None), None)
        if not is_tensor(first) and not is_own_type(first):
            return values
        rows = [numpy_array(row, name) if hasattr(row, "__array__") else row for row in values]
        rows = [row.item() if isinstance(row, np.ndarray) and not row.ndim else row for row in rows]
        return tuple(rows) if isinstance(values, tuple) else rows
    return numpy_array(values, name) if is_tensor(values) or is_own_type(values) else values


def is_tensor(values: Any) -> bool:
    """Is it a tensor or array of PyTorch, JAX, TensorFlow or CuPy?"""
    return hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray) and not hasattr(values, "null_count")


def is_own_type(values: Any) -> bool:
    """Is it an array, or a scalar, of a type that another package registered with NumPy, such as ml_dtypes?"""
    dtype = getattr(values, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.isbuiltin == 2


def numpy_array(values: Any, name: str) -> np.ndarray:
    """The values of any array as an array of NumPy. Of tensors with gradients these are the values alone.

    Floats of 8 bits and bfloat16 become float32, which holds their values.
    """
    try:
        if hasattr(values, "detach"):
            values = values.detach()
            if "float8" in str(values.dtype) or is_bfloat16(values):
                values = values.float()
        array = np.asarray(values)
    except (TypeError, RuntimeError) as error:
        raise TypeError(f"{name} cannot be read as an array of NumPy: {error}") from None
    return array.astype(np.float32) if is_own_type(array) else unnamed_order(array)


def unnamed_order(array: np.ndarray) -> np.ndarray:
    """The array as one whose type does not name the order of bytes of this machine, which formats of buffers repeat.

    Arrays of ctypes, which LightGBM gives, name it.
    """
    named = array.dtype.isnative and array.dtype.byteorder in "<>"
    return array.view(array.dtype.newbyteorder("=")) if named else array
