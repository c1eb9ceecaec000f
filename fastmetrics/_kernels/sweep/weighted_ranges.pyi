# Written by tools/generate.py from weighted_ranges.pyx.

import numpy as np
from numpy.typing import NDArray

SPARE_WORDS: int

def widen_exponent_range(weights: NDArray[np.float64], span: NDArray[np.int64]) -> None: ...
def n_scratch_words(n_minority: int, n_majority: int) -> int: ...
def order_by_ties(
    minority_keys: NDArray[np.uint32] | NDArray[np.uint64],
    minority_weights: NDArray[np.float64],
    majority_keys: NDArray[np.uint32] | NDArray[np.uint64],
    majority_weights: NDArray[np.float64],
    scratch: NDArray[np.uint64],
    minority_starts: NDArray[np.int64],
    minority_ordered: NDArray[np.float64],
    majority_starts: NDArray[np.int64],
    majority_ordered: NDArray[np.float64],
) -> int: ...
def range_pairs(
    minority_weights: NDArray[np.float64],
    minority_starts: NDArray[np.int64],
    majority_weights: NDArray[np.float64],
    majority_starts: NDArray[np.int64],
    n_ties: int,
    unit_exponent: int,
    sums: NDArray[np.uint64],
    wins: NDArray[np.int64],
) -> None: ...
def range_extremes(
    minority_weights: NDArray[np.float64],
    minority_starts: NDArray[np.int64],
    majority_weights: NDArray[np.float64],
    majority_starts: NDArray[np.int64],
    n_ties: int,
    unit_exponent: int,
    all_minority: NDArray[np.uint64],
    all_majority: NDArray[np.uint64],
    sums: NDArray[np.uint64],
    extremes: NDArray[np.int64],
) -> None: ...
