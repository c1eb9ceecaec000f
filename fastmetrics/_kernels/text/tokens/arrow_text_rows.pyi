# Written by tools/generate.py from arrow_text_rows.pyx.

import numpy as np
from numpy.typing import NDArray

N_TEXTS: int
BAD_TEXT: int
NEEDED_POINTS: int
NEEDED_TEXTS: int
NONE: int
HYPOTHESIS: int
REFERENCE: int

def decode_rows(
    hypothesis_data: NDArray[np.uint8],
    hypothesis_starts: NDArray[np.int64],
    hypothesis_stops: NDArray[np.int64],
    reference_data: NDArray[np.uint8],
    reference_starts: NDArray[np.int64],
    reference_stops: NDArray[np.int64],
    first: NDArray[np.int64] | None,
    last: NDArray[np.int64] | None,
    row: int,
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    segments: NDArray[np.int64],
    result: NDArray[np.int64],
) -> int: ...
