"""One thread's memory for the groups of a hash exchange, which GAUC's tables and those of ranked lists share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Output, Scratch
from fastmetrics._core.exchange.hash_exchange import GroupKeys, GroupLayout


class GroupWorkspace:
    """Memory of the kernels that find the groups of some partitions, at most `most_groups` at a time."""

    def __init__(
        self, layout: GroupLayout, outputs: Sequence[Output], scratch: Scratch, most_groups: int
    ) -> None:
        rows = max(1, int(layout.partition_rows.max()))
        array = scratch.array
        self.layout = layout
        self.outputs = outputs
        self.label_of_output = np.array([output.label for output in outputs], np.int64)
        self.score_of_output = np.array([output.score for output in outputs], np.int64)
        self.table = array("table", np.uint32, max(64, 1 << (2 * rows - 1).bit_length()))
        self.group_of_row = array("group of row", np.uint32, rows)
        self.cursors = array("cursors", np.int64, 2 * rows)
        self.scores = array("scores", np.uint64, rows)
        self.hashes = array("hashes", np.uint64, most_groups)
        self.heads = array("heads", np.uint64, most_groups if layout.slots else 0)
        self.tails = array("tails", np.uint64, most_groups if layout.slots else 0)
        self.slices = array("slices", np.uint16, most_groups if layout.slices.shape[0] else 0)
        self.n_groups = np.zeros(1, np.int64)

    @staticmethod
    def values_per_output(statistics: Sequence[Any]) -> int:
        return 1

    def keys(self, n: int) -> GroupKeys:
        return GroupKeys(self.hashes[:n], self.heads[:n], self.tails[:n], self.layout.key_dtype)

    def split_tables(
        self, tables: Iterable[tuple[int, Any]], by_slice: bool
    ) -> Iterator[tuple[int, int | None, Any]]:
        """Yield (output, slice, groups) for outputs and their tables of all groups: whole tables, or slice by slice."""
        if not by_slice:
            for output, table in tables:
                yield output, None, table
            return
        order, segments = self.order_by_slice()
        for output, table in tables:
            in_order = table.take(order)
            for slice_number, where in segments:
                yield output, slice_number, in_order.segment(where)

    def order_by_slice(self) -> tuple[np.ndarray, list[tuple[int, slice]]]:
        """The order that brings the groups of each slice together, and where those of each slice stand in it."""
        slices = self.slices[: int(self.n_groups[0])]
        counts = np.bincount(slices)
        stops = np.cumsum(counts)
        segments = [
            (number, slice(int(stops[number] - counts[number]), int(stops[number])))
            for number in np.flatnonzero(counts).tolist()
        ]
        return np.argsort(slices, kind="stable"), segments
