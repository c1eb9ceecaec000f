import numpy as np
from numpy.typing import NDArray

MOST_SIZE: float
FALSE_POSITIVE: int
TRUE_POSITIVE: int
IGNORED: int

def lay_out(boxes: NDArray[np.float64], corners: bool, extra: float, out: NDArray[np.float64]) -> int: ...
def overlap_pairs(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    crowd: NDArray[np.uint8] | None,
    extra: float,
    start: int,
    stop: int,
    out: NDArray[np.float64],
) -> None: ...
def match(
    truth: NDArray[np.float64],
    truth_images: NDArray[np.int64],
    difficult: NDArray[np.uint8],
    first: int,
    last: int,
    found: NDArray[np.float64],
    found_images: NDArray[np.int64],
    order: NDArray[np.int64],
    start: int,
    stop: int,
    threshold: float,
    extra: float,
    taken: NDArray[np.uint8],
    verdicts: NDArray[np.int8],
) -> None: ...
def curve(
    verdicts: NDArray[np.int8],
    start: int,
    stop: int,
    n_truth: int,
    precision: NDArray[np.float64],
    recall: NDArray[np.float64],
    places: NDArray[np.int64],
    averages: NDArray[np.float64],
) -> int: ...
