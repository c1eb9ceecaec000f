# Written by tools/generate.py from weighted_ranges.pyx.

import numpy as np
from numpy.typing import NDArray

SPARE_WORDS: int

def widen_exponent_range(weights: NDArray[np.float64], span: NDArray[np.int64]) -> None: ...
def range_pairs(
    ordered: NDArray[np.uint64],
    unit_exponent: int,
    sums: NDArray[np.uint64],
    wins: NDArray[np.int64],
) -> None: ...
def range_extremes(
    ordered: NDArray[np.uint64],
    unit_exponent: int,
    all_negative: NDArray[np.uint64],
    all_positive: NDArray[np.uint64],
    sums: NDArray[np.uint64],
    extremes: NDArray[np.int64],
) -> None: ...
