# Written by tools/generate.py from grouped_auc.pyx.

import numpy as np
from numpy.typing import NDArray

def group_pairs(
    hash_blocks: NDArray[np.uint64],
    label_blocks: NDArray[np.uint64],
    score_blocks: NDArray[np.uint64],
    head_blocks: NDArray[np.uint64],
    tail_blocks: NDArray[np.uint64],
    slice_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    double_scores: NDArray[np.uint8],
    label_of_view: NDArray[np.int64],
    score_of_view: NDArray[np.int64],
    start: int,
    stop: int,
    table: NDArray[np.uint32],
    group_of_row: NDArray[np.uint32],
    cursors: NDArray[np.int64],
    scores: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
    cells: NDArray[np.uint32],
    conflicts: NDArray[np.uint64],
    group_hashes: NDArray[np.uint64],
    group_heads: NDArray[np.uint64],
    group_tails: NDArray[np.uint64],
    group_slices: NDArray[np.uint16],
    class_counts: NDArray[np.int64],
    wins: NDArray[np.uint64],
    n_groups: NDArray[np.int64],
) -> None: ...
def number_groups(
    hash_blocks: NDArray[np.uint64],
    label_blocks: NDArray[np.uint64],
    head_blocks: NDArray[np.uint64],
    tail_blocks: NDArray[np.uint64],
    slice_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    partition: int,
    table: NDArray[np.uint32],
    group_of_row: NDArray[np.uint32],
    group_hashes: NDArray[np.uint64],
    group_heads: NDArray[np.uint64],
    group_tails: NDArray[np.uint64],
    group_slices: NDArray[np.uint16],
    class_counts: NDArray[np.int64],
    n_groups: NDArray[np.int64],
) -> None: ...
def auc_terms_of_segments(
    class_counts: NDArray[np.int64],
    wins: NDArray[np.uint64],
    weight_rule: int,
    count_single: bool,
    starts: NDArray[np.int64],
    states: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None: ...
def auc_terms(
    class_counts: NDArray[np.int64],
    wins: NDArray[np.uint64],
    weight_rule: int,
    count_single: bool,
    weighted_auc: NDArray[np.int64],
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None: ...
