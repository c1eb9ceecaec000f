from typing import Any

import numpy as np
from numpy.typing import NDArray

SIGNED: int
SQUARED: int
ABSOLUTE: int
PERCENTAGE: int
PINBALL: int
SQUARED_LOG: int
POISSON: int
GAMMA: int
TWEEDIE: int
NOT_FINITE: int
OUTSIDE: int
INEXACT: int

def add_errors(
    y_true: NDArray[Any],
    y_pred: NDArray[Any],
    weights: NDArray[np.float64] | None,
    kind: int,
    parameter: float,
    start: int,
    stop: int,
    states: NDArray[np.int64],
) -> int: ...
def mean_error(y_true: Any, y_pred: Any, kind: int, parameter: float) -> float | None: ...
def greatest_error(y_true: NDArray[Any], y_pred: NDArray[Any], start: int, stop: int) -> float: ...
def greatest_of_few(y_true: Any, y_pred: Any) -> float | None: ...
def write_errors(
    y_true: NDArray[Any], y_pred: NDArray[Any], output: int, start: int, stop: int, out: NDArray[np.float64]
) -> int: ...
def middle_error(y_true: Any, y_pred: Any) -> float | None: ...
def deviance_explained(y_true: Any, y_pred: Any, kind: int, power: float) -> float | None: ...
def pinball_explained(y_true: Any, y_pred: Any, alpha: float) -> float | None: ...
