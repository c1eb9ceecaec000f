"""The exchange by score range: rows with neighbouring scores meet in one place.

A sample says where to cut; every block is then reordered in cache into buckets of neighbouring scores, negatives before positives.
A bucket's rows are the same-numbered slices of all blocks. The cuts decide how fast a result comes, never what it is.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastmetrics._core.parallel import for_each
from fastmetrics._core.rows import SERIAL_ROWS, Rows
from fastmetrics._kernels import ranksum

N_CELLS = 1 << 16
ROWS_PER_BUCKET = 40_000
MAX_BUCKETS = 1024
SAMPLE = 1 << 14


class Splitter(NamedTuple):
    """Where to cut the scores: cells of equal width between two keys, and the bucket each cell belongs to."""

    low: int
    shift: int
    bucket_of_cell: np.ndarray
    n_buckets: int


def ordered_keys(scores: np.ndarray) -> np.ndarray:
    """Unsigned integers in the order of the scores (as ordered.pxd does for the kernels)."""
    scores = scores + scores.dtype.type(0)
    if scores.dtype == np.float32:
        bits = scores.view(np.uint32)
        return bits ^ np.where(bits >> np.uint32(31), np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    bits = scores.view(np.uint64)
    return bits ^ np.where(bits >> np.uint64(63), np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(1 << 63))


def split_scores(sample: np.ndarray, rows: int) -> Splitter:
    """Buckets of about equal numbers of rows, judged by a sample. Any splitter gives the same results; a good one is faster."""
    n_buckets = max(1, min(MAX_BUCKETS, rows // ROWS_PER_BUCKET))
    keys = np.sort(ordered_keys(sample))
    margin = len(keys) // 200      # the tails go to the outer cells, so that outliers do not make all cells wide
    low, high = int(keys[margin]), int(keys[-1 - margin])
    shift = max(0, (high - low).bit_length() - 16)
    key_type = keys.dtype.type
    cells = np.minimum((np.maximum(keys, key_type(low)) - key_type(low)) >> key_type(shift), N_CELLS - 1).astype(np.int64)
    mass = np.bincount(cells, minlength=N_CELLS)
    before = np.cumsum(mass) - mass
    return Splitter(low, shift, np.minimum(before * n_buckets // len(keys), n_buckets - 1).astype(np.uint16), n_buckets)


class ScoreBuckets:
    """Rows by score range: for every block, its keys bucket by bucket, negatives first."""

    def __init__(self, rows: int, dtype: np.dtype, n_blocks: int, splitter: Splitter) -> None:
        self.splitter = splitter
        self.double_scores = dtype == np.float64
        self.keys: np.ndarray = np.empty(rows, np.uint64 if self.double_scores else np.uint32)
        self.offsets = np.empty((n_blocks, 2 * splitter.n_buckets + 1), np.int32)
        self.starts = np.zeros(n_blocks, np.int64)
        self.has_nan = np.zeros(n_blocks, np.int64)

    def fill(self, block: int, start: int, labels: np.ndarray, scores: np.ndarray, slots: np.ndarray) -> bool:
        """Put a block's rows at `start`; False when there is a NaN among the scores."""
        stop = start + labels.shape[0]
        kernel = ranksum.range_block_f64 if self.double_scores else ranksum.range_block_f32
        low, shift, bucket_of_cell, n_buckets = self.splitter
        self.starts[block] = start
        kernel(
            labels, scores, 0, labels.shape[0], low, shift, bucket_of_cell, n_buckets, slots, self.keys[start:stop],
            self.offsets[block], self.has_nan[block : block + 1],
        )  # fmt: skip
        return not self.has_nan[block]

    def class_counts(self) -> np.ndarray:
        """Rows of every bucket by class (negatives, positives)."""
        counts = (self.offsets[:, 1:] - self.offsets[:, :-1]).sum(0, dtype=np.int64)
        return counts.reshape(self.splitter.n_buckets, 2)

    def block_addresses(self) -> np.ndarray:
        return np.uint64(self.keys.ctypes.data) + self.starts.astype(np.uint64) * np.uint64(self.keys.itemsize)


def sample_scores(blocks: list[Rows], rows: int) -> np.ndarray:
    """About SAMPLE scores, evenly spaced over all blocks."""
    step = max(1, rows // SAMPLE)
    return np.concatenate([block.scores[::step] for block in blocks])


def bucket_blocks(blocks: list[Rows], n_threads: int) -> ScoreBuckets:
    """Checked blocks by score range. The list is emptied on the way: its memory is needed for the result."""
    lengths = [block.labels.shape[0] for block in blocks]
    rows = sum(lengths)
    starts = np.concatenate(([0], np.cumsum(lengths))).tolist()
    splitter = split_scores(sample_scores(blocks, rows), rows)
    buckets = ScoreBuckets(rows, blocks[0].scores.dtype, len(blocks), splitter)
    pending: list[Rows | None] = list(blocks)
    blocks.clear()

    def make_worker() -> Callable[[int], None]:
        slots = np.empty(max(lengths), np.uint16)

        def fill(unit: int) -> None:
            block = pending[unit]
            pending[unit] = None
            if block is not None:
                buckets.fill(unit, starts[unit], block.labels, block.scores, slots)

        return fill

    for_each(len(lengths), make_worker, n_threads if rows > SERIAL_ROWS else 1)
    return buckets
