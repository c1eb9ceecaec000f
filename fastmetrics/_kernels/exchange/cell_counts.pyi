# Written by tools/generate.py from cell_counts.pyx.

import numpy as np
from numpy.typing import NDArray

def weigh_numbers(
    numbers: NDArray[np.int64],
    weights: NDArray[np.float64],
    states: NDArray[np.int64],
    counts: NDArray[np.int64] | None,
) -> None: ...

class CellCounter:
    size: int
    total: int
    def __init__(self) -> None: ...
    @property
    def n_bytes(self) -> int: ...
    def add(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        counts: NDArray[np.int64] | None,
        numbers: NDArray[np.int64] | None,
    ) -> None: ...
    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
    def empty(self) -> None: ...
