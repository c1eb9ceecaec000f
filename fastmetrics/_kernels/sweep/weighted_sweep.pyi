# Written by tools/generate.py from weighted_sweep.pyx.

import numpy as np
from numpy.typing import NDArray

SUM_BITS: int

def gather_bucket(
    key_blocks: NDArray[np.uint64],
    weight_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    bucket: int,
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    weights: NDArray[np.float64],
) -> int: ...
def order_by_cells(
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    weights: NDArray[np.float64],
    n_negatives: int,
    cells: NDArray[np.int32],
    ordered: NDArray[np.uint64],
) -> bool: ...
def sum_pairs(
    rows: NDArray[np.uint64],
    unit_exponent: int,
    sums: NDArray[np.uint64],
    wins: NDArray[np.uint64],
) -> None: ...
def write_points(
    ordered: NDArray[np.uint64],
    double_keys: bool,
    unit_exponent: int,
    sums: NDArray[np.uint64],
    scores: NDArray[np.float64],
    fps: NDArray[np.float64],
    tps: NDArray[np.float64],
    below: NDArray[np.float64],
    has_positive: NDArray[np.uint8],
) -> int: ...
def write_rates(
    ordered: NDArray[np.uint64],
    double_keys: bool,
    unit_exponent: int,
    sums: NDArray[np.uint64],
    all_negatives: float,
    all_positives: float,
    error_rates: bool,
    scores: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    has_positive: NDArray[np.uint8],
) -> int: ...
def write_corners(
    scores: NDArray[np.float64],
    fps: NDArray[np.float64],
    tps: NDArray[np.float64],
    start: int,
    stop: int,
    corner_scores: NDArray[np.float64],
    corner_fps: NDArray[np.float64],
    corner_tps: NDArray[np.float64],
) -> int: ...
def sum_precisions(
    ordered: NDArray[np.uint64],
    unit_exponent: int,
    above: NDArray[np.uint64],
    state: NDArray[np.int64],
    uncertain: NDArray[np.uint64],
) -> int: ...
