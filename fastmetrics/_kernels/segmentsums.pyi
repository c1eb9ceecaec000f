import numpy as np
from numpy.typing import NDArray

COLUMNS: int
TABLE: int

def sum_picked(panel: NDArray[np.int64], picks: NDArray[np.int64], out: NDArray[np.int64]) -> None: ...
def sum_masked(
    panel: NDArray[np.int64], masks: NDArray[np.uint8], table: NDArray[np.int64], out: NDArray[np.int64]
) -> None: ...
