# Written by tools/generate.py from weighted_points.pyx.

import numpy as np
from numpy.typing import NDArray

SUM_BITS: int

def order_by_cells(
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    weights: NDArray[np.float64],
    n_negatives: int,
    cells: NDArray[np.int32],
    ordered_keys: NDArray[np.uint32] | NDArray[np.uint64],
    ordered_weights: NDArray[np.float64],
) -> bool: ...
def write_points(
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    weights: NDArray[np.float64],
    unit_exponent: int,
    sums: NDArray[np.uint64],
    point_keys: NDArray[np.uint32] | NDArray[np.uint64],
    points: NDArray[np.float64],
    has_positive: NDArray[np.uint8],
) -> int: ...
def sum_precisions(
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    weights: NDArray[np.float64],
    unit_exponent: int,
    above: NDArray[np.uint64],
    state: NDArray[np.int64],
    uncertain: NDArray[np.uint64],
) -> int: ...
