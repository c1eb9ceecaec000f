# Written by tools/generate.py from iou.pyx.

import numpy as np
from numpy.typing import NDArray

MOST_SIZE: float

def to_corner_columns(boxes: NDArray[np.float64], corners: bool, border: float, out: NDArray[np.float64]) -> int: ...
def pairwise_iou(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    crowd: NDArray[np.uint8] | None,
    border: float,
    start: int,
    stop: int,
    out: NDArray[np.float64],
) -> None: ...
