# Written by tools/generate.py from cell_numbers.pyx.

import numpy as np
from numpy.typing import NDArray

def count_numbers(numbers: NDArray[np.int64], counts: NDArray[np.int64]) -> None: ...
def weigh_numbers(
    numbers: NDArray[np.int64],
    weights: NDArray[np.float64],
    states: NDArray[np.int64],
    counts: NDArray[np.int64] | None,
) -> None: ...

class CellNumbers:
    size: int
    def __init__(self) -> None: ...
    def number(self, first: NDArray[np.int64], second: NDArray[np.int64], numbers: NDArray[np.int64]) -> None: ...
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
