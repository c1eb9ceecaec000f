# Written by tools/generate.py from numerals.pyx.

import numpy as np
from numpy.typing import NDArray

def mark_long_numerals(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int32] | NDArray[np.int64],
    point: int,
    marks: NDArray[np.uint8],
) -> int: ...
