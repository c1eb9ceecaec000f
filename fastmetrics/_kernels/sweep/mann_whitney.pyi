# Written by tools/generate.py from mann_whitney.pyx.

import numpy as np
from numpy.typing import NDArray

MAX_TABLE_CELLS: int
MAX_CONFLICTS: int

def range_partition(
    labels: NDArray[np.uint8],
    score_bits: NDArray[np.uint32] | NDArray[np.uint64],
    low: int,
    shift: int,
    bucket_of_cell: NDArray[np.uint16],
    cuts: NDArray[np.uint32] | NDArray[np.uint64],
    slices: NDArray[np.uint16],
    first_cuts: NDArray[np.int32],
    n_buckets: int,
    slots: NDArray[np.uint16],
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    offsets: NDArray[np.int32],
    has_nan: NDArray[np.int64],
) -> None: ...
def scatter_column(
    column: NDArray[np.float64] | NDArray[np.uint16],
    slots: NDArray[np.uint16],
    offsets: NDArray[np.int32],
    out: NDArray[np.float64] | NDArray[np.uint16],
) -> None: ...
def count_bucket_pairs(
    blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    start: int,
    stop: int,
    minority: NDArray[np.uint32] | NDArray[np.uint64],
    scratch: NDArray[np.uint32] | NDArray[np.uint64],
    cells: NDArray[np.uint32],
    conflicts: NDArray[np.uint32] | NDArray[np.uint64],
    counts: NDArray[np.int64],
    pairs: NDArray[np.uint64],
) -> None: ...
def n_scratch_words(n: int) -> int: ...
def count_pairs(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float32] | NDArray[np.float64],
    scratch: NDArray[np.uint64],
) -> tuple[int, int, bool]: ...
