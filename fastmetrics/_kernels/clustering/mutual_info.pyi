# Written by tools/generate.py from mutual_info.pyx.

import numpy as np
from numpy.typing import NDArray

def sum_information(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    counts: NDArray[np.int64],
    row_sums: NDArray[np.int64],
    column_sums: NDArray[np.int64],
    total: int,
    start: int,
    stop: int,
    state: NDArray[np.int64],
) -> int: ...
def sum_entropy(sizes: NDArray[np.int64], total: int, state: NDArray[np.int64]) -> None: ...
def sum_expected(
    first: NDArray[np.int64],
    first_counts: NDArray[np.int64],
    second: NDArray[np.int64],
    second_counts: NDArray[np.int64],
    total: int,
    start: int,
    stop: int,
    state: NDArray[np.int64],
) -> None: ...
def square_sum(counts: NDArray[np.int64], wide: bool) -> int: ...
def max_by_column(columns: NDArray[np.int64], counts: NDArray[np.int64], maxima: NDArray[np.int64]) -> None: ...
