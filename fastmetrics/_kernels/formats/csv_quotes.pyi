# Written by tools/generate.py from csv_quotes.pyx.

import numpy as np
from numpy.typing import NDArray

def find_end_of_rows(
    data: NDArray[np.uint8],
    start: int,
    quote: int,
    delimiter: int,
    escape: int,
    found: NDArray[np.int64],
) -> int: ...
def count_line_breaks(data: NDArray[np.uint8]) -> int: ...
