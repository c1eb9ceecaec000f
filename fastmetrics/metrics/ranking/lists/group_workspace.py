"""One thread's memory for the groups of a hash exchange, which GAUC's tables and those of ranked lists share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.slice_sets import SlicedTables
from fastmetrics._core.exchange.hash_exchange import GroupLayout
from fastmetrics._kernels.exchange.partition_groups import PartitionGroups


class GroupWorkspace(SlicedTables):
    """The groups of some partitions, as a kernel finds them, and their division into slices."""

    def __init__(self, layout: GroupLayout, groups: PartitionGroups) -> None:
        self.layout = layout
        self.groups = groups

    @staticmethod
    def values_per_output(statistics: Sequence[Any]) -> int:
        return 1

    def order_by_slice(self, n_groups: int) -> tuple[np.ndarray, list[tuple[int, slice]]]:
        """See below, for the groups that were found last."""
        return order_by_slice(self.groups.slices[:n_groups])


def order_by_slice(slices: np.ndarray) -> tuple[np.ndarray, list[tuple[int, slice]]]:
    """The order that brings the groups of each slice together, and where those of each slice stand in it."""
    counts = np.bincount(slices)
    stops = np.cumsum(counts)
    segments = [
        (number, slice(int(stops[number] - counts[number]), int(stops[number])))
        for number in np.flatnonzero(counts).tolist()
    ]
    return np.argsort(slices, kind="stable"), segments
