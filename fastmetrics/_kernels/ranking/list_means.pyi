# Written by tools/generate.py from list_means.pyx.

import numpy as np
from numpy.typing import NDArray

def mean_terms(
    values: NDArray[np.float64],
    group_weights: NDArray[np.float64],
    count_empty: bool,
    value_of_empty: float,
    starts: NDArray[np.int64] | None,
    states: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None: ...
def running_sums(values: NDArray[np.float64], offsets: NDArray[np.int64], out: NDArray[np.float64]) -> None: ...
def unweighted_mean(
    values: NDArray[np.float64],
    count_empty: bool,
    value_of_empty: float,
    counts: NDArray[np.int64],
) -> float | None: ...
