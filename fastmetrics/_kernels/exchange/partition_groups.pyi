# Written by tools/generate.py from partition_groups.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks

class PartitionedRows:
    n_labels: int
    n_scores: int
    n_partitions: int
    largest: int
    label_bytes: int
    has_weights: bool
    def __init__(
        self,
        offsets: NDArray[np.int32],
        hashes: ColumnBlocks,
        heads: ColumnBlocks | None,
        tails: ColumnBlocks | None,
        labels: list[Any],
        scores: list[Any],
        weights: ColumnBlocks | None,
        slices: ColumnBlocks | None,
    ) -> None: ...

class PartitionGroups:
    n_outputs: int
    most_groups: int
    rows: PartitionedRows
    class_counts: Any
    group_of_row: Any
    hashes: Any
    heads: Any
    tails: Any
    slices: Any
    def __init__(self, rows: PartitionedRows, most_groups: int, allocate: Any, outputs: Any = ...) -> None: ...
    def find(self, partition: int, by_slice: bool = False) -> int: ...
