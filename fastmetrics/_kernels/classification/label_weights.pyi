# Written by tools/generate.py from label_weights.pyx.

import numpy as np
from numpy.typing import NDArray

def order_weights(
    first: NDArray[np.int64],
    second: NDArray[np.int64] | None,
    n_second: int,
    weights: NDArray[np.float64],
    starts: NDArray[np.int64],
    ordered: NDArray[np.float64],
) -> None: ...
def sum_runs(ordered: NDArray[np.float64], starts: NDArray[np.int64], out: NDArray[np.float64]) -> None: ...
def sum_run_states(
    ordered: NDArray[np.float64],
    starts: NDArray[np.int64],
    first_cell: int,
    states: NDArray[np.int64],
) -> None: ...
def round_counts(
    both: NDArray[np.int64],
    true: NDArray[np.int64],
    pred: NDArray[np.int64],
    total: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def weigh_indicators(
    true: NDArray[np.uint8],
    pred: NDArray[np.uint8],
    weights: NDArray[np.float64],
    both: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> None: ...
