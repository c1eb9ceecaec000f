# Written by tools/generate.py from grouped_auc.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.exchange.partition_groups import PartitionGroups

def auc_terms(
    class_counts: NDArray[np.int64],
    wins: NDArray[np.uint64],
    group_weights: NDArray[np.float64],
    weight_rule: int,
    count_single: bool,
    starts: NDArray[np.int64] | None,
    states: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None: ...

class GroupPairCounter:
    groups: PartitionGroups
    class_counts: Any
    wins: Any
    auc: Any
    totals: Any
    partition_starts: Any
    def __init__(self, groups: PartitionGroups, allocate: Any) -> None: ...
    def count(self, start: int, stop: int, by_slice: bool = False) -> int: ...
