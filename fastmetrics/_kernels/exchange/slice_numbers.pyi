# Written by tools/generate.py from slice_numbers.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_COLUMNS: int
MISSING: int

def look_up(table: NDArray[np.int32], sizes: tuple[Any, ...], columns: list[Any], out: NDArray[np.uint16]) -> int: ...
def count_rows(numbers: NDArray[np.uint16], labels: NDArray[np.uint8] | None, counts: NDArray[np.int64]) -> None: ...
