from typing import Any

import numpy as np
from numpy.typing import NDArray

ABREAST: int
LOT_BITS: int
POSITIVE: int
MOST_LOTS: int
DIGITS: int

def scatter_lots(
    lots: NDArray[np.uint16], slots: NDArray[np.uint16], offsets: NDArray[np.int32], out: NDArray[np.uint16]
) -> None: ...
def order_bucket_u32(
    key_blocks: NDArray[np.uint64],
    lot_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    bucket: int,
    keys: NDArray[np.uint32],
    other_keys: NDArray[np.uint32],
    codes: NDArray[np.uint16],
    other_codes: NDArray[np.uint16],
    places: NDArray[np.int64],
    segments: NDArray[np.int32],
) -> int: ...
def order_bucket_u64(
    key_blocks: NDArray[np.uint64],
    lot_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    bucket: int,
    keys: NDArray[np.uint64],
    other_keys: NDArray[np.uint64],
    codes: NDArray[np.uint16],
    other_codes: NDArray[np.uint16],
    places: NDArray[np.int64],
    segments: NDArray[np.int32],
) -> int: ...
def count_lots(lots: NDArray[np.uint16], bounds: NDArray[np.int64], counts: NDArray[np.int64]) -> None: ...
def total_lanes(weights: NDArray[np.uint8], counts: NDArray[np.int64], totals: NDArray[np.int64]) -> None: ...
def pairs_walk(
    codes: NDArray[np.uint16],
    segments: NDArray[np.int32],
    n_segments: int,
    weights: NDArray[np.uint8],
    most: int,
    state: NDArray[np.int64],
    plain: bool = ...,
) -> None: ...
def pairs_tie(own: NDArray[np.int64], state: NDArray[np.int64]) -> None: ...
def extremes_walk(
    codes: NDArray[np.uint16],
    segments: NDArray[np.int32],
    n_segments: int,
    weights: NDArray[np.uint8],
    most: int,
    totals: NDArray[np.int64],
    state: NDArray[np.int64],
    plain: bool = ...,
) -> None: ...
def extremes_tie(own: NDArray[np.int64], totals: NDArray[np.int64], state: NDArray[np.int64]) -> None: ...
def crossing_walk(
    codes: NDArray[np.uint16],
    weights: NDArray[np.uint8],
    most: int,
    totals: NDArray[np.int64],
    state: NDArray[np.int64],
    plain: bool = ...,
) -> None: ...
def crossing_tie(own: NDArray[np.int64], totals: NDArray[np.int64], state: NDArray[np.int64]) -> None: ...
def precisions_walk(
    codes: NDArray[np.uint16],
    weights: NDArray[np.uint8],
    most: int,
    state: NDArray[np.int64],
    plain: bool = ...,
) -> None: ...
def precisions_tie(own: NDArray[np.int64], state: NDArray[np.int64]) -> None: ...
def lane_steps(
    codes: NDArray[np.uint16],
    keys: NDArray[Any],
    weights: NDArray[np.uint8],
    lane: int,
    own: NDArray[np.int64],
    ties: NDArray[np.int64],
    gaps: NDArray[np.int64],
    step_keys: NDArray[Any],
    counts: NDArray[np.int64],
) -> int: ...
