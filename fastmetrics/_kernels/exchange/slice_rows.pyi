# Written by tools/generate.py from slice_rows.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING: int
NEGATIVES: int
POSITIVES: int
BELOW: int
RUN: int
WINS: int
HIGH_WINS: int
N_FIELDS: int

def look_up(table: NDArray[np.int32], sizes: tuple[Any, ...], columns: list[Any], out: NDArray[np.uint16]) -> int: ...
def find_first_rows(codes: NDArray[np.int64], first_rows: NDArray[np.int64]) -> None: ...
def count_rows(numbers: NDArray[np.uint16], labels: NDArray[np.uint8] | None, counts: NDArray[np.int64]) -> None: ...
def order_bucket(
    blocks: NDArray[np.uint64],
    code_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    bucket: int,
    are_short: bool,
    rows: NDArray[np.uint64],
    unordered: NDArray[np.uint16],
    codes: NDArray[np.uint16],
    ordered: NDArray[np.uint32],
) -> int: ...
def add_ordered(
    ordered: NDArray[np.uint32],
    numbers: NDArray[np.uint16],
    run: int,
    pairs: NDArray[np.int64],
) -> int: ...
def order_groups(
    hash_blocks: NDArray[np.uint64],
    label_blocks: NDArray[np.uint64],
    score_blocks: NDArray[np.uint64],
    head_blocks: NDArray[np.uint64],
    tail_blocks: NDArray[np.uint64],
    code_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    double_scores: NDArray[np.uint8],
    label_of_output: NDArray[np.int64],
    score_of_output: NDArray[np.int64],
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
    label_of_output: NDArray[np.int64],
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
    one_class: NDArray[np.int64],
) -> None: ...
