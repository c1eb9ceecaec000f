# Written by tools/generate.py from group_iou.pyx.

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.detection.image_category_groups import GroupedRows

MOST_SIZE: float

def find_bad_box(boxes: NDArray[np.float64]) -> int: ...
def look_up(
    values: NDArray[np.int64],
    low: int,
    high: int,
    table: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None: ...
def box_iou_by_group(
    first: int,
    last: int,
    truth: NDArray[np.float64],
    crowd: NDArray[np.uint8],
    detections: NDArray[np.float64],
    groups: GroupedRows,
    out: NDArray[np.float64],
) -> None: ...
