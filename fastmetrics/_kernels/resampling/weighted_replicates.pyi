# Written by tools/generate.py from weighted_replicates.pyx.

import numpy as np
from numpy.typing import NDArray

PAIR_STATE_WORDS: int
EXTREME_STATE_WORDS: int
CROSSING_STATE_WORDS: int
LAST_OF_TIE_FLAG: int
TERMS_PER_REPLICATE: int
UNCERTAIN_SIZE: int

def add_rows(
    codes: NDArray[np.uint16],
    row_weights: NDArray[np.float64],
    unit_exponent: int,
    n_limbs: int,
    weights: NDArray[np.uint8],
    sums: NDArray[np.uint64],
) -> None: ...
def sweep_pairs(
    codes: NDArray[np.uint16],
    row_weights: NDArray[np.float64],
    unit_exponent: int,
    n_limbs: int,
    weights: NDArray[np.uint8],
    above: NDArray[np.uint64],
    wins: NDArray[np.uint64],
) -> None: ...
def sweep_extremes(
    codes: NDArray[np.uint16],
    row_weights: NDArray[np.float64],
    unit_exponent: int,
    n_limbs: int,
    weights: NDArray[np.uint8],
    totals: NDArray[np.uint64],
    extremes: NDArray[np.uint64],
) -> None: ...
def sweep_crossing(
    codes: NDArray[np.uint16],
    row_weights: NDArray[np.float64],
    unit_exponent: int,
    n_limbs: int,
    weights: NDArray[np.uint8],
    totals: NDArray[np.uint64],
    above: NDArray[np.uint64],
    crossing: NDArray[np.uint64],
) -> None: ...
def sweep_precisions(
    codes: NDArray[np.uint16],
    row_weights: NDArray[np.float64],
    start: int,
    unit_exponent: int,
    n_limbs: int,
    weights: NDArray[np.uint8],
    above: NDArray[np.uint64],
    terms: NDArray[np.float64],
    states: NDArray[np.int64],
    uncertain: NDArray[np.uint64],
) -> tuple[int, int]: ...
