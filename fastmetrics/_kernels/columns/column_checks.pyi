# Written by tools/generate.py from column_checks.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_WEIGHT: float
SAW_ZERO: int
SAW_ONE: int
SAW_MINUS_ONE: int
SAW_OTHER: int

def decode_labels(
    values: NDArray[np.uint8] | NDArray[np.int8] | NDArray[np.int16] | NDArray[np.uint16] | NDArray[np.int32] | NDArray[np.uint32] | NDArray[np.int64] | NDArray[np.uint64] | NDArray[np.float32] | NDArray[np.float64],
    start: int,
    stop: int,
    out: NDArray[np.uint8],
    seen: NDArray[np.int64],
) -> None: ...
def any_nan(
    values: NDArray[np.float32] | NDArray[np.float64],
    start: int,
    stop: int,
    has_nan: NDArray[np.int64],
) -> None: ...
def any_not_finite(values: Any) -> bool: ...
def any_outside(values: NDArray[np.float32] | NDArray[np.float64], low: float, high: float) -> bool: ...
def check_weights(weights: NDArray[np.float64], start: int, stop: int, result: NDArray[np.int64]) -> None: ...
def read_addresses(arrays: list[Any]) -> NDArray[np.uint64]: ...
def read_numbers(values: list[Any]) -> np.ndarray | None: ...
def read_floats(values: list[Any]) -> np.ndarray | None: ...
def read_integers(values: list[Any]) -> np.ndarray | None: ...
def read_bools(values: list[Any]) -> np.ndarray | None: ...
