# Written by tools/generate.py from moments.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

BANDS: int
BAND_SHIFT: int

def add_moments(
    y_true: Any,
    y_pred: Any,
    weights: NDArray[np.float64] | None,
    start: int,
    stop: int,
    center_errors: bool,
    states: NDArray[np.int64],
) -> int: ...
def add_plain_moments(
    y_true: Any,
    y_pred: Any,
    weights: NDArray[np.float64] | None,
    start: int,
    stop: int,
    center_errors: bool,
    states: NDArray[np.int64],
) -> int: ...
def explained_fractions(
    states: NDArray[np.int64],
    weight: NDArray[np.int64],
    center_errors: bool,
    out: NDArray[np.float64],
) -> None: ...
def try_explained_variance(y_true: Any, y_pred: Any, center_errors: bool) -> float | None: ...
