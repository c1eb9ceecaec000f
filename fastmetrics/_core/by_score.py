"""The exchange by score range: rows with neighbouring scores meet in one place.

A sample says where to cut; every block is then reordered in cache into buckets of neighbouring scores, negatives before
positives. A bucket's rows are the same-numbered slices of all blocks. The cuts decide how fast a result comes, never
what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastmetrics._core.parallel import for_each
from fastmetrics._core.rows import SERIAL_ROWS, Rows, addresses
from fastmetrics._kernels import ranksum

N_CELLS = 1 << 16
ROWS_PER_BUCKET = 40_000
MAX_BUCKETS = 1024
SAMPLE = 1 << 14
CROWDED = 16  # a bucket of so many times its share is worth a slower, finer cut


class Splitter(NamedTuple):
    """Where to cut the scores: cells of equal width between two keys, and the bucket each cell belongs to.

    Where the scores crowd into a few cells, `cuts` says it instead: a power of two of ascending keys, the first
    n_buckets - 1 of which begin a bucket.
    """

    low: int
    shift: int
    bucket_of_cell: np.ndarray
    cuts: np.ndarray
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
    """Buckets of about equal numbers of rows, judged by a sample.

    Any splitter gives the same results; a good one is faster.
    """
    n_buckets = max(1, min(MAX_BUCKETS, rows // ROWS_PER_BUCKET))
    if n_buckets == 1:
        key_type = np.uint64 if sample.dtype == np.float64 else np.uint32
        return Splitter(0, 0, np.zeros(1, np.uint16), np.zeros(1, key_type), 1)
    keys = np.sort(ordered_keys(sample))
    margin = len(keys) // 200  # the tails go to the outer cells, so that outliers do not make all cells wide
    low, high = keys[margin], keys[-1 - margin]
    shift = max(0, (int(high) - int(low)).bit_length() - 16)
    cells = np.minimum((np.maximum(keys, low) - low) >> keys.dtype.type(shift), N_CELLS - 1).astype(np.int64)
    mass = np.bincount(cells, minlength=N_CELLS)
    before = np.cumsum(mass) - mass
    bucket_of_cell = np.minimum(before * n_buckets // len(keys), n_buckets - 1).astype(np.uint16)
    cuts = np.empty(0, keys.dtype)
    if is_crowded(keys, bucket_of_cell[cells], n_buckets):
        n_buckets = 1 << (n_buckets - 1).bit_length()
        cuts = keys[np.arange(1, n_buckets + 1) * (len(keys) - 1) // n_buckets]
    return Splitter(int(low), shift, bucket_of_cell, cuts, n_buckets)


def is_crowded(keys: np.ndarray, buckets: np.ndarray, n_buckets: int) -> bool:
    """Would one bucket hold many times its share, and beside its largest tie, which cannot be cut?"""
    fullest = int(np.bincount(buckets).argmax())
    _, ties = np.unique(keys[buckets == fullest], return_counts=True)
    return int(ties.sum() - ties.max()) > CROWDED * len(keys) // n_buckets


class ScoreBuckets:
    """Rows by score range: for every block, its keys bucket by bucket, negatives first."""

    def __init__(self, key_memory: list[np.ndarray], double_scores: bool, splitter: Splitter) -> None:
        """`key_memory` has room for each block's keys: uint64 for float64 scores, uint32 for float32."""
        n_blocks = len(key_memory)
        self.keys = key_memory
        self.double_scores = double_scores
        self.splitter = splitter
        self.offsets = np.empty((n_blocks, 2 * splitter.n_buckets + 1), np.int32)
        self.has_nan = np.zeros(n_blocks, np.int64)

    @property
    def key_type(self) -> np.dtype:
        return np.dtype(np.uint64 if self.double_scores else np.uint32)

    def fill(self, block: int, labels: np.ndarray, scores: np.ndarray, slots: np.ndarray) -> None:
        """Put a block's rows in order; `has_nan[block]` tells whether a NaN was among the scores."""
        kernel = ranksum.range_block_f64 if self.double_scores else ranksum.range_block_f32
        low, shift, bucket_of_cell, cuts, n_buckets = self.splitter
        kernel(
            labels, scores, 0, labels.shape[0], low, shift, bucket_of_cell, cuts, n_buckets, slots, self.keys[block],
            self.offsets[block], self.has_nan[block : block + 1],
        )  # fmt: skip

    def class_counts(self) -> np.ndarray:
        """Rows of every bucket by class (negatives, positives)."""
        counts: np.ndarray = (self.offsets[:, 1:] - self.offsets[:, :-1]).sum(0, dtype=np.int64)
        return counts.reshape(self.splitter.n_buckets, 2)

    def block_addresses(self) -> np.ndarray:
        return addresses(self.keys)


def sample_scores(blocks: list[Rows], rows: int) -> np.ndarray:
    """About SAMPLE scores, evenly spaced over all blocks."""
    step = max(1, rows // SAMPLE)
    return np.concatenate([block.scores[::step] for block in blocks])


def bucket_blocks(blocks: list[Rows], spare: list[np.ndarray], n_threads: int) -> ScoreBuckets:
    """Checked blocks by score range.

    `spare` is memory of eight bytes a row that nobody needs any more, block by block, or empty. Both lists are emptied:
    a block goes as soon as its keys are in place.
    """
    lengths = [block.labels.shape[0] for block in blocks]
    splitter = split_scores(sample_scores(blocks, sum(lengths)), sum(lengths))
    double_scores = blocks[0].scores.dtype == np.float64
    key_type = np.uint64 if double_scores else np.uint32
    if spare:
        memory = [piece.view(key_type)[:length] for piece, length in zip(spare, lengths, strict=True)]
    else:
        memory = np.split(np.empty(sum(lengths), key_type), np.cumsum(lengths)[:-1])
    buckets = ScoreBuckets(memory, double_scores, splitter)
    pending: list[Rows | None] = list(blocks)
    blocks.clear()
    spare.clear()

    def make_worker() -> Callable[[int], None]:
        slots = np.empty(max(lengths), np.uint16)

        def fill(unit: int) -> None:
            block = pending[unit]
            pending[unit] = None
            if block is not None:
                buckets.fill(unit, block.labels, block.scores, slots)

        return fill

    for_each(len(lengths), make_worker, n_threads if sum(lengths) > SERIAL_ROWS else 1)
    return buckets
