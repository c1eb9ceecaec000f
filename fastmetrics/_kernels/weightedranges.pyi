import numpy as np
from numpy.typing import NDArray

SPARE_WORDS: int

def weight_span(weights: NDArray[np.float64], span: NDArray[np.int64]) -> None: ...
def order_words(n_few: int, n_many: int) -> int: ...
def order_range(
    few_keys: NDArray[np.uint32] | NDArray[np.uint64],
    few_weights: NDArray[np.float64],
    many_keys: NDArray[np.uint32] | NDArray[np.uint64],
    many_weights: NDArray[np.float64],
    work: NDArray[np.uint64],
    few_starts: NDArray[np.int64],
    few_ordered: NDArray[np.float64],
    many_starts: NDArray[np.int64],
    many_ordered: NDArray[np.float64],
) -> int: ...
def range_pairs(
    few_weights: NDArray[np.float64],
    few_starts: NDArray[np.int64],
    many_weights: NDArray[np.float64],
    many_starts: NDArray[np.int64],
    n_ties: int,
    unit: int,
    sums: NDArray[np.uint64],
    won: NDArray[np.int64],
) -> None: ...
def range_extremes(
    few_weights: NDArray[np.float64],
    few_starts: NDArray[np.int64],
    many_weights: NDArray[np.float64],
    many_starts: NDArray[np.int64],
    n_ties: int,
    unit: int,
    all_few: NDArray[np.uint64],
    all_many: NDArray[np.uint64],
    sums: NDArray[np.uint64],
    extremes: NDArray[np.int64],
) -> None: ...
