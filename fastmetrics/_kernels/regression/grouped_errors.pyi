# Written by tools/generate.py from grouped_errors.pyx.

from typing import Any

from fastmetrics._kernels.exchange.partition_groups import PartitionGroups

class GroupErrors:
    groups: PartitionGroups
    columns: Any
    means: Any
    uncertain: Any
    n_uncertain: int
    def __init__(self, groups: PartitionGroups, allocate: Any) -> None: ...
    def average(self, partition: int) -> int: ...
