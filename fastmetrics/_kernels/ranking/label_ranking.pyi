# Written by tools/generate.py from label_ranking.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

PRECISION: int
LOSS: int
COVERAGE: int
MOST_COMPARED_LABELS: int

def measure_rows(
    scores: NDArray[np.float32] | NDArray[np.float64],
    labels: NDArray[np.uint8],
    start: int,
    stop: int,
    measure: int,
    keys: NDArray[np.uint64],
    values: NDArray[np.float64],
    has_bad: NDArray[np.int64],
    allow_infinite: bool = True,
) -> None: ...
def mean_of_short(y_true: Any, y_score: Any, measure: int) -> float | None: ...
