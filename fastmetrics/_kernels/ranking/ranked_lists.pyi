# Written by tools/generate.py from ranked_lists.pyx.

import numpy as np
from numpy.typing import NDArray

WORDS_PER_ROW: int
SPARE: int
FIELDS: int
NUMBERS: int
N_COUNTS: int
MARKED_RANKS: int
MOST_MEASURES: int

def discounts(base: float, weights: NDArray[np.float64], sums: NDArray[np.float64]) -> None: ...
def grades_as_bytes(
    grades: NDArray[np.uint8] | NDArray[np.int64] | NDArray[np.float32] | NDArray[np.float64],
    start: int,
    stop: int,
    out: NDArray[np.uint8],
    checks: NDArray[np.int64],
) -> None: ...
def measure_lists(
    scores: NDArray[np.float32] | NDArray[np.float64],
    grades: NDArray[np.uint8] | NDArray[np.int64] | NDArray[np.float32] | NDArray[np.float64],
    offsets: NDArray[np.int64],
    missing: NDArray[np.float64],
    missing_offsets: NDArray[np.int64],
    measures: NDArray[np.int64],
    numbers: NDArray[np.float64],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    ties: int,
    keys: NDArray[np.uint64],
    data: NDArray[np.uint8],
    text_starts: NDArray[np.int64],
    text_stops: NDArray[np.int64],
    least: float,
    greatest: float,
    signed_gains: bool,
    start: int,
    stop: int,
    memory: NDArray[np.uint64],
    kinds: NDArray[np.uint8],
    values: NDArray[np.float64],
    counts: NDArray[np.int64],
    n_invalid: NDArray[np.int64],
) -> None: ...
def measure_groups(
    hash_blocks: NDArray[np.uint64],
    label_blocks: NDArray[np.uint64],
    score_blocks: NDArray[np.uint64],
    head_blocks: NDArray[np.uint64],
    tail_blocks: NDArray[np.uint64],
    slice_blocks: NDArray[np.uint64],
    weight_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    double_labels: bool,
    double_scores: NDArray[np.uint8],
    label_of_output: NDArray[np.int64],
    score_of_output: NDArray[np.int64],
    start: int,
    stop: int,
    measures: NDArray[np.int64],
    numbers: NDArray[np.float64],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    ties: int,
    table: NDArray[np.uint32],
    group_of_row: NDArray[np.uint32],
    cursors: NDArray[np.int64],
    scores: NDArray[np.uint64],
    grades: NDArray[np.float64],
    memory: NDArray[np.uint64],
    class_counts: NDArray[np.int64],
    group_hashes: NDArray[np.uint64],
    group_heads: NDArray[np.uint64],
    group_tails: NDArray[np.uint64],
    group_slices: NDArray[np.uint16],
    weight_ranges: NDArray[np.float64],
    values: NDArray[np.float64],
    counts: NDArray[np.int64],
    n_groups: NDArray[np.int64],
) -> None: ...
def measure_large_list(
    grades: NDArray[np.float64],
    starts: NDArray[np.int64],
    tied_zeros: NDArray[np.int64],
    zeros_above: NDArray[np.int64],
    measures: NDArray[np.int64],
    numbers: NDArray[np.float64],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    ties: int,
    memory: NDArray[np.uint64],
    values: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> None: ...
def unweighted_mean(
    values: NDArray[np.float64],
    count_empty: bool,
    value_of_empty: float,
    counts: NDArray[np.int64],
) -> float | None: ...
