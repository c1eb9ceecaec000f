# Written by tools/generate.py from matching.pyx.

import numpy as np
from numpy.typing import NDArray

MAX_CRITERIA: int

def match_groups(
    first: int,
    last: int,
    truth_starts: NDArray[np.int64],
    truth_rows: NDArray[np.int64],
    detection_starts: NDArray[np.int64],
    detection_rows: NDArray[np.int64],
    iou_starts: NDArray[np.int64],
    ious: NDArray[np.float64],
    truth_areas: NDArray[np.float64],
    crowd: NDArray[np.uint8],
    ignore: NDArray[np.uint8],
    detection_areas: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    ranges: NDArray[np.float64],
    matched: NDArray[np.uint64],
    ignored: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
    truth_of_detection: NDArray[np.int32],
    detection_of_truth: NDArray[np.int32],
) -> None: ...
def accumulate(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    scores: NDArray[np.float64],
    ranks: NDArray[np.int32],
    matched: NDArray[np.uint64],
    ignored: NDArray[np.uint64],
    n_truth: NDArray[np.int64],
    recalls: NDArray[np.float64],
    max_detections: NDArray[np.int64],
    n_thresholds: int,
    undefined: float,
    precision: NDArray[np.float64],
    recall: NDArray[np.float64],
    score_at: NDArray[np.float64],
    scratch: NDArray[np.uint64],
) -> None: ...
