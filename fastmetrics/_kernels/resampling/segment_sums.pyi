# Written by tools/generate.py from segment_sums.pyx.

import numpy as np
from numpy.typing import NDArray

PANEL_COLUMNS: int
SUM_TABLE_ROWS: int

def sum_sampled_rows(panel: NDArray[np.int64], samples: NDArray[np.int64], out: NDArray[np.int64]) -> None: ...
def sum_masked_rows(
    panel: NDArray[np.int64],
    masks: NDArray[np.uint8],
    table: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None: ...
def add_at(
    values: NDArray[np.int64],
    places: NDArray[np.int32],
    rows: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None: ...
