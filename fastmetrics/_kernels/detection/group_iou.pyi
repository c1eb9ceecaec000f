import numpy as np
from numpy.typing import NDArray

MOST_SIZE: float

def find_bad_box(boxes: NDArray[np.float64]) -> int: ...
def look_up(
    values: NDArray[np.int64], low: int, high: int, table: NDArray[np.int64], out: NDArray[np.int64]
) -> None: ...
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
