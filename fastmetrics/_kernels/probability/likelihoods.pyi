# Written by tools/generate.py from likelihoods.pyx.

import numpy as np
from numpy.typing import NDArray

def add_log_probs(
    values: NDArray[np.float32] | NDArray[np.float64],
    mask: NDArray[np.uint8] | None,
    state: NDArray[np.int64],
    token_counts: NDArray[np.int64],
) -> None: ...
def sequence_means(
    values: NDArray[np.float32] | NDArray[np.float64],
    mask: NDArray[np.uint8] | None,
    bounds: NDArray[np.int64],
    means: NDArray[np.float64],
    uncertain: NDArray[np.int64],
    token_counts: NDArray[np.int64],
) -> int: ...
