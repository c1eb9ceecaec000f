# Written by tools/generate.py from fixed_threshold.pyx.

import numpy as np
from numpy.typing import NDArray

def count_cells(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float32] | NDArray[np.float64],
    threshold: float,
    counts: NDArray[np.int64],
) -> None: ...
def weigh_cells(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64],
    threshold: float,
    states: NDArray[np.int64],
) -> None: ...
def cells_of_rows(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float32] | NDArray[np.float64],
    threshold: float,
    out: NDArray[np.uint16],
) -> None: ...
