# Written by tools/generate.py from losses.pyx.

import numpy as np
from numpy.typing import NDArray

LOG_LOSS_TERMS: int
SQUARED_ERROR_TERMS: int
PROBABILITY_TERMS: int
FLOOR: int
EQUAL: int
GIVEN: int

def add_terms(
    kind: int,
    labels: NDArray[np.uint8],
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    eps: float,
    rate: float,
    state: NDArray[np.int64],
) -> int: ...
def write_terms(
    kind: int,
    labels: NDArray[np.uint8],
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    eps: float,
    rate: float,
    out: NDArray[np.float64],
) -> int: ...
def correct_probabilities(
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    rate: float,
    out: NDArray[np.float64],
) -> bool: ...
def calibration_terms(
    labels: NDArray[np.uint8],
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    rate: float,
    rule: int,
    edges: NDArray[np.float64] | None,
    counts: NDArray[np.int64],
    probability_states: NDArray[np.int64],
    weight_states: NDArray[np.int64],
    positive_states: NDArray[np.int64],
    problem: NDArray[np.int64],
) -> None: ...
def write_bins(
    probabilities: NDArray[np.float32] | NDArray[np.float64],
    rate: float,
    rule: int,
    edges: NDArray[np.float64] | None,
    n_bins: int,
    corrected: NDArray[np.float64],
    bins: NDArray[np.uint16],
) -> bool: ...
def run_means(
    values: NDArray[np.float32] | NDArray[np.float64],
    starts: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def likelihood_terms(
    values: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    are_logs: bool,
    eps: float,
    state: NDArray[np.int64],
    n_clipped: NDArray[np.int64],
    problem: NDArray[np.int64],
) -> None: ...
