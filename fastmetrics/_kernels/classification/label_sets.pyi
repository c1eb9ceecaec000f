# Written by tools/generate.py from label_sets.pyx.

import numpy as np
from numpy.typing import NDArray

TRUE_ONLY: int
PREDICTED_ONLY: int
BOTH: int
SIZE_SHIFT: int

def match_sets(
    true: NDArray[np.int64],
    true_starts: NDArray[np.int64],
    true_stops: NDArray[np.int64],
    pred: NDArray[np.int64],
    pred_starts: NDArray[np.int64],
    pred_stops: NDArray[np.int64],
    first_row: int,
    hash_slots: NDArray[np.int64],
    labels: NDArray[np.int64],
    sides: NDArray[np.int64],
    both: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> tuple[int, int]: ...
