from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

class TableCounter:
    def __init__(self, most: int, most_pending: int = ...) -> None: ...
    def add(self, first: NDArray[Any], second: NDArray[Any], start: int, stop: int) -> bool: ...
    def merge(self, other: TableCounter) -> bool: ...
    def cells(self) -> tuple[Integers, Integers, Integers, Integers, Integers, Integers, Integers]: ...

class KeyCounter:
    def count(self, keys: NDArray[np.uint64], counts: Integers, start: int, stop: int) -> int: ...

def count_range(values: NDArray[Any], start: int, stop: int, low: int, sums: Integers) -> None: ...
def partition_sizes(
    first: NDArray[Any],
    second: NDArray[Any],
    low: int,
    other_low: int,
    start: int,
    stop: int,
    bits: int,
    sizes: Integers,
) -> None: ...
def scatter_keys(
    first: NDArray[Any],
    second: NDArray[Any],
    low: int,
    other_low: int,
    start: int,
    stop: int,
    bits: int,
    places: Integers,
    keys: NDArray[np.uint64],
) -> None: ...
def list_keys(
    keys: NDArray[np.uint64],
    counts: Integers,
    start: int,
    stop: int,
    place: int,
    numbers: NDArray[np.uint32] | None,
    other_numbers: NDArray[np.uint32] | None,
    out: Integers,
) -> None: ...
