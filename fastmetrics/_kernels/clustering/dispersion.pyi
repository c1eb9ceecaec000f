# Written by tools/generate.py from dispersion.pyx.

import numpy as np
from numpy.typing import NDArray

def compute_centers(
    x: NDArray[np.float32] | NDArray[np.float64],
    order: NDArray[np.int64],
    ends: NDArray[np.int64],
    out: NDArray[np.float64],
    overall: NDArray[np.float64],
    totals: NDArray[np.int64],
) -> None: ...
def bounding_box(
    x: NDArray[np.float32] | NDArray[np.float64],
    low: NDArray[np.float32] | NDArray[np.float64],
    high: NDArray[np.float32] | NDArray[np.float64],
) -> None: ...
def distances_to_centers(
    x: NDArray[np.float32] | NDArray[np.float64],
    codes: NDArray[np.int64],
    centers: NDArray[np.float64],
    root: bool,
    out: NDArray[np.float64],
) -> None: ...
def largest_ratios(centers: NDArray[np.float64], widths: NDArray[np.float64], out: NDArray[np.float64]) -> float: ...
