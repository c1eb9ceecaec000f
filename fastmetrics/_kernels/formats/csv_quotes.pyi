# Written by tools/generate.py from csv_quotes.pyx.

import numpy as np
from numpy.typing import NDArray

def count_field_quotes(data: NDArray[np.uint8], quote: int, delimiter: int) -> int: ...
