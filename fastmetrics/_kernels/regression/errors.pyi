# Written by tools/generate.py from errors.pyx.

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

def add_error_terms(
    y_true: Any,
    y_pred: Any,
    weights: NDArray[np.float64] | None,
    kind: int,
    parameter: float,
    start: int,
    stop: int,
    states: NDArray[np.int64],
) -> int: ...
def add_error_terms_to_totals(
    y_true: Any,
    y_pred: Any,
    weights: NDArray[np.float64] | None,
    kind: int,
    parameter: float,
    start: int,
    stop: int,
    totals: NDArray[np.float64],
) -> int: ...
def write_error_terms(
    y_true: Any,
    y_pred: Any,
    weights: NDArray[np.float64] | None,
    kind: int,
    parameter: float,
    out: NDArray[np.float64],
) -> int: ...
def try_mean_error(y_true: Any, y_pred: Any, kind: int, parameter: float = 0.0) -> float | None: ...
def max_error_of_rows(y_true: Any, y_pred: Any, start: int, stop: int) -> float: ...
def try_max_error(y_true: Any, y_pred: Any) -> float | None: ...
def write_absolute_errors(y_true: Any, y_pred: Any, start: int, stop: int, out: NDArray[np.float64]) -> int: ...
def try_median_error(y_true: Any, y_pred: Any) -> float | None: ...
def try_d2_tweedie(y_true: Any, y_pred: Any, kind: int, power: float) -> float | None: ...
def try_d2_pinball(y_true: Any, y_pred: Any, alpha: float) -> float | None: ...
