# Written by tools/generate.py from moments.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOMENTS: int
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
def sum_moments(
    y_true: Any,
    y_pred: Any,
    weights: NDArray[np.float64] | None,
    start: int,
    stop: int,
    center_errors: bool,
    totals: NDArray[np.float64],
) -> int: ...
def explained_fractions(
    totals: NDArray[np.float64],
    weight: float,
    weight_rest: float,
    rows: int,
    center_errors: bool,
    out: NDArray[np.float64],
) -> None: ...
def try_explained_variance(y_true: Any, y_pred: Any, center_errors: bool) -> float | None: ...
