"""Pairs won inside every slice of every group, for any number of sets of slices.

The rows of some partitions are brought into the order of groups and scores once. Every set of slices is a pass over
them.
"""

from __future__ import annotations

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, SLICE_CODE, Scratch, names_of
from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.exchange.hash_exchange import GroupKeys
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.exchange import slice_rows
from fastmetrics.metrics.ranking.lists.group_workspace import GroupWorkspace


class SliceCells(NamedTuple):
    """The slices that have rows, and where the cells of each are.

    `one_class` (label, slice, 4) counts cells that are not listed: those without positives, those without negatives,
    and the rows of both kinds.
    """

    of_slices: list[tuple[int, slice]]
    one_class: np.ndarray


class OrderedGroups:
    """The rows of some partitions in the order of groups; in each group also in the order of every score."""

    def __init__(self, groups: GroupWorkspace, names: list[str], scratch: Scratch, most_rows: int) -> None:
        layout, array = groups.layout, scratch.array
        self.groups, self.names = groups, names
        most = max(1, int(layout.partition_rows.max()))
        n_outputs = len(groups.outputs)
        self.code_blocks = layout.address_table(names)
        self.class_counts = array("classes of groups", np.int64, 2 * most).reshape(most, 2)
        self.rows = array("keyed rows", np.uint64, 4 * most).reshape(2, 2 * most)
        self.starts = array("starts", np.uint32, most_rows + 1)
        self.labels = array("labels", np.uint8, layout.n_labels * most_rows).reshape(layout.n_labels, most_rows)
        self.codes = array("codes", np.uint16, len(names) * most_rows).reshape(len(names), most_rows)
        self.ordered = array("ordered", np.uint32, n_outputs * most_rows).reshape(n_outputs, most_rows)
        self.bounds: tuple[int, int] | None = None
        self.n_groups = self.n_rows = 0

    def order(self, start: int, stop: int) -> None:
        """Order the rows of the partitions start to stop, unless that was done last."""
        if self.bounds == (start, stop):
            return
        groups, layout = self.groups, self.groups.layout
        self.n_groups, self.n_rows = slice_rows.order_groups(
            layout.hashes, layout.labels, layout.scores, layout.heads, layout.tails, self.code_blocks, layout.offsets,
            layout.double_scores, groups.label_of_output, groups.score_of_output, start, stop, groups.table,
            groups.group_of_row, self.class_counts, self.rows, groups.hashes, groups.heads, groups.tails, self.starts,
            self.labels, self.codes, self.ordered,
        )  # fmt: skip
        self.bounds = start, stop

    def number(self, own: SliceSet, out: np.ndarray) -> np.ndarray:
        """The slice of every row."""
        columns = {name: codes[: self.n_rows] for name, codes in zip(self.names, self.codes, strict=True)}
        return own.number(columns, out[: self.n_rows])


class PairsBySlice:
    """Counts the pairs of every slice of every group, without weights. Each thread has one."""

    def __init__(self, groups: GroupWorkspace, scratch: Scratch, most_rows: int) -> None:
        layout, array = groups.layout, scratch.array
        self.groups, self.scratch, self.most_rows = groups, scratch, most_rows
        self.ordered: dict[bool, OrderedGroups] = {}
        n_outputs = len(groups.outputs)
        self.numbers = array("slice of row", np.uint16, most_rows)
        self.largest = max(1, int(layout.partition_rows.max()))
        self.cell_of_row = array("cell of row", np.uint32, 2 * self.largest).reshape(2, self.largest)
        self.cell_counts = array("counts of cells", np.uint64, layout.n_labels * self.largest).reshape(
            layout.n_labels, self.largest
        )
        self.cell_numbers = array("cells of group", np.int64, self.largest)
        self.cells = array("pairs of cells", np.int64, slice_rows.N_FIELDS * self.largest).reshape(
            self.largest, slice_rows.N_FIELDS
        )
        self.hashes = array("hashes of cells", np.uint64, most_rows)
        self.heads = array("heads of cells", np.uint64, most_rows if layout.slots else 0)
        self.tails = array("tails of cells", np.uint64, most_rows if layout.slots else 0)
        self.class_rows = array("class rows of cells", np.int64, 2 * layout.n_labels * most_rows).reshape(
            layout.n_labels, most_rows, 2
        )
        self.wins = array("wins of cells", np.uint64, n_outputs * most_rows).reshape(n_outputs, most_rows)

    def ordered_rows(self, own: SliceSet) -> OrderedGroups:
        """The memory for ordered rows: with the slices that they are stored with, or with the codes of all sets."""
        is_stored = own.number_rows is None
        if is_stored not in self.ordered:
            names: list[str] = [SLICE]
            if not is_stored:
                names = [*names_of(self.groups.layout.blocks[0].columns, SLICE_CODE)]
            self.ordered[is_stored] = OrderedGroups(self.groups, names, self.scratch, self.most_rows)
        return self.ordered[is_stored]

    def count(self, start: int, stop: int, own: SliceSet, only_pairs: bool) -> SliceCells:
        """Count the pairs of a set's slices in the partitions start..stop.

        `only_pairs`: cells of one class are counted and not listed.
        """
        rows = self.ordered_rows(own)
        rows.order(start, stop)
        groups = self.groups
        one_class = np.zeros((groups.layout.n_labels, own.n_slices if only_pairs else 0, 4), np.int64)
        if not rows.n_rows:
            return SliceCells([], one_class)
        numbers = rows.number(own, self.numbers)
        seen, next_cell = np.empty(own.n_slices, np.uint64), np.empty(own.n_slices + 1, np.int64)
        slice_rows.count_cells(numbers, rows.starts, rows.n_groups, seen, next_cell)
        first = next_cell.copy()
        slice_rows.count_pairs(
            numbers, rows.starts, rows.n_groups, rows.labels, rows.ordered, groups.label_of_output, groups.hashes,
            groups.heads, groups.tails, seen, next_cell, self.cell_of_row, self.cell_numbers, self.cell_counts,
            self.cells, self.hashes, self.heads, self.tails, self.class_rows, self.wins, one_class,
        )  # fmt: skip
        bounds = zip(first[:-1].tolist(), first[1:].tolist(), next_cell[:-1].tolist(), strict=True)
        # A slice whose cells have one class each has none to read.
        present = [(number, slice(begin, end)) for number, (begin, most, end) in enumerate(bounds) if most > begin]
        return SliceCells(present, one_class)

    def keys(self) -> GroupKeys:
        return GroupKeys(self.hashes, self.heads, self.tails, self.groups.layout.key_dtype)
