# Written by tools/generate.py from rouge.pyx.

import numpy as np
from numpy.typing import NDArray

def select_best(
    pairs: NDArray[np.int64],
    segments: NDArray[np.int64],
    beta: float,
    out: NDArray[np.int64],
) -> None: ...
def count_lines(points: NDArray[np.uint32], offsets: NDArray[np.int64]) -> int: ...
def split_lines(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    line_offsets: NDArray[np.int64],
    texts: NDArray[np.int64],
) -> None: ...

class OverlapCounter:
    def __init__(self, max_trace_words: int = ...) -> None: ...
    def count(
        self,
        ids: NDArray[np.int64],
        sentences: NDArray[np.int64],
        texts: NDArray[np.int64],
        segments: NDArray[np.int64],
        orders: NDArray[np.int64],
        whole: bool,
        by_sentence: bool,
        out: NDArray[np.int64],
    ) -> None: ...
