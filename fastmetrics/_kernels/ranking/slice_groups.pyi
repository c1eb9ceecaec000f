# Written by tools/generate.py from slice_groups.pyx.

import numpy as np
from numpy.typing import NDArray

WORDS_OF_CELL: int

def order_rows(
    hash_blocks: NDArray[np.uint64],
    label_blocks: NDArray[np.uint64],
    score_blocks: NDArray[np.uint64],
    head_blocks: NDArray[np.uint64],
    tail_blocks: NDArray[np.uint64],
    code_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    double_scores: NDArray[np.uint8],
    label_of_view: NDArray[np.int64],
    score_of_view: NDArray[np.int64],
    start: int,
    stop: int,
    table: NDArray[np.uint32],
    places: NDArray[np.uint32],
    class_counts: NDArray[np.int64],
    rows: NDArray[np.uint64],
    hashes: NDArray[np.uint64],
    heads: NDArray[np.uint64],
    tails: NDArray[np.uint64],
    starts: NDArray[np.uint32],
    labels: NDArray[np.uint8],
    codes: NDArray[np.uint16],
    ordered: NDArray[np.uint32],
) -> tuple[int, int]: ...
def count_cells(
    numbers: NDArray[np.uint16],
    starts: NDArray[np.uint32],
    n_groups: int,
    seen: NDArray[np.uint64],
    first: NDArray[np.int64],
) -> None: ...
def count_pairs(
    numbers: NDArray[np.uint16],
    starts: NDArray[np.uint32],
    n_groups: int,
    labels: NDArray[np.uint8],
    ordered: NDArray[np.uint32],
    label_of_view: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    heads: NDArray[np.uint64],
    tails: NDArray[np.uint64],
    seen: NDArray[np.uint64],
    next_cell: NDArray[np.int64],
    cell_of_row: NDArray[np.uint32],
    cell_numbers: NDArray[np.int64],
    cell_counts: NDArray[np.uint64],
    cells: NDArray[np.int64],
    cell_hashes: NDArray[np.uint64],
    cell_heads: NDArray[np.uint64],
    cell_tails: NDArray[np.uint64],
    class_counts: NDArray[np.int64],
    wins: NDArray[np.uint64],
) -> None: ...
