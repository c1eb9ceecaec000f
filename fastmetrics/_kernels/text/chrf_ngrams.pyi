# Written by tools/generate.py from chrf_ngrams.pyx.

import numpy as np
from numpy.typing import NDArray

N_ORDERS: int
LONGEST_MASKED: int
LONGEST_ORDER_MASKED: int

class ChrfCounter:
    def __init__(
        self,
        char_order: int,
        word_order: int,
        whitespace: bool,
        factor: float,
        eps_smoothing: bool,
    ) -> None: ...
    def count(
        self,
        points: NDArray[np.uint32],
        offsets: NDArray[np.int64],
        segments: NDArray[np.int64],
        out: NDArray[np.int64],
    ) -> None: ...
