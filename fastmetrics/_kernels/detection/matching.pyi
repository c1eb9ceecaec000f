import numpy as np
from numpy.typing import NDArray

MOST_LANES: int

def match_groups(
    first: int,
    last: int,
    truth_starts: NDArray[np.int64],
    truth_rows: NDArray[np.int64],
    found_starts: NDArray[np.int64],
    found_rows: NDArray[np.int64],
    overlap_starts: NDArray[np.int64],
    overlaps: NDArray[np.float64],
    truth_areas: NDArray[np.float64],
    crowd: NDArray[np.uint8],
    ignore: NDArray[np.uint8],
    found_areas: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    ranges: NDArray[np.float64],
    matched: NDArray[np.uint64],
    ignored: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
    truth_of: NDArray[np.int32],
    found_of: NDArray[np.int32],
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
    most_detections: NDArray[np.int64],
    n_thresholds: int,
    undefined: float,
    precision: NDArray[np.float64],
    recall: NDArray[np.float64],
    score_at: NDArray[np.float64],
    scratch: NDArray[np.uint64],
) -> None: ...
