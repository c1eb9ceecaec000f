# Written by tools/generate.py from selection.pyx.

import numpy as np
from numpy.typing import NDArray

def take_between(
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    start: int,
    stop: int,
    low: float,
    high: float,
    out: NDArray[np.float64],
) -> tuple[int, int]: ...
def middles(
    columns: NDArray[np.float64],
    rank: int,
    with_next: bool,
    scratch: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def weighted_middles(
    columns: NDArray[np.float64],
    weights: NDArray[np.float64],
    low: float,
    low_rest: float,
    high: float,
    high_rest: float,
    error: float,
    scratch: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
