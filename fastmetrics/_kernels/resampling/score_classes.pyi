# Written by tools/generate.py from score_classes.pyx.

import numpy as np
from numpy.typing import NDArray

FIRST_BITS: int

def first_classes(scores: NDArray[np.float32] | NDArray[np.float64], classes: NDArray[np.int32]) -> None: ...
def divide_classes(
    scores: NDArray[np.float32] | NDArray[np.float64],
    firsts: NDArray[np.int32],
    shifts: NDArray[np.uint8],
    masks: NDArray[np.uint32],
    classes: NDArray[np.int32],
) -> None: ...
def place_in_slices(
    numbers: NDArray[np.int32],
    joined: NDArray[np.int32] | None,
    slices: NDArray[np.uint16],
    n: int,
    out: NDArray[np.int32],
) -> None: ...
def add_by_class(
    units: NDArray[np.int32],
    classes: NDArray[np.int32] | None,
    labels: NDArray[np.uint8],
    weights: NDArray[np.int64],
    table: NDArray[np.int32] | None,
    shift: int,
    sums: NDArray[np.int64],
) -> None: ...
