# Written by tools/generate.py from hash_partition.pyx.

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks

MOST_ORDERED: int
SHORT_TEXT_BYTES: int

def hash_keys(keys: NDArray[np.int32] | NDArray[np.int64] | NDArray[np.uint64], out: NDArray[np.uint64]) -> None: ...
def unhash_keys(hashes: NDArray[np.uint64], out: NDArray[np.uint64]) -> None: ...
def make_text_slots(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int32] | NDArray[np.int64],
    heads: NDArray[np.uint64],
    tails: NDArray[np.uint64],
    hashes: NDArray[np.uint64],
    n_long_bytes: NDArray[np.int64],
) -> None: ...
def copy_long_texts(
    heads: NDArray[np.uint64],
    tails: NDArray[np.uint64],
    data: NDArray[np.uint8],
    out: NDArray[np.uint8],
) -> None: ...
def read_text_slots(heads: NDArray[np.uint64], tails: NDArray[np.uint64]) -> list[bytes]: ...
def copy_texts(
    heads: NDArray[np.uint64],
    tails: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> None: ...
def partition_block(
    hashes: NDArray[np.uint64],
    shift: int,
    first_partition: int,
    offsets: NDArray[np.int32],
    destinations: NDArray[np.uint32],
) -> None: ...
def partition_segments(
    hashes: ColumnBlocks,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    shift: int,
    first_partition: int,
    offsets: NDArray[np.int32],
    destinations: NDArray[np.uint32],
) -> None: ...
def scatter_segments(
    column: ColumnBlocks,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    destinations: NDArray[np.uint32],
    out: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.uint64],
) -> None: ...
def order_segments(
    hashes: ColumnBlocks,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    first: int,
    shift: int,
    words: NDArray[np.uint32],
    destinations: NDArray[np.uint32],
) -> None: ...
def place_keys(
    hashes: ColumnBlocks,
    heads: ColumnBlocks | None,
    tails: ColumnBlocks | None,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None: ...
def order_by_slice(
    slices: NDArray[np.uint16],
    starts: NDArray[np.int64],
    destinations: NDArray[np.uint32],
) -> None: ...
def mark_rows_of_key(
    hashes: NDArray[np.uint64],
    heads: NDArray[np.uint64],
    tails: NDArray[np.uint64],
    hash_: int,
    head: int,
    tail: int,
    out: NDArray[np.uint8],
) -> None: ...
def scatter(
    column: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.uint64],
    destinations: NDArray[np.uint32],
    out: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.uint64],
) -> None: ...
def encode_utf8(codes: NDArray[np.uint32], out_offsets: NDArray[np.int64], out: NDArray[np.uint8]) -> int: ...
