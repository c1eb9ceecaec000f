import numpy as np
from numpy.typing import NDArray

def box_overlaps(
    first: int,
    last: int,
    truth: NDArray[np.float64],
    crowd: NDArray[np.uint8],
    found: NDArray[np.float64],
    truth_starts: NDArray[np.int64],
    truth_rows: NDArray[np.int64],
    found_starts: NDArray[np.int64],
    found_rows: NDArray[np.int64],
    overlap_starts: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
