import numpy as np
from numpy.typing import NDArray

LOGARITHMS: int
SQUARES: int
PROBABILITIES: int
MOST_BINS: int

def sum_terms(
    y_true: NDArray[np.generic], y_prob: NDArray[np.generic], weights: NDArray[np.generic] | None, terms: int
) -> tuple[int, int, int, int, int] | None: ...
def calibration_curve(
    y_true: NDArray[np.generic],
    y_prob: NDArray[np.generic],
    n_bins: int,
    prob_true: NDArray[np.float64],
    prob_pred: NDArray[np.float64],
) -> int | None: ...
def calibration_error(y_true: NDArray[np.generic], y_prob: NDArray[np.generic], n_bins: int) -> float | None: ...
