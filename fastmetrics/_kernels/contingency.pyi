import numpy as np
from numpy.typing import NDArray

Cells = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

class PairCounter:
    size: int
    total: int
    def add(self, first: NDArray[np.int64], second: NDArray[np.int64], start: int, stop: int) -> None: ...
    def add_cells(
        self, first: NDArray[np.int64], second: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> None: ...
    def cells(self) -> Cells: ...

def square_sum(counts: NDArray[np.int64], wide: bool) -> int: ...
def greatest_by_column(
    columns: NDArray[np.int64], counts: NDArray[np.int64], greatest: NDArray[np.int64]
) -> None: ...
