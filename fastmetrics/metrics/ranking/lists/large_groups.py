"""The ranked list of a group that does not fit in memory: only its graded rows are loaded.

A graded row has a grade other than zero. Rows of grade zero are read block by block and only counted: how many lie
between two neighboring scores of graded rows, and how many tie with one (`count_between_pivots`, threshold_sweep.pyx).
Graded rows are few in most large groups: a user with a million impressions clicked on few of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, Output, label_name, score_name
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import scatter_rows
from fastmetrics._core.exchange.hash_exchange import GroupKeys, check_group_weights
from fastmetrics._core.exchange.range_exchange import ordered_keys
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics._kernels.sweep import mann_whitney, threshold_sweep

MOST_COUNTED_ROWS = 1 << 31  # before the counters of 32 bits are added to the totals of 64 bits


class LargeGroupList(NamedTuple):
    """A ranked list with one entry for every distinct score of its graded rows, from the highest score down.

    The graded rows of score k have the grades `grades[starts[k]:starts[k + 1]]`, in descending order. `tied_zeros[k]`
    rows of grade zero have the same score. `zeros_above[k]` rows of grade zero lie between score k - 1 and score k; the
    last entry counts those below all graded rows. `weight` is the weight of the group.
    """

    grades: np.ndarray
    starts: np.ndarray
    tied_zeros: np.ndarray
    zeros_above: np.ndarray
    weight: float

    @property
    def rows(self) -> int:
        return int(self.grades.shape[0] + self.tied_zeros.sum() + self.zeros_above.sum())


class PivotCounts:
    """Counts rows of grade zero between and at the pivots, the distinct scores of the graded rows."""

    def __init__(self, keys: np.ndarray) -> None:
        self.keys = keys
        self.counters = np.zeros(2 * len(keys) + 1, np.uint32)
        self.totals = np.zeros(2 * len(keys) + 1, np.int64)
        self.counted_rows = 0
        self.cells = np.empty(0, np.uint32)
        self.shift = 0
        if len(keys):
            self.cells = np.empty(threshold_sweep.pivot_table_cells(len(keys)) + 2, np.uint32)
            self.shift = threshold_sweep.build_pivot_table(keys, self.cells)

    def add(self, others: np.ndarray, conflicts: np.ndarray) -> None:
        """Count rows of grade zero, given by the keys of their scores."""
        if not len(self.keys):
            self.totals[0] += len(others)
            return
        if self.counted_rows + len(others) >= MOST_COUNTED_ROWS:
            self.flush()
        self.counted_rows += len(others)
        threshold_sweep.count_between_pivots(self.keys, self.cells, self.shift, others, conflicts, self.counters)

    def flush(self) -> np.ndarray:
        """Add the counters to the totals and return these."""
        self.totals += self.counters
        self.counters[:] = 0
        self.counted_rows = 0
        return self.totals


class GradedRows(NamedTuple):
    """The graded rows, sorted by slice, then by score descending, then by grade descending."""

    slices: np.ndarray
    keys: np.ndarray
    grades: np.ndarray


def large_group_lists(
    rows: BlockStore, group: GroupKeys, output: Output, by_slice: bool
) -> Iterator[tuple[int | None, LargeGroupList]]:
    """The list of a large group for one pair of label and score: over all rows, or slice by slice."""
    names = [label_name(output.label), score_name(output.score), *([SLICE] if by_slice else [])]
    n_slices = 1 + rows.column_max(SLICE) if by_slice else 1
    weights = weight_ranges(rows, n_slices, by_slice)
    graded = load_graded_rows(rows, names)
    edges = np.searchsorted(graded.slices, np.arange(n_slices + 1))
    lists = []
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        keys = graded.keys[start:stop]
        is_first = np.ones(len(keys), bool)
        is_first[1:] = keys[1:] != keys[:-1]
        starts = np.append(np.flatnonzero(is_first), len(keys))
        lists.append((graded.grades[start:stop], starts, PivotCounts(np.ascontiguousarray(keys[is_first][::-1]))))
    count_zero_grades(rows, names, [pivots for _, _, pivots in lists])
    for number, (grades, starts, pivots) in enumerate(lists):
        counts = pivots.flush()[::-1]
        if not len(grades) and not counts[0]:
            continue
        check_group_weights(group, weights[0, number : number + 1], weights[1, number : number + 1])
        ranked = LargeGroupList(grades, starts, counts[1::2], counts[::2], float(weights[0, number]))
        yield (number if by_slice else None), ranked


def weight_ranges(rows: BlockStore, n_slices: int, by_slice: bool) -> np.ndarray:
    """The smallest and the largest weight of every slice; 1 without weights."""
    ranges = np.ones((2, n_slices))
    if WEIGHT not in rows.types:
        return ranges
    ranges[0], ranges[1] = np.inf, 0.0
    for block in rows.block_readers([WEIGHT, *([SLICE] if by_slice else [])]):
        columns = block.load()
        slices = columns[SLICE] if by_slice else np.zeros(block.rows, np.uint16)
        np.minimum.at(ranges[0], slices, columns[WEIGHT])
        np.maximum.at(ranges[1], slices, columns[WEIGHT])
    return ranges


def load_graded_rows(rows: BlockStore, names: list[str]) -> GradedRows:
    """The rows whose grade is not zero, sorted."""
    label, score, *slice_name = names
    blocks = []
    for block in rows.block_readers(names):
        columns = block.load()
        graded = np.flatnonzero(columns[label])
        slices = columns[slice_name[0]][graded] if slice_name else np.zeros(len(graded), np.uint16)
        blocks.append((slices, ordered_keys(columns[score][graded]), columns[label][graded].astype(np.float64)))
    slices, keys, grades = (np.concatenate(column) for column in zip(*blocks, strict=True))
    order = np.lexsort((-grades, ~keys, slices))
    return GradedRows(slices[order], keys[order], grades[order])


def count_zero_grades(rows: BlockStore, names: list[str], pivots: list[PivotCounts]) -> None:
    """Count the rows of grade zero, block by block."""
    label, score, *slice_name = names
    conflicts = np.empty(mann_whitney.MAX_CONFLICTS, pivots[0].keys.dtype)
    for block in rows.block_readers(names):
        columns = block.load()
        zeros = np.flatnonzero(columns[label] == 0)
        others = ordered_keys(columns[score][zeros])
        if not slice_name:
            pivots[0].add(others, conflicts)
            continue
        slices = columns[slice_name[0]][zeros]
        starts = np.empty(len(pivots) + 1, np.int64)
        destinations = np.empty(len(zeros), np.uint32)
        hash_partition.order_by_slice(slices, starts, destinations)
        others = scatter_rows(others, destinations)
        for number in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
            pivots[number].add(others[starts[number] : starts[number + 1]], conflicts)
