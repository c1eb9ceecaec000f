# Written by tools/generate.py from label_counts.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

FEW_LABELS: int
BLOCK_ROWS: int

def count_binary(first: Any, second: Any, start: int = 0, stop: int = -1) -> tuple[int, int, int, int] | None: ...
def count_equal(first: Any, second: Any, start: int = 0, stop: int = -1) -> int: ...
def label_range(first: Any, second: Any, start: int, stop: int) -> tuple[int, int] | None: ...
def count_cells(
    first: Any,
    second: Any,
    start: int,
    stop: int,
    low: int,
    bits: int,
    table: NDArray[np.int64],
) -> int: ...
def number_cells(
    first: Any,
    second: Any,
    start: int,
    stop: int,
    low: int,
    bits: int,
    numbers: NDArray[np.int32],
) -> int: ...
def count_margins(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    start: int,
    stop: int,
    margins: NDArray[np.int64],
) -> None: ...
def add_cells(first: NDArray[np.int64], second: NDArray[np.int64], cells: NDArray[np.int64]) -> None: ...
def count_equal_rows(first: NDArray[np.uint8], second: NDArray[np.uint8], start: int, stop: int) -> int: ...
def mark_equal_rows(first: NDArray[np.uint8], second: NDArray[np.uint8], out: NDArray[np.uint8]) -> None: ...
def mark_equal(first: Any, second: Any, out: NDArray[np.uint8]) -> bool: ...
def count_indicators(
    true: NDArray[np.uint8],
    pred: NDArray[np.uint8],
    start: int,
    stop: int,
    margins: NDArray[np.int64],
) -> None: ...
def count_indicator_rows(
    true: NDArray[np.uint8],
    pred: NDArray[np.uint8],
    start: int,
    stop: int,
    margins: NDArray[np.int64],
) -> None: ...
def small_matrix(first: Any, second: Any, out: NDArray[np.int64]) -> int: ...
def small_counts(first: Any, second: Any, out: NDArray[np.int64]) -> int: ...
