import numpy as np
from numpy.typing import NDArray

def log_loss_terms(
    labels: NDArray[np.uint8],
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    eps: float,
    state: NDArray[np.int64],
    n_clipped: NDArray[np.int64],
    problem: NDArray[np.int64],
) -> None: ...
def log_loss_terms_multiclass(
    codes: NDArray[np.int64],
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    eps: float,
    state: NDArray[np.int64],
    n_clipped: NDArray[np.int64],
    problem: NDArray[np.int64],
) -> None: ...
def squared_error_terms(
    labels: NDArray[np.uint8],
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    state: NDArray[np.int64],
    problem: NDArray[np.int64],
) -> None: ...
def calibration_terms(
    labels: NDArray[np.uint8],
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    counts: NDArray[np.int64],
    probability_states: NDArray[np.int64],
    weight_states: NDArray[np.int64],
    positive_states: NDArray[np.int64],
    problem: NDArray[np.int64],
) -> None: ...
