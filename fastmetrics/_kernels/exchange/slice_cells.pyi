# Written by tools/generate.py from slice_cells.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.exchange.partition_groups import PartitionGroups

class OrderedGroups:
    groups: PartitionGroups
    codes: Any
    n_groups: int
    n_rows: int
    def __init__(self, groups: PartitionGroups, code_columns: list[Any], allocate: Any) -> None: ...
    def order(self, start: int, stop: int) -> None: ...

class SliceCellCounter:
    groups: PartitionGroups
    hashes: Any
    heads: Any
    tails: Any
    class_counts: Any
    wins: Any
    def __init__(self, groups: PartitionGroups, allocate: Any) -> None: ...
    def count(
        self,
        rows: OrderedGroups,
        numbers: NDArray[np.uint16],
        n_slices: int,
        one_class: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
