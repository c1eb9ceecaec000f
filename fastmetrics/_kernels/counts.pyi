from typing import Any

import numpy as np
from numpy.typing import NDArray

FEW_LABELS: int
BLOCK_ROWS: int

def count_binary(
    first: NDArray[Any], second: NDArray[Any], start: int = 0, stop: int = -1
) -> tuple[int, int, int, int] | None: ...
def count_equal(first: NDArray[Any], second: NDArray[Any], start: int = 0, stop: int = -1) -> int: ...
def label_range(first: NDArray[Any], second: NDArray[Any], start: int, stop: int) -> tuple[int, int] | None: ...
def count_pairs(
    first: NDArray[Any], second: NDArray[Any], start: int, stop: int, low: int, bits: int, table: NDArray[np.int64]
) -> int: ...
def small_matrix(first: NDArray[Any], second: NDArray[Any], out: NDArray[np.int64]) -> int: ...
def small_counts(first: NDArray[Any], second: NDArray[Any], out: NDArray[np.int64]) -> int: ...
def count_margins(
    first: NDArray[np.int64], second: NDArray[np.int64], start: int, stop: int, margins: NDArray[np.int64]
) -> None: ...
def add_cells(first: NDArray[np.int64], second: NDArray[np.int64], cells: NDArray[np.int64]) -> None: ...
def count_equal_rows(first: NDArray[np.uint8], second: NDArray[np.uint8], start: int, stop: int) -> int: ...
def mark_equal(first: NDArray[Any], second: NDArray[Any], out: NDArray[np.uint8]) -> bool: ...
def order_weights(
    first: NDArray[np.int64],
    second: NDArray[np.int64] | None,
    n_second: int,
    weights: NDArray[np.float64],
    starts: NDArray[np.int64],
    ordered: NDArray[np.float64],
) -> None: ...
def sum_runs(ordered: NDArray[np.float64], starts: NDArray[np.int64], out: NDArray[np.float64]) -> None: ...
def run_states(
    ordered: NDArray[np.float64], starts: NDArray[np.int64], first_cell: int, states: NDArray[np.int64]
) -> None: ...
def round_counts(
    both: NDArray[np.int64],
    true: NDArray[np.int64],
    pred: NDArray[np.int64],
    total: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def count_sets(
    true: NDArray[np.uint8], pred: NDArray[np.uint8], start: int, stop: int, margins: NDArray[np.int64]
) -> None: ...
def count_set_rows(
    true: NDArray[np.uint8], pred: NDArray[np.uint8], start: int, stop: int, margins: NDArray[np.int64]
) -> None: ...
def weigh_sets(
    true: NDArray[np.uint8],
    pred: NDArray[np.uint8],
    weights: NDArray[np.float64],
    both: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> None: ...
