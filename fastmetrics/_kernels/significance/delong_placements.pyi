# Written by tools/generate.py from delong_placements.pyx.

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks

TABLE_ENTRIES: int
MAX_DISTINCT_SCORES: int
HASH_WORDS: int

def bucket_placements(
    blocks: ColumnBlocks,
    placements: ColumnBlocks,
    offsets: NDArray[np.int32],
    bucket: int,
    negatives_below: int,
    positives_above: int,
    minority: NDArray[np.uint32] | NDArray[np.uint64],
    scratch: NDArray[np.uint32] | NDArray[np.uint64],
    cells: NDArray[np.uint32],
    slots: NDArray[np.uint32],
) -> None: ...
def placements_in_order(
    row_slots: NDArray[np.uint16],
    offsets: NDArray[np.int32],
    placements: NDArray[np.uint32],
    out: NDArray[np.uint32],
) -> None: ...
def encode_scores(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float32] | NDArray[np.float64],
    table: NDArray[np.uint64],
    distinct_keys: NDArray[np.uint64],
    counts: NDArray[np.int32],
    codes: NDArray[np.uint16],
    has_nan: NDArray[np.int64],
) -> int: ...
def look_up_placements(
    labels: NDArray[np.uint8],
    codes: NDArray[np.uint16],
    table: NDArray[np.uint32],
    out: NDArray[np.uint32],
) -> None: ...
def sum_placements(
    labels: NDArray[np.uint8],
    first_model: NDArray[np.uint32],
    second_model: NDArray[np.uint32],
    sums: NDArray[np.uint64],
) -> None: ...
def sum_placements_by_group(
    labels: NDArray[np.uint8],
    group_codes: NDArray[np.int64],
    first_model: NDArray[np.uint32],
    second_model: NDArray[np.uint32],
    table: NDArray[np.int64],
) -> None: ...
def sum_products(table: NDArray[np.int64], products: NDArray[np.uint64]) -> None: ...
def sweep_squares(
    negatives: NDArray[np.int64],
    positives: NDArray[np.int64],
    all_negatives: int,
    sums: NDArray[np.uint64],
) -> None: ...
