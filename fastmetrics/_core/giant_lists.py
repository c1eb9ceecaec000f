"""The ranked list of a group that is too large to be loaded: only the rows whose grade is not zero are held.

All others matter by how many of them stand between two scores of the rows held, and how many tie with one: they are
read block by block and counted (`count_between` of steps.pyx). What is held is a small part of a giant group, as a
rule: of what a user was shown a million times the user chose little.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fastmetrics._core.blocks import BlockStore, reordered
from fastmetrics._core.by_group import GroupKeys, check_group_weights
from fastmetrics._core.by_score import ordered_keys
from fastmetrics._core.rows import SLICE, WEIGHT, View, label_name, score_name
from fastmetrics._kernels import partition, ranksum, steps

COUNTED_ROWS = 1 << 31  # slots have 32 bits; then they are added to those of 64


class GiantList(NamedTuple):
    """A ranked list as steps, from the highest score down.

    Step k has the rows `grades[starts[k]:starts[k + 1]]`, none of grade zero and descending, which all tie, and
    `ties[k]` rows of grade zero that tie with them; `gaps[k]` rows of grade zero stand above it and below step k - 1,
    the last of `gaps` below all steps. `weight` is that of the group.
    """

    grades: np.ndarray
    starts: np.ndarray
    ties: np.ndarray
    gaps: np.ndarray
    weight: float

    @property
    def rows(self) -> int:
        return int(self.grades.shape[0] + self.ties.sum() + self.gaps.sum())


class Pivots:
    """The distinct scores of the rows held, and the other rows counted between and at them."""

    def __init__(self, keys: np.ndarray) -> None:
        self.keys = keys
        self.slots = np.zeros(2 * len(keys) + 1, np.uint32)
        self.totals = np.zeros(2 * len(keys) + 1, np.int64)
        self.counted = 0
        self.cells = np.empty(0, np.uint32)
        self.shift = 0
        if len(keys):
            self.cells = np.empty(steps.number_of_cells(len(keys)) + 2, np.uint32)
            self.shift = steps.place_pivots(keys, self.cells)

    def add(self, others: np.ndarray, conflicts: np.ndarray) -> None:
        """Count some of the other rows, by their keys."""
        if not len(self.keys):
            self.totals[0] += len(others)
            return
        if self.counted + len(others) >= COUNTED_ROWS:
            self.settle()
        self.counted += len(others)
        steps.count_between(self.keys, self.cells, self.shift, others, conflicts, self.slots)

    def settle(self) -> np.ndarray:
        """All counts so far."""
        self.totals += self.slots
        self.slots[:] = 0
        self.counted = 0
        return self.totals


class Held(NamedTuple):
    """The rows that are held, in the order of their slices, scores and grades, the last two descending."""

    slices: np.ndarray
    keys: np.ndarray
    grades: np.ndarray


def giant_lists(
    rows: BlockStore, group: GroupKeys, view: View, by_slice: bool
) -> Iterator[tuple[int | None, GiantList]]:
    """The list of a giant group as a view sees it: of all rows, or slice by slice."""
    names = [label_name(view.label), score_name(view.score), *([SLICE] if by_slice else [])]
    n_slices = 1 + rows.greatest(SLICE) if by_slice else 1
    weights = spans_of_weights(rows, n_slices, by_slice)
    held = hold_rows(rows, names)
    edges = np.searchsorted(held.slices, np.arange(n_slices + 1))
    lists = []
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        own = held.keys[start:stop]
        is_first = np.ones(len(own), bool)
        is_first[1:] = own[1:] != own[:-1]
        starts = np.append(np.flatnonzero(is_first), len(own))
        lists.append((held.grades[start:stop], starts, Pivots(np.ascontiguousarray(own[is_first][::-1]))))
    count_others(rows, names, [pivots for _, _, pivots in lists])
    for number, (grades, starts, pivots) in enumerate(lists):
        counts = pivots.settle()[::-1]
        if not len(grades) and not counts[0]:
            continue
        check_group_weights(group, weights[0, number : number + 1], weights[1, number : number + 1])
        found = GiantList(grades, starts, counts[1::2], counts[::2], float(weights[0, number]))
        yield (number if by_slice else None), found


def spans_of_weights(rows: BlockStore, n_slices: int, by_slice: bool) -> np.ndarray:
    """The least and the greatest weight of every slice; without weights they are one."""
    spans = np.ones((2, n_slices))
    if WEIGHT not in rows.types:
        return spans
    spans[0], spans[1] = np.inf, 0.0
    for block in rows.whole_blocks([WEIGHT, *([SLICE] if by_slice else [])]):
        columns = block.load()
        slices = columns[SLICE] if by_slice else np.zeros(block.rows, np.uint16)
        np.minimum.at(spans[0], slices, columns[WEIGHT])
        np.maximum.at(spans[1], slices, columns[WEIGHT])
    return spans


def hold_rows(rows: BlockStore, names: list[str]) -> Held:
    """The rows whose grade is not zero."""
    label, score, *by = names
    parts = []
    for block in rows.whole_blocks(names):
        columns = block.load()
        places = np.flatnonzero(columns[label])
        slices = columns[by[0]][places] if by else np.zeros(len(places), np.uint16)
        parts.append((slices, ordered_keys(columns[score][places]), columns[label][places].astype(np.float64)))
    slices, keys, grades = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((-grades, ~keys, slices))
    return Held(slices[order], keys[order], grades[order])


def count_others(rows: BlockStore, names: list[str], pivots: list[Pivots]) -> None:
    """Count the rows of grade zero, block by block."""
    label, score, *by = names
    conflicts = np.empty(ranksum.MOST_CONFLICTS, pivots[0].keys.dtype)
    for block in rows.whole_blocks(names):
        columns = block.load()
        places = np.flatnonzero(columns[label] == 0)
        others = ordered_keys(columns[score][places])
        if not by:
            pivots[0].add(others, conflicts)
            continue
        slices = columns[by[0]][places]
        starts = np.empty(len(pivots) + 1, np.int64)
        destinations = np.empty(len(places), np.uint32)
        partition.order_by_slice(slices, starts, destinations)
        others = reordered(others, destinations)
        for number in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
            pivots[number].add(others[starts[number] : starts[number + 1]], conflicts)
