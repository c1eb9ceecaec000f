"""Replicates of statistics of what is no number: texts and partitions.

Of such rows no exchange keeps anything. What was counted of each, a few integers, stays in memory beside the hash of
its unit until all units are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.lots import Lots, UnitCounter
from fastmetrics._core.replicates import EVERYTHING, Key, Sampled, Share, Weights, add_parts, by_lot

NO_SLICES: np.ndarray = np.empty(0, np.uint16)


class Counted(NamedTuple):
    """Rows of a block: the hashes of their units, their slices (none: empty), and integers of each, int64[n, m]."""

    hashes: np.ndarray
    slices: np.ndarray
    rows: np.ndarray

    @property
    def n_bytes(self) -> int:
        return int(self.hashes.nbytes + self.slices.nbytes + self.rows.nbytes)


class CountedRows:
    """The rows of all blocks, by statistic and view. Blocks may be added by several threads."""

    def __init__(self) -> None:
        self.blocks: dict[tuple[Any, int], list[Counted]] = {}
        self.numbers: dict[tuple[Any, int], Any] = {}
        self.lock = Lock()

    def add(
        self, statistic: Any, view: int, counted: Any, units: np.ndarray, slices: np.ndarray | None
    ) -> int:
        """Keep what a statistic counted of a block; gives the bytes that it takes."""
        own = statistic, view
        with self.lock:
            if hasattr(statistic, "number_rows"):
                if own not in self.numbers:
                    self.numbers[own] = statistic.new()
                rows = statistic.number_rows(self.numbers[own], counted)
            else:
                rows = counted
            block = Counted(units.copy(), NO_SLICES if slices is None else slices.copy(), rows)
            self.blocks.setdefault(own, []).append(block)
        return block.n_bytes

    def lots(self) -> Lots:
        """The lots of all units: every statistic and view has all rows."""
        counter = UnitCounter()
        for block in next(iter(self.blocks.values()), []):
            counter.add(block.hashes)
        return counter.lots()

    def sample(self, weights: Weights, n_slices: int, share: Share = EVERYTHING) -> dict[Key, Any]:
        """The replicates of all statistics, of all rows and of every slice."""
        found: dict[Key, Any] = {}
        for (statistic, view), blocks in self.blocks.items():
            hashes, slices, rows = (np.concatenate(own) for own in zip(*blocks, strict=True))
            numbers = weights.lots.numbers(hashes)
            known = self.numbers.get((statistic, view))
            for number in (None, *range(n_slices)):
                if not share.has(number):
                    continue
                where = slice(None) if number is None else slices == number
                found[statistic, view, number] = sample_part(statistic, known, weights, numbers[where], rows[where])
        return found


def sample_part(
    statistic: Any, known: Any, weights: Weights, numbers: np.ndarray, rows: np.ndarray
) -> Sampled | SampledCells:
    """The replicates of some rows; `numbers` are those of their lots."""
    if known is not None:
        return SampledCells(statistic, known, weights, numbers, rows)
    order, lots, starts = by_lot(numbers)
    rows = rows[order]
    sampled = Sampled(statistic, weights.replicates)
    add_parts(sampled, statistic, statistic.add, weights, lots, starts, lambda start, stop: rows[start:stop])
    return sampled


class SampledCells:
    """The replicates of counts of pairs: how often every pair is there in every lot."""

    def __init__(
        self, statistic: Any, known: Any, weights: Weights, numbers: np.ndarray, rows: np.ndarray
    ) -> None:
        self.statistic = statistic
        self.known = known
        self.weights = weights
        order = np.lexsort((numbers, rows[:, 1], rows[:, 0]))
        rows, numbers = rows[order], numbers[order]
        is_cell = np.ones(rows.shape[0], bool)
        is_cell[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        is_entry = is_cell.copy()
        is_entry[1:] |= numbers[1:] != numbers[:-1]
        entries = np.flatnonzero(is_entry)
        self.cells = rows[is_cell]
        self.lots = numbers[entries]
        self.counts = np.diff(np.append(entries, rows.shape[0]))
        self.starts = np.flatnonzero(is_cell[entries])

    def states(self) -> Iterator[Any]:
        """The state of every replicate."""
        for first, stop, drawn, rows in self.weights.blocks(self.lots):
            for replicate in range(stop - first):
                times = drawn[:, replicate][rows] * self.counts
                counts = np.add.reduceat(times, self.starts) if times.shape[0] else times
                there = counts > 0
                yield self.statistic.of_cells(self.known, self.cells[there], counts[there])
