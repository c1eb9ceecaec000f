import numpy as np
from numpy.typing import NDArray

CELLS: int
DIFFERENT_SCORES: int
HASH_WORDS: int

def bucket_placements_u32(
    blocks: NDArray[np.uint64],
    placed: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    bucket: int,
    negatives_below: int,
    positives_above: int,
    few: NDArray[np.uint32],
    scratch: NDArray[np.uint32],
    cells: NDArray[np.uint32],
    slots: NDArray[np.uint32],
) -> None: ...
def bucket_placements_u64(
    blocks: NDArray[np.uint64],
    placed: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    bucket: int,
    negatives_below: int,
    positives_above: int,
    few: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
    cells: NDArray[np.uint32],
    slots: NDArray[np.uint32],
) -> None: ...
def placements_in_order(
    row_slots: NDArray[np.uint16],
    offsets: NDArray[np.int32],
    placed: NDArray[np.uint32],
    out: NDArray[np.uint32],
) -> None: ...
def number_scores_f32(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float32],
    table: NDArray[np.uint64],
    different: NDArray[np.uint64],
    counts: NDArray[np.int32],
    numbers: NDArray[np.uint16],
    has_nan: NDArray[np.int64],
) -> int: ...
def number_scores_f64(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float64],
    table: NDArray[np.uint64],
    different: NDArray[np.uint64],
    counts: NDArray[np.int32],
    numbers: NDArray[np.uint16],
    has_nan: NDArray[np.int64],
) -> int: ...
def tied_placements(
    labels: NDArray[np.uint8],
    numbers: NDArray[np.uint16],
    table: NDArray[np.uint32],
    out: NDArray[np.uint32],
) -> None: ...
def sum_placements(
    labels: NDArray[np.uint8],
    one: NDArray[np.uint32],
    two: NDArray[np.uint32],
    sums: NDArray[np.uint64],
) -> None: ...
def add_by_group(
    labels: NDArray[np.uint8],
    codes: NDArray[np.int64],
    one: NDArray[np.uint32],
    two: NDArray[np.uint32],
    table: NDArray[np.int64],
) -> None: ...
def sum_products(table: NDArray[np.int64], products: NDArray[np.uint64]) -> None: ...
def steps_squares(
    own: NDArray[np.int64],
    ties: NDArray[np.int64],
    gaps: NDArray[np.int64],
    n_steps: int,
    pivot: int,
    negatives: int,
    sums: NDArray[np.uint64],
) -> None: ...
