# Written by tools/generate.py from chrf_ngrams.pyx.

import numpy as np
from numpy.typing import NDArray

N_ORDERS: int
LONGEST_MASKED: int
LONGEST_ORDER_MASKED: int

def count_ngrams(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    segments: NDArray[np.int64],
    char_order: int,
    word_order: int,
    whitespace: bool,
    factor: float,
    eps_smoothing: bool,
    rows: NDArray[np.uint16],
    masks: NDArray[np.uint64],
    numbers: NDArray[np.uint16],
    symbols: NDArray[np.uint32],
    words: NDArray[np.uint64],
    word_spans: NDArray[np.int64],
    keys: NDArray[np.uint64],
    grams: NDArray[np.int64],
    gram_numbers: NDArray[np.int64],
    shared: NDArray[np.uint8],
    out: NDArray[np.int64],
) -> None: ...
