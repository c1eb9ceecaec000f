# Written by tools/generate.py from stemmer.pyx.

import numpy as np
from numpy.typing import NDArray

def stem_words(
    token_points: NDArray[np.uint32],
    token_starts: NDArray[np.int64],
    first: int,
    stop: int,
    out_points: NDArray[np.uint32],
    out_starts: NDArray[np.int64],
    shortest: int = 0,
) -> None: ...
