# Written by tools/generate.py from image_category_groups.pyx.

import numpy as np
from numpy.typing import NDArray

def counting_sort(
    keys: NDArray[np.int64],
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None: ...
def list_groups(
    truth_keys: NDArray[np.int64],
    detection_keys: NDArray[np.int64],
    keys: NDArray[np.int64],
    truth_starts: NDArray[np.int64],
    detection_starts: NDArray[np.int64],
) -> int: ...
def sort_groups(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    scores: NDArray[np.float64],
    rows: NDArray[np.int64],
) -> None: ...

class GroupedRows:
    n_groups: int
    most_truth: int
    def __init__(
        self,
        truth_starts: NDArray[np.int64],
        truth_rows: NDArray[np.int64],
        detection_starts: NDArray[np.int64],
        detection_rows: NDArray[np.int64],
        iou_starts: NDArray[np.int64],
    ) -> None: ...
