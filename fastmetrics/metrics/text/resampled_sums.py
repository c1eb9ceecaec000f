"""Sums of segment states over resampled corpora: bootstrap samples, and random exchanges between two systems.

NumPy's generator, the seed and the order of calls are sacrebleu's, so the samples are the same. For every metric, the
state of one segment is a row of integers (counts, limbs of exact sums), so the state of a sample is a sum of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.parallel import for_each
from fastmetrics._core.state import ManySums, Sums
from fastmetrics._kernels.numeric import sums as kernel_sums
from fastmetrics._kernels.resampling import segment_sums
from fastmetrics.metrics.text.segment_statistics import SegmentStatistics
from fastmetrics.metrics.text.text_metric import ScoresManySums

MAX_DRAWS_PER_CALL = 1 << 22  # random numbers drawn at a time; bounds memory
BOOLEANS_PER_RANDOM_WORD = 32  # NumPy draws so many booleans from one random word
BOOTSTRAP_REPLICATES_PER_CHUNK = 256
EXCHANGE_REPLICATES_PER_CHUNK = 4096  # a table of 256 sums, made once per chunk of work, pays off for so many


Summer = Callable[[np.ndarray, np.ndarray, np.ndarray], None]  # summer(panel, drawn, out) fills the sums of replicates


class SegmentStates:
    """The state of every segment for one metric, as rows of int64 columns.

    `rows` has the columns `used_columns` only: those that are not zero for all segments.
    """

    def __init__(self, statistics: SegmentStatistics) -> None:
        self.metric: Any = statistics.metric
        self.n_references = statistics.n_references
        empty = self.metric.empty()
        counts = statistics.counts
        if empty.exact.size or empty.counts.shape[0] != counts.shape[1]:
            # The state is not the sum of the statistics, so it is computed for every segment.
            states = (self.state_of(counts[row : row + 1]) for row in range(len(counts)))
            counts = np.stack([np.concatenate([state.counts, state.exact.ravel()]) for state in states])
        self.n_columns = counts.shape[1]
        self.used_columns = np.flatnonzero(counts.any(axis=0))
        self.rows = np.ascontiguousarray(counts[:, self.used_columns])

    def state_of(self, counts: np.ndarray) -> Sums:
        """Return the state of some rows of statistics."""
        sums: Sums = self.metric.empty()
        self.metric.add(sums, counts)
        return sums

    def scores(self, sums: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the score of every row of sums, which has the given columns of the state."""
        scores, empty = np.full(len(sums), np.nan), self.metric.empty()
        if isinstance(self.metric, ScoresManySums):
            flat = np.zeros((len(sums), self.n_columns), np.int64)
            flat[:, columns] = sums
            n_counts = empty.counts.shape[0]
            limbs = np.ascontiguousarray(flat[:, n_counts:]).reshape(len(sums), *empty.exact.shape)
            kernel_sums.normalize_states(limbs)
            scores = self.metric.many_scores(ManySums(empty.fields, flat[:, :n_counts], limbs))
        left = np.flatnonzero(np.isnan(scores))
        scores[left] = [result.score for result in self.results(sums[left], columns)]
        return scores

    def result(self, sums: np.ndarray, columns: np.ndarray) -> Any:
        """Return the metric's result for one row of sums."""
        return next(self.results(sums[None], columns))

    def results(self, sums: np.ndarray, columns: np.ndarray) -> Iterator[Any]:
        """Yield the metric's result for every row of sums."""
        state: Sums = self.metric.empty()
        n_counts, n_limbs = state.counts.shape[0], state.exact.size
        flat_state = np.zeros(n_counts + n_limbs, np.int64)
        for row in sums:
            flat_state[columns] = row
            state.counts[:] = flat_state[:n_counts]
            if n_limbs:
                state.exact[:] = 0
                exact.merge_states(state.exact, flat_state[n_counts:].reshape(state.exact.shape))
            yield self.metric.score(state, self.n_references)


