# Written by tools/generate.py from nist.pyx.

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.text.ngram_matcher import NgramMatcher

N_ORDERS: int
WEIGHT_BITS: int
REFERENCE_UNIT: int
NO_WORD: int

def match_segments(
    ids: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
    segments: NDArray[np.int64],
    n_orders: int,
    matcher: NgramMatcher,
    hypotheses: NDArray[np.uint32],
    starts: NDArray[np.int64],
    references: NDArray[np.uint32],
    matched_orders: NDArray[np.uint16],
    counts: NDArray[np.int64],
) -> None: ...

class NgramTable:
    size: int
    def __init__(self, bits: int, n_orders: int, n_words: int) -> None: ...
    def begin(self, partition: int) -> None: ...
    def add(self, words: NDArray[np.uint32], matched_orders: NDArray[np.uint16]) -> None: ...
    def add_references(self, words: NDArray[np.uint32]) -> None: ...
    def count_order(self, order: int, zero: int) -> None: ...
    def weigh(self, n_words: int, zero: int) -> None: ...
    def sum_weights(
        self,
        words: NDArray[np.uint32],
        matched_orders: NDArray[np.uint16],
        starts: NDArray[np.int64],
        sums: NDArray[np.int64],
    ) -> None: ...
    def sum_all_weights(self, sums: NDArray[np.int64]) -> None: ...
