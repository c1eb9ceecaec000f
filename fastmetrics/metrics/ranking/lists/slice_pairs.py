"""Pairs won inside every slice of every group, for any number of sets of slices.

The rows of some partitions are brought into the order of groups and scores once. Every set of slices is a pass over
them.
"""

from __future__ import annotations

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, SLICE_CODE, Scratch, names_of
from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.exchange.hash_exchange import GroupKeys, GroupLayout
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.exchange import slice_cells
from fastmetrics._kernels.exchange.partition_groups import PartitionGroups


class SliceCells(NamedTuple):
    """The slices that have rows, and where the cells of each are.

    `one_class` (label, slice, 4) counts cells that are not listed: those without positives, those without negatives,
    and the rows of both kinds.
    """

    of_slices: list[tuple[int, slice]]
    one_class: np.ndarray


class LoadedRows:
    """The rows of some partitions in the order of groups; in each group also in the order of every score."""

    def __init__(self, layout: GroupLayout, groups: PartitionGroups, names: list[str], scratch: Scratch) -> None:
        self.names = names
        self.rows = slice_cells.OrderedGroups(groups, list(map(layout.column, names)), scratch.array)
        self.bounds: tuple[int, int] | None = None

    def order(self, start: int, stop: int) -> None:
        """Order the rows of the partitions start to stop, unless that was done last."""
        if self.bounds != (start, stop):
            self.rows.order(start, stop)
            self.bounds = start, stop

    def number(self, own: SliceSet, out: np.ndarray) -> np.ndarray:
        """The slice of every row."""
        n = self.rows.n_rows
        columns = {name: codes[:n] for name, codes in zip(self.names, self.rows.codes, strict=True)}
        return own.number(columns, out[:n])


class PairsBySlice:
    """Counts the pairs of every slice of every group, without weights. Each thread has one."""

    def __init__(self, layout: GroupLayout, groups: PartitionGroups, scratch: Scratch) -> None:
        self.layout, self.groups, self.scratch = layout, groups, scratch
        self.ordered: dict[bool, LoadedRows] = {}
        self.numbers = scratch.array("slice of row", np.uint16, groups.most_groups)
        self.cells = slice_cells.SliceCellCounter(groups, scratch.array)

    def ordered_rows(self, own: SliceSet) -> LoadedRows:
        """The memory for ordered rows: with the slices that they are stored with, or with the codes of all sets."""
        is_stored = own.number_rows is None
        if is_stored not in self.ordered:
            names: list[str] = [SLICE]
            if not is_stored:
                names = [*names_of(self.layout.blocks[0].columns, SLICE_CODE)]
            self.ordered[is_stored] = LoadedRows(self.layout, self.groups, names, self.scratch)
        return self.ordered[is_stored]

    def count(self, start: int, stop: int, own: SliceSet, only_pairs: bool) -> SliceCells:
        """Count the pairs of a set's slices in the partitions start..stop.

        `only_pairs`: cells of one class are counted and not listed.
        """
        rows = self.ordered_rows(own)
        rows.order(start, stop)
        one_class = np.zeros((self.layout.rows.n_labels, own.n_slices if only_pairs else 0, 4), np.int64)
        if not rows.rows.n_rows:
            return SliceCells([], one_class)
        numbers = rows.number(own, self.numbers)
        first, end = self.cells.count(rows.rows, numbers, own.n_slices, one_class if only_pairs else None)
        bounds = zip(first[:-1].tolist(), first[1:].tolist(), end[:-1].tolist(), strict=True)
        # A slice whose cells have one class each has none to read.
        present = [(number, slice(begin, end)) for number, (begin, most, end) in enumerate(bounds) if most > begin]
        return SliceCells(present, one_class)

    def keys(self) -> GroupKeys:
        return GroupKeys(self.cells.hashes, self.cells.heads, self.cells.tails, self.layout.key_dtype)
