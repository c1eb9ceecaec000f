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
    hypotheses: TextSpans,
    references: TextSpans,
    first: NDArray[np.int64] | None,
    last: NDArray[np.int64] | None,
    row: int,
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    segments: NDArray[np.int64],
    result: NDArray[np.int64],
) -> int: ...

class TextSpans:
    def __init__(self, data: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]) -> None: ...
