# Written by tools/generate.py from weighted_pairs.pyx.

import numpy as np
from numpy.typing import NDArray

def weighted_group_auc(
    scores: NDArray[np.float32] | NDArray[np.float64],
    labels: NDArray[np.uint8],
    weights: NDArray[np.float64],
    starts: NDArray[np.int64],
    auc: NDArray[np.float64],
    totals: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> None: ...
