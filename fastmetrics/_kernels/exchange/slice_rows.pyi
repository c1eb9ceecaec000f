# Written by tools/generate.py from slice_rows.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks

MOST_PLACES: int
MISSING: int
NEGATIVES: int
POSITIVES: int
BELOW: int
RUN: int
WINS: int
HIGH_WINS: int
N_FIELDS: int

def look_up(table: NDArray[np.int32], sizes: tuple[Any, ...], columns: list[Any], out: NDArray[np.uint16]) -> int: ...
def find_first_rows(codes: NDArray[np.int64], first_rows: NDArray[np.int64]) -> None: ...
def count_rows(numbers: NDArray[np.uint16], labels: NDArray[np.uint8] | None, counts: NDArray[np.int64]) -> None: ...
def order_bucket(
    keys: ColumnBlocks,
    code_columns: list[Any],
    offsets: NDArray[np.int32],
    bucket: int,
    rows: NDArray[np.uint64],
    unordered: NDArray[np.uint16],
    codes: NDArray[np.uint16],
    ordered: NDArray[np.uint32],
) -> int: ...
def add_ordered(
    ordered: NDArray[np.uint32],
    numbers: NDArray[np.uint16],
    run: int,
    pairs: NDArray[np.int64],
) -> int: ...
