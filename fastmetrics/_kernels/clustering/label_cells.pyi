# Written by tools/generate.py from label_cells.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

def count_range(values: Any, start: int, stop: int, low: int, sums: NDArray[np.int64]) -> bool: ...
def partition_sizes(
    first: Any,
    second: Any,
    low: int,
    other_low: int,
    start: int,
    stop: int,
    bits: int,
    sizes: NDArray[np.int64],
) -> None: ...
def scatter_keys(
    first: Any,
    second: Any,
    low: int,
    other_low: int,
    start: int,
    stop: int,
    bits: int,
    width: int,
    other_width: int,
    offsets: NDArray[np.int64],
    ends: NDArray[np.int64],
    keys: NDArray[np.uint64],
) -> bool: ...
def list_keys(
    keys: NDArray[np.uint64],
    counts: NDArray[np.int64],
    start: int,
    stop: int,
    column: int,
    code_of: NDArray[np.uint32] | None,
    other_code_of: NDArray[np.uint32] | None,
    out: NDArray[np.int64],
) -> None: ...

class TableCounter:
    def __init__(self, max_cells: int, max_pending: int = ...) -> None: ...
    def add(self, first: Any, second: Any, start: int, stop: int) -> bool: ...
    def merge(self, other: TableCounter) -> bool: ...
    def cells(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...

class KeyCounter:
    def __init__(self) -> None: ...
    def count(self, keys: NDArray[np.uint64], counts: NDArray[np.int64], start: int, stop: int) -> int: ...
