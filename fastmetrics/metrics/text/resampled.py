"""Sums of segments' statistics over the samples that sacrebleu draws: bootstrap samples, and random exchanges.

NumPy's generator, seed and order of calls are sacrebleu's, so the samples are the same ones. What a segment adds to a
state is a row of integers, whatever the metric (counts, limbs of exact sums), so a sample's state is a sum of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.parallel import for_each
from fastmetrics._core.statistic import Sums
from fastmetrics._kernels import segmentsums
from fastmetrics.metrics.text.statistics import SegmentStatistics

MOST_DRAWN = 1 << 22  # numbers drawn at a time
BOOLEANS_IN_WORD = 32  # that NumPy takes of one random word
PICKS_IN_UNIT = 256
MASKS_IN_UNIT = 4096  # enough to be worth a table of 256 sums


class States:
    """What every segment adds to the state of a metric, as int64 columns, without those that are zero everywhere."""

    def __init__(self, statistics: SegmentStatistics) -> None:
        self.metric: Any = statistics.metric
        self.n_references = statistics.n_references
        empty = self.metric.new()
        counts = statistics.counts
        if empty.exact.size or empty.counts.shape[0] != counts.shape[1]:
            # A state that is not the sum of the statistics: one for every segment.
            counts = np.stack([flat(self.of(counts[row : row + 1])) for row in range(len(counts))])
        self.n_columns = counts.shape[1]
        self.kept = np.flatnonzero(counts.any(axis=0))
        self.rows = np.ascontiguousarray(counts[:, self.kept])

    def of(self, counts: np.ndarray) -> Sums:
        sums: Sums = self.metric.new()
        self.metric.add(sums, counts)
        return sums

    def scores(self, sums: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """The metric's value for every row of sums of the columns `kept`."""
        if hasattr(self.metric, "scores_of_sums"):
            whole = np.zeros((len(sums), self.n_columns), np.int64)
            whole[:, kept] = sums
            found: np.ndarray = self.metric.scores_of_sums(whole)
            return found
        return np.fromiter((result.score for result in self.results(sums, kept)), np.float64, len(sums))

    def result(self, sums: np.ndarray, kept: np.ndarray) -> Any:
        """The metric's result for one row of sums."""
        return next(self.results(sums[None], kept))

    def results(self, sums: np.ndarray, kept: np.ndarray) -> Iterator[Any]:
        state: Sums = self.metric.new()
        n_counts, n_limbs = state.counts.shape[0], state.exact.size
        whole = np.zeros(n_counts + n_limbs, np.int64)
        for row in sums:
            whole[kept] = row
            state.counts[:] = whole[:n_counts]
            if n_limbs:
                state.exact[:] = 0
                exact.merge_states(state.exact, whole[n_counts:].reshape(state.exact.shape))
            yield self.metric.score(state, self.n_references)


def flat(sums: Sums) -> np.ndarray:
    return np.concatenate([sums.counts, sums.exact.ravel()])


def sum_samples(rows: np.ndarray, replicates: int, generator: np.random.Generator, n_threads: int) -> np.ndarray:
    """int64[replicates, columns]: sums over bootstrap samples, each of as many rows as there are."""
    n = rows.shape[0]
    panels = panels_of(rows)
    out = np.empty((panels.shape[0], replicates, segmentsums.COLUMNS), np.int64)
    for first, stop in chunks(replicates, n, 1):
        picks = generator.choice(n, size=(stop - first, n), replace=True)
        add_picked(panels, picks, out[:, first:stop], n_threads)
    return unpanelled(out, rows.shape[1])


def add_picked(panels: np.ndarray, picks: np.ndarray, out: np.ndarray, n_threads: int) -> None:
    units = units_of(panels.shape[0], len(picks), PICKS_IN_UNIT)

    def work(unit: int) -> None:
        panel, start, stop = units[unit]
        segmentsums.sum_picked(panels[panel], picks[start:stop], out[panel, start:stop])

    for_each(len(units), lambda: work, n_threads)


def sum_exchanges(rows: np.ndarray, replicates: int, generator: np.random.Generator, n_threads: int) -> np.ndarray:
    """int64[replicates, columns]: sums over the rows that a coin chose."""
    n = rows.shape[0]
    panels = panels_of(rows)
    out = np.zeros((panels.shape[0], replicates, segmentsums.COLUMNS), np.int64)
    for first, stop in chunks(replicates, n, BOOLEANS_IN_WORD):
        chosen = generator.integers(2, size=(stop - first, n), dtype=bool)
        add_masked(panels, np.packbits(chosen, axis=1, bitorder="little"), out[:, first:stop], n_threads)
    return unpanelled(out, rows.shape[1])


def add_masked(panels: np.ndarray, masks: np.ndarray, out: np.ndarray, n_threads: int) -> None:
    units = units_of(panels.shape[0], len(masks), MASKS_IN_UNIT)

    def make_worker() -> Callable[[int], None]:
        table = np.empty((segmentsums.TABLE, segmentsums.COLUMNS), np.int64)

        def work(unit: int) -> None:
            panel, start, stop = units[unit]
            segmentsums.sum_masked(panels[panel], masks[start:stop], table, out[panel, start:stop])

        return work

    for_each(len(units), make_worker, n_threads)


def chunks(replicates: int, n: int, multiple: int) -> Iterator[tuple[int, int]]:
    """Ranges of replicates whose draws fit; NumPy's next call goes on where a multiple of so many ends."""
    step = max(1, MOST_DRAWN // n // multiple) * multiple
    for first in range(0, replicates, step):
        yield first, min(first + step, replicates)


def units_of(n_panels: int, replicates: int, step: int) -> list[tuple[int, int, int]]:
    """A panel and a range of replicates each."""
    return [
        (panel, start, min(start + step, replicates))
        for panel in range(n_panels)
        for start in range(0, replicates, step)
    ]


def panels_of(rows: np.ndarray) -> np.ndarray:
    """int64[panel, row, 8], columns beyond the last zero."""
    n, columns = rows.shape
    width = segmentsums.COLUMNS
    panels = np.zeros((-(-columns // width), n, width), np.int64)
    for panel in range(panels.shape[0]):
        own = rows[:, panel * width : (panel + 1) * width]
        panels[panel, :, : own.shape[1]] = own
    return panels


def unpanelled(sums: np.ndarray, columns: int) -> np.ndarray:
    return np.ascontiguousarray(sums.transpose(1, 0, 2).reshape(sums.shape[1], -1)[:, :columns])
