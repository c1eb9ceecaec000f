# Written by tools/generate.py from score_replicates.pyx.

import numpy as np
from numpy.typing import NDArray

REPLICATES_PER_BATCH: int
UNIT_BUCKET_MASK: int
POSITIVE_FLAG: int
MAX_UNIT_BUCKETS: int
RADIX_SIZE: int

def order_bucket(
    key_blocks: NDArray[np.uint64],
    unit_bucket_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    bucket: int,
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    scratch_keys: NDArray[np.uint32] | NDArray[np.uint64],
    codes: NDArray[np.uint16],
    scratch_codes: NDArray[np.uint16],
    positions: NDArray[np.int64],
    segments: NDArray[np.int32],
) -> int: ...
def count_unit_buckets(
    unit_buckets: NDArray[np.uint16],
    bounds: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None: ...
def replicate_totals(weights: NDArray[np.uint8], counts: NDArray[np.int64], totals: NDArray[np.int64]) -> None: ...
def sweep_pairs(
    codes: NDArray[np.uint16],
    segments: NDArray[np.int32],
    weights: NDArray[np.uint8],
    max_weight: int,
    state: NDArray[np.int64],
) -> None: ...
def sweep_extremes(
    codes: NDArray[np.uint16],
    weights: NDArray[np.uint8],
    max_weight: int,
    totals: NDArray[np.int64],
    state: NDArray[np.int64],
) -> None: ...
def sweep_crossing(
    codes: NDArray[np.uint16],
    weights: NDArray[np.uint8],
    max_weight: int,
    totals: NDArray[np.int64],
    state: NDArray[np.int64],
) -> None: ...
def sweep_precisions(
    codes: NDArray[np.uint16],
    weights: NDArray[np.uint8],
    max_weight: int,
    state: NDArray[np.int64],
) -> None: ...
