from typing import Any

import numpy as np
from numpy.typing import NDArray

BANDS: int
BAND_SHIFT: int

def add_moments(
    y_true: NDArray[Any],
    y_pred: NDArray[Any],
    weights: NDArray[np.float64] | None,
    start: int,
    stop: int,
    of_errors: bool,
    states: NDArray[np.int64],
) -> int: ...
def explained(y_true: Any, y_pred: Any, of_errors: bool) -> float | None: ...
