# Written by tools/generate.py from coco_dicts.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_FIELDS: int
ROW: int

def read_rows(
    rows: list[Any],
    start: int,
    integers: list[Any],
    numbers: list[Any],
    boxes: list[Any],
    integer_columns: NDArray[np.int64],
    number_columns: NDArray[np.float64],
    box_columns: NDArray[np.float64],
    seen: NDArray[np.uint64],
) -> tuple[int, int]: ...
