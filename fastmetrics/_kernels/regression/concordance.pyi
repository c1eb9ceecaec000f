# Written by tools/generate.py from concordance.pyx.

import numpy as np
from numpy.typing import NDArray

COUNT_WORDS: int
SCRATCH_ROWS: int

def count_discordant(
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    weights: NDArray[np.uint64] | None,
    start: int,
    stop: int,
    scratch: NDArray[np.uint32] | NDArray[np.uint64],
    weight_scratch: NDArray[np.uint64] | None,
    count: NDArray[np.uint64],
) -> None: ...
def merge_discordant(
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    weights: NDArray[np.uint64] | None,
    start: int,
    middle: int,
    stop: int,
    out: NDArray[np.uint32] | NDArray[np.uint64],
    out_weights: NDArray[np.uint64] | None,
    count: NDArray[np.uint64],
) -> None: ...
def gather_rows(
    packed: NDArray[np.uint64],
    mask: int,
    targets: NDArray[np.uint64],
    scores: NDArray[np.uint64],
    weights: NDArray[np.uint64] | None,
    start: int,
    stop: int,
    out_targets: NDArray[np.uint64],
    out_scores: NDArray[np.uint64],
    out_weights: NDArray[np.uint64] | None,
) -> None: ...
def sort_within_prefixes(
    targets: NDArray[np.uint64],
    scores: NDArray[np.uint64],
    weights: NDArray[np.uint64] | None,
    shift: int,
    scratch: NDArray[np.uint64],
    weight_scratch: NDArray[np.uint64] | None,
    unsorted_ranges: NDArray[np.int64],
) -> int: ...
def add_tie_squares(
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    others: NDArray[np.uint32] | NDArray[np.uint64] | None,
    weights: NDArray[np.uint64] | None,
    count: NDArray[np.uint64],
) -> None: ...
