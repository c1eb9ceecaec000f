# Written by tools/generate.py from ranked_lists.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.exchange.partition_groups import PartitionGroups

WORDS_PER_ROW: int
N_COUNTS: int
MOST_MEASURES: int

def grades_as_bytes(
    grades: NDArray[np.uint8] | NDArray[np.int64] | NDArray[np.float32] | NDArray[np.float64],
    start: int,
    stop: int,
    out: NDArray[np.uint8],
    checks: NDArray[np.int64],
) -> None: ...
def measure_lists(
    lists: ListColumns,
    measures: Measures,
    weights: RankWeights,
    ties: int,
    least: float,
    greatest: float,
    signed_gains: bool,
    start: int,
    stop: int,
    values: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> bool: ...
def measure_large_list(
    grades: NDArray[np.float64],
    starts: NDArray[np.int64],
    tied_zeros: NDArray[np.int64],
    zeros_above: NDArray[np.int64],
    measures: Measures,
    weights: RankWeights,
    ties: int,
    values: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> None: ...

class RankWeights:
    weights: Any
    sums: Any
    n_ranks: int
    def __init__(self, base: float, n_ranks: int, most_stored: int) -> None: ...

class Measures:
    n_measures: int
    ideal_ranks: int
    def __init__(self, integers: NDArray[np.int64], numbers: NDArray[np.float64]) -> None: ...

class ListColumns:
    n_lists: int
    n_rows: int
    longest: int
    longest_ideal: int
    def __init__(
        self,
        scores: Any,
        grades: Any,
        offsets: NDArray[np.int64],
        unretrieved: NDArray[np.float64],
        unretrieved_offsets: NDArray[np.int64],
        order: Any | None = None,
    ) -> None: ...

class GroupMeasurer:
    groups: PartitionGroups
    values: Any
    counts: Any
    weight_ranges: Any
    def __init__(
        self,
        groups: PartitionGroups,
        measures: Measures,
        weights: RankWeights,
        ties: int,
        allocate: Any,
    ) -> None: ...
    def measure(self, start: int, stop: int, by_slice: bool = False) -> int: ...
