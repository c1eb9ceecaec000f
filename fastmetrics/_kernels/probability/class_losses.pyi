# Written by tools/generate.py from class_losses.pyx.

import numpy as np
from numpy.typing import NDArray

def mark_other_sums(
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    tolerance: float,
    mask: NDArray[np.uint8],
) -> None: ...
def check_sums(
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    tolerance: float,
    problem: NDArray[np.int64],
    farthest: NDArray[np.float64],
) -> int: ...
def check_matrix(
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    tolerance: float,
    problem: NDArray[np.int64],
) -> int: ...
def log_loss_terms(
    codes: NDArray[np.int64],
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    eps: float,
    state: NDArray[np.int64],
    n_clipped: NDArray[np.int64],
) -> None: ...
def squared_error_terms(
    codes: NDArray[np.int64],
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    state: NDArray[np.int64],
) -> None: ...
def add_by_class(
    codes: NDArray[np.int64],
    values: NDArray[np.float32] | NDArray[np.float64],
    states: NDArray[np.int64],
) -> None: ...