def sum_bootstrap_samples(
    rows: np.ndarray, replicates: int, generator: np.random.Generator, n_threads: int
) -> np.ndarray:
    """Return the sums of rows over bootstrap samples of n rows each, int64[replicates, n_columns]."""
    n = len(rows)
    draws = (
        generator.choice(n, size=(stop - first, n), replace=True)
        for first, stop in replicate_ranges(replicates, n, 1)
    )
    return sum_drawn_rows(
        rows, replicates, draws, BOOTSTRAP_REPLICATES_PER_CHUNK, lambda: segment_sums.sum_sampled_rows, n_threads
    )


def sum_random_exchanges(
    rows: np.ndarray, replicates: int, generator: np.random.Generator, n_threads: int
) -> np.ndarray:
    """Return sums of rows, each of which is chosen with probability 1/2, int64[replicates, n_columns]."""
    n = len(rows)
    masks = (
        np.packbits(generator.integers(2, size=(stop - first, n), dtype=bool), axis=1, bitorder="little")
        for first, stop in replicate_ranges(replicates, n, BOOLEANS_PER_RANDOM_WORD)
    )

    def make_summer() -> Summer:
        table = np.empty((segment_sums.SUM_TABLE_ROWS, segment_sums.PANEL_COLUMNS), np.int64)
        return lambda panel, drawn, out: segment_sums.sum_masked_rows(panel, drawn, table, out)

    return sum_drawn_rows(rows, replicates, masks, EXCHANGE_REPLICATES_PER_CHUNK, make_summer, n_threads)


def sum_drawn_rows(
    rows: np.ndarray, replicates: int, draws: Iterable[np.ndarray], replicates_per_chunk: int,
    make_summer: Callable[[], Summer], n_threads: int,
) -> np.ndarray:  # fmt: skip
    """Return the sums of the rows drawn for each replicate. `draws` has a row for each replicate, some at a time."""
    panels = split_into_panels(rows)
    out = np.zeros((panels.shape[0], replicates, segment_sums.PANEL_COLUMNS), np.int64)
    first = 0
    for drawn in draws:
        sum_chunks(panels, drawn, out[:, first : first + len(drawn)], replicates_per_chunk, make_summer, n_threads)
        first += len(drawn)
    return np.ascontiguousarray(out.transpose(1, 0, 2).reshape(replicates, -1)[:, : rows.shape[1]])


def sum_chunks(
    panels: np.ndarray, drawn: np.ndarray, out: np.ndarray, replicates_per_chunk: int,
    make_summer: Callable[[], Summer], n_threads: int,
) -> None:  # fmt: skip
    """Fill the sums of some replicates. A chunk of work is a panel and a range of replicates."""
    chunks = list(product(range(len(panels)), range(0, len(drawn), replicates_per_chunk)))

    def make_worker() -> Callable[[int], None]:
        add = make_summer()

        def sum_chunk(chunk: int) -> None:
            panel, start = chunks[chunk]
            stop = start + replicates_per_chunk
            add(panels[panel], drawn[start:stop], out[panel, start:stop])

        return sum_chunk

    for_each(len(chunks), make_worker, n_threads)


def replicate_ranges(replicates: int, n: int, multiple: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of replicates with at most about MAX_DRAWS_PER_CALL draws each.

    Lengths are multiples of `multiple`, so that the draws of all calls together are those of one call.
    """
    step = max(1, MAX_DRAWS_PER_CALL // n // multiple) * multiple
    for first in range(0, replicates, step):
        yield first, min(first + step, replicates)


def split_into_panels(rows: np.ndarray) -> np.ndarray:
    """Return the columns of rows in panels of eight, int64[panel, row, 8]; the last panel is padded with zeros."""
    n, columns = rows.shape
    width = segment_sums.PANEL_COLUMNS
    padded = np.zeros((n, -(-columns // width) * width), np.int64)
    padded[:, :columns] = rows
    return np.ascontiguousarray(padded.reshape(n, -1, width).transpose(1, 0, 2))
