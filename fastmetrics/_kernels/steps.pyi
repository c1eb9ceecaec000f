import numpy as np
from numpy.typing import NDArray

MOST_PIVOTS: int
MOST_ROWS: int

def gather_class(
    blocks: NDArray[np.uint64], offsets: NDArray[np.int32], slot: int, out: NDArray[np.unsignedinteger]
) -> None: ...
def lowest_key_u32(blocks: NDArray[np.uint64], offsets: NDArray[np.int32], start: int, stop: int) -> int: ...
def lowest_key_u64(blocks: NDArray[np.uint64], offsets: NDArray[np.int32], start: int, stop: int) -> int: ...
def bucket_steps_u32(
    blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    start: int,
    stop: int,
    pivot: int,
    pivots: NDArray[np.uint32],
    scratch: NDArray[np.uint32],
    cells: NDArray[np.uint32],
    conflicts: NDArray[np.uint32],
    slots: NDArray[np.uint32],
    keys: NDArray[np.uint32],
    own: NDArray[np.int64],
    ties: NDArray[np.int64],
    gaps: NDArray[np.int64],
) -> int: ...
def bucket_steps_u64(
    blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    start: int,
    stop: int,
    pivot: int,
    pivots: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
    cells: NDArray[np.uint32],
    conflicts: NDArray[np.uint64],
    slots: NDArray[np.uint32],
    keys: NDArray[np.uint64],
    own: NDArray[np.int64],
    ties: NDArray[np.int64],
    gaps: NDArray[np.int64],
) -> int: ...
def place_pivots(pivots: NDArray[np.unsignedinteger], cells: NDArray[np.uint32]) -> int: ...
def number_of_cells(n_pivots: int) -> int: ...
def count_between(
    pivots: NDArray[np.unsignedinteger],
    cells: NDArray[np.uint32],
    shift: int,
    keys: NDArray[np.unsignedinteger],
    conflicts: NDArray[np.unsignedinteger],
    slots: NDArray[np.uint32],
) -> None: ...
def steps_pairs(
    own: NDArray[np.int64],
    ties: NDArray[np.int64],
    gaps: NDArray[np.int64],
    n_steps: int,
    pivot: int,
    pairs: NDArray[np.uint64],
) -> None: ...
def steps_precisions(
    own: NDArray[np.int64],
    ties: NDArray[np.int64],
    gaps: NDArray[np.int64],
    n_steps: int,
    negatives_above: int,
    positives_above: int,
    state: NDArray[np.int64],
) -> None: ...
def steps_extremes(
    own: NDArray[np.int64],
    ties: NDArray[np.int64],
    gaps: NDArray[np.int64],
    n_steps: int,
    pivot: int,
    all_negatives: int,
    all_positives: int,
    extremes: NDArray[np.int64],
) -> None: ...
def steps_of_sorted(
    keys: NDArray[np.unsignedinteger],
    middle: int,
    pivot: int,
    own: NDArray[np.int64],
    ties: NDArray[np.int64],
    gaps: NDArray[np.int64],
    step_keys: NDArray[np.unsignedinteger],
) -> int: ...
def steps_hull(
    own: NDArray[np.int64],
    ties: NDArray[np.int64],
    gaps: NDArray[np.int64],
    n_steps: int,
    places: NDArray[np.int64],
    x: NDArray[np.int64],
    y: NDArray[np.int64],
) -> int: ...
