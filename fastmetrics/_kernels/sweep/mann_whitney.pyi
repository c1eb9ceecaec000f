# Written by tools/generate.py from mann_whitney.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_TABLE_CELLS: int
MAX_CONFLICTS: int
N_CELLS: int
MOST_BUCKETS: int

def range_partition(
    splitter: Splitter,
    labels: NDArray[np.uint8],
    score_bits: NDArray[np.uint32] | NDArray[np.uint64],
    slices: NDArray[np.uint16],
    slots: NDArray[np.uint16],
    offsets: NDArray[np.int32],
    keys: NDArray[np.uint32] | NDArray[np.uint64],
) -> bool: ...
def order_by_bucket(
    splitter: Splitter,
    scores: NDArray[np.float32] | NDArray[np.float64],
    slots: NDArray[np.uint16],
    offsets: NDArray[np.int32],
) -> None: ...
def scatter_column(
    column: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.uint64],
    slots: NDArray[np.uint16],
    offsets: NDArray[np.int32],
    out: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.uint64],
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

class Splitter:
    cuts: Any
    n_buckets: int
    def __init__(
        self,
        cuts: NDArray[np.uint64],
        first_cuts: NDArray[np.int32],
        bucket_of_cell: NDArray[np.uint16],
        low: int,
        shift: int,
    ) -> None: ...
    def buckets_by_slice(self) -> list[range]: ...
