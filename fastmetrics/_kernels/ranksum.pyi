import numpy as np
from numpy.typing import NDArray

MOST_CELLS: int
MOST_CONFLICTS: int

def range_block_f32(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float32],
    start: int,
    stop: int,
    low: int,
    shift: int,
    bucket_of_cell: NDArray[np.uint16],
    cuts: NDArray[np.uint32],
    slices: NDArray[np.uint16],
    first_cuts: NDArray[np.int32],
    n_buckets: int,
    slots: NDArray[np.uint16],
    keys: NDArray[np.uint32],
    offsets: NDArray[np.int32],
    has_nan: NDArray[np.int64],
) -> None: ...
def range_block_f64(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float64],
    start: int,
    stop: int,
    low: int,
    shift: int,
    bucket_of_cell: NDArray[np.uint16],
    cuts: NDArray[np.uint64],
    slices: NDArray[np.uint16],
    first_cuts: NDArray[np.int32],
    n_buckets: int,
    slots: NDArray[np.uint16],
    keys: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    has_nan: NDArray[np.int64],
) -> None: ...
def scatter_weights(
    weights: NDArray[np.float64],
    slots: NDArray[np.uint16],
    offsets: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None: ...
def bucket_pairs_u32(
    blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    start: int,
    stop: int,
    few: NDArray[np.uint32],
    scratch: NDArray[np.uint32],
    cells: NDArray[np.uint32],
    conflicts: NDArray[np.uint32],
    counts: NDArray[np.int64],
    pairs: NDArray[np.uint64],
) -> None: ...
def bucket_pairs_u64(
    blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    start: int,
    stop: int,
    few: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
    cells: NDArray[np.uint32],
    conflicts: NDArray[np.uint64],
    counts: NDArray[np.int64],
    pairs: NDArray[np.uint64],
) -> None: ...
def work_words(n: int) -> int: ...
def count_pairs(
    labels: NDArray[np.uint8], scores: NDArray[np.float32] | NDArray[np.float64], work: NDArray[np.uint64]
) -> tuple[int, int, bool]: ...
