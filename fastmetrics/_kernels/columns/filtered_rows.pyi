# Written by tools/generate.py from filtered_rows.pyx.

import numpy as np
from numpy.typing import NDArray

def rows_of_bitmap(bitmap: NDArray[np.uint8], first: int, rows: int, out: NDArray[np.int64]) -> int: ...
