# Written by tools/generate.py from runs.pyx.

import numpy as np
from numpy.typing import NDArray

CUT_CLASSES: int
CUT_POSITIVES: int
CUT_SCORES: int
RUN_WORDS: int
SPARE_WORDS: int

def widen_exponent_range(weights: NDArray[np.float64], span: NDArray[np.int64]) -> None: ...
def runs_of_sorted(
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    middle: int,
    cut: int,
    run_keys: NDArray[np.uint32] | NDArray[np.uint64],
    negatives: NDArray[np.int64],
    positives: NDArray[np.int64],
) -> int: ...
def runs_of_weights(
    ordered: NDArray[np.uint64],
    unit_exponent: int,
    cut: int,
    run_keys: NDArray[np.uint64],
    masses: NDArray[np.uint64],
) -> int: ...
def extremes(
    negatives: NDArray[np.int64],
    positives: NDArray[np.int64],
    all_negatives: int,
    all_positives: int,
) -> tuple[int, int]: ...
def wide_extremes(masses: NDArray[np.uint64], totals: NDArray[np.uint64], found: NDArray[np.uint64]) -> None: ...
def pairs(negatives: NDArray[np.int64], positives: NDArray[np.int64], all_negatives: int) -> tuple[int, int]: ...
def precisions(
    negatives: NDArray[np.int64],
    positives: NDArray[np.int64],
    negatives_above: int,
    positives_above: int,
    state: NDArray[np.int64],
) -> None: ...
def upper_hull(
    negatives: NDArray[np.int64],
    positives: NDArray[np.int64],
    runs: NDArray[np.int64],
    fps: NDArray[np.int64],
    tps: NDArray[np.int64],
) -> int: ...
def range_pairs(
    ordered: NDArray[np.uint64],
    unit_exponent: int,
    sums: NDArray[np.uint64],
    wins: NDArray[np.int64],
) -> None: ...
