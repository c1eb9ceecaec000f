# Written by tools/generate.py from voc_matching.pyx.

import numpy as np
from numpy.typing import NDArray

FALSE_POSITIVE: int
TRUE_POSITIVE: int
IGNORED: int

def match(
    truth: NDArray[np.float64],
    truth_images: NDArray[np.int64],
    difficult: NDArray[np.uint8],
    first: int,
    last: int,
    detections: NDArray[np.float64],
    detection_images: NDArray[np.int64],
    order: NDArray[np.int64],
    threshold: float,
    border: float,
    matched: NDArray[np.uint8],
    outcomes: NDArray[np.int8],
) -> None: ...
def curve(
    outcomes: NDArray[np.int8],
    start: int,
    stop: int,
    n_truth: int,
    precision: NDArray[np.float64],
    recall: NDArray[np.float64],
    counted_ranks: NDArray[np.int64],
    averages: NDArray[np.float64],
) -> int: ...
