# Written by tools/generate.py from tail_integrals.pyx.

import numpy as np
from numpy.typing import NDArray

GAMMA_BELOW: int
GAMMA_ABOVE: int
BETA: int

def integral(
    kind: int,
    slope: float,
    factor: float,
    odds: float,
    scale: float,
    nodes: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float: ...
def log1p_remainder_of(w: float) -> float: ...
def normal_tail(z: float, coefficients: NDArray[np.float64], series: NDArray[np.float64]) -> float: ...
def normal_tails(
    z: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    series: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
