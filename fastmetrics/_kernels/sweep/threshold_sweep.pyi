# Written by tools/generate.py from threshold_sweep.pyx.

import numpy as np
from numpy.typing import NDArray

MAX_PIVOTS: int
MAX_ROWS: int

def gather_class(
    blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    slot: int,
    out: NDArray[np.uint32] | NDArray[np.uint64],
) -> None: ...
def lowest_key(
    blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    start: int,
    stop: int,
    lowest: NDArray[np.uint32] | NDArray[np.uint64],
) -> None: ...
def sweep_buckets(
    blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    start: int,
    stop: int,
    pivot_class: int,
    pivots: NDArray[np.uint32] | NDArray[np.uint64],
    cells: NDArray[np.uint32],
    conflicts: NDArray[np.uint32] | NDArray[np.uint64],
    slots: NDArray[np.uint32],
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    masses: NDArray[np.int64],
) -> int: ...
def build_pivot_table(pivots: NDArray[np.uint32] | NDArray[np.uint64], cells: NDArray[np.uint32]) -> int: ...
def pivot_table_cells(n_pivots: int) -> int: ...
def count_between_pivots(
    pivots: NDArray[np.uint32] | NDArray[np.uint64],
    cells: NDArray[np.uint32],
    shift: int,
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    conflicts: NDArray[np.uint32] | NDArray[np.uint64],
    slots: NDArray[np.uint32],
) -> None: ...
