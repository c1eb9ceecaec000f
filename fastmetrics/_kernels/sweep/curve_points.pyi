# Written by tools/generate.py from curve_points.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

COUNTS: int
CORNERS: int
PRECISION_RECALL: int
ERROR_RATES: int

def count_top_tie(
    keys: NDArray[np.uint32] | NDArray[np.uint64],
    start: int,
    middle: int,
    stop: int,
) -> tuple[int, int]: ...
def sort_classes(
    labels: NDArray[np.uint8],
    scores: NDArray[np.float32] | NDArray[np.float64],
    scratch: NDArray[np.uint64],
) -> tuple[int, bool]: ...
def trapezoid_area(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, int, bool]: ...

class CurveRange:
    def __init__(
        self,
        keys: Any,
        start: int,
        middle: int,
        stop: int,
        is_first: bool = True,
        next_negatives: int = 0,
        next_positives: int = 0,
    ) -> None: ...
    def count(self, kind: int) -> int: ...
    def write(
        self,
        kind: int,
        negatives_above: int,
        positives_above: int,
        all_negatives: int,
        all_positives: int,
        thresholds: NDArray[np.float64],
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        index: int,
        direction: int,
    ) -> None: ...
