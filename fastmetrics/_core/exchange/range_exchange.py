"""The exchange by score range: rows with neighbouring scores meet in one place.

A sample says where to cut; every block is then reordered in cache into buckets of neighbouring scores, negatives before
positives. A bucket's rows are the same-numbered slices of all blocks. With slices, each has buckets of its own. The
cuts decide how fast a result comes, never what it is. What is done with the buckets: `score_runs.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fastmetrics._core.blocks import Block
from fastmetrics._core.rows import WEIGHT, addresses
from fastmetrics._kernels import ranksum, scorereplicates

KEY = "key"
LOT = "lot"  # of units, uint16: for replicates
N_CELLS = 1 << 16
ROWS_PER_BUCKET = 40_000
MAX_BUCKETS = 1024
MOST_BUCKETS = 1 << 15  # with two classes each, their numbers have 16 bits
SAMPLE = 1 << 14
CROWDED = 16  # a bucket of so many times its share is worth a slower, finer cut
NO_SLICES: np.ndarray = np.empty(0, np.uint16)
NO_CUTS: np.ndarray = np.empty(0, np.int32)


class Splitter(NamedTuple):
    """Where to cut the scores: cells of equal width between two keys, and the bucket each cell belongs to.

    Where the scores crowd into a few cells, `cuts` says it instead: a power of two of ascending keys, the first
    n_buckets - 1 of which begin a bucket. With `first_cuts`, slice s has the cuts first_cuts[s] to first_cuts[s + 1]
    and one bucket more than that; the buckets of the slices follow each other.
    """

    low: int
    shift: int
    bucket_of_cell: np.ndarray
    cuts: np.ndarray
    n_buckets: int
    first_cuts: np.ndarray = NO_CUTS

    def buckets_of_slice(self, number: int) -> range:
        """The buckets of one slice, in ascending order of score."""
        first, stop = self.first_cuts[number : number + 2].tolist()
        return range(first + number, stop + number + 1)


def ordered_keys(scores: np.ndarray) -> np.ndarray:
    """Unsigned integers in the order of the scores (as ordered.pxd does for the kernels)."""
    scores = scores + scores.dtype.type(0)
    if scores.dtype == np.float32:
        bits = scores.view(np.uint32)
        return bits ^ np.where(bits >> np.uint32(31), np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    bits = scores.view(np.uint64)
    return bits ^ np.where(bits >> np.uint64(63), np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(1 << 63))


def scores_of_keys(keys: np.ndarray) -> np.ndarray:
    """The scores whose keys these are; -0.0 has become 0.0."""
    if keys.dtype == np.uint32:
        bits = keys ^ np.where(keys >> np.uint32(31), np.uint32(1 << 31), np.uint32(0xFFFFFFFF))
        return bits.view(np.float32)
    bits = keys ^ np.where(keys >> np.uint64(63), np.uint64(1 << 63), np.uint64(0xFFFFFFFFFFFFFFFF))
    return bits.view(np.float64)


def count_buckets(rows: int, most_rows: int | None) -> int:
    """How many buckets to cut so many rows into; `most_rows`: of a bucket, where memory is short."""
    wanted = min(MAX_BUCKETS, rows // ROWS_PER_BUCKET)
    if most_rows is not None:
        wanted = max(wanted, min(MOST_BUCKETS // 8, 2 * rows // most_rows))
    return max(1, wanted)


def split_scores(sample: np.ndarray, rows: int, most_rows: int | None = None) -> Splitter:
    """Buckets of about equal numbers of rows, judged by a sample.

    Any splitter gives the same results; a good one is faster.
    """
    n_buckets = count_buckets(rows, most_rows)
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


def cut_at(cuts: list[np.ndarray]) -> Splitter:
    """A splitter of ascending cuts for every slice."""
    first_cuts = np.zeros(len(cuts) + 1, np.int32)
    np.cumsum([len(own) for own in cuts], out=first_cuts[1:])
    together = np.concatenate(cuts)
    # Kernels take the address of the first cut.
    together = together if len(together) else np.zeros(1, together.dtype)
    return Splitter(0, 0, np.zeros(1, np.uint16), together, int(first_cuts[-1]) + len(cuts), first_cuts)


def split_slices(
    sample: np.ndarray, slices: np.ndarray, rows: int, n_slices: int, most_rows: int | None = None
) -> Splitter:
    """As split_scores, for every slice by what the sample has of it."""
    keys = ordered_keys(sample)
    order = np.lexsort((keys, slices))
    keys, slices = keys[order], slices[order]
    edges = np.searchsorted(slices, np.arange(n_slices + 1)).tolist()
    wanted = [count_buckets((stop - start) * rows // max(1, len(keys)), most_rows) for start, stop in pairwise(edges)]
    # Every slice has one bucket; what more there may be is shared where it is not enough for all.
    more, allowed = sum(wanted) - n_slices, MOST_BUCKETS - n_slices
    cuts = []
    for n_buckets, (start, stop) in zip(wanted, pairwise(edges), strict=True):
        if more > allowed:
            n_buckets = 1 + (n_buckets - 1) * allowed // more
        places = start + np.arange(1, n_buckets) * (stop - start) // n_buckets
        cuts.append(np.unique(keys[places]))
    return cut_at(cuts)


class RangeScratch:
    """One thread's room to reorder a block by score."""

    def __init__(self, block_rows: int) -> None:
        self.slots = np.empty(block_rows, np.uint16)
        self.has_nan = np.zeros(1, np.int64)


def order_by_score(
    splitter: Splitter,
    labels: np.ndarray,
    scores: np.ndarray,
    slices: np.ndarray | None,
    weights: np.ndarray | None,
    scratch: RangeScratch,
    take: Callable[[str, np.dtype, int], np.ndarray],
    lots: np.ndarray | None = None,
) -> Block:
    """A block's keys bucket by bucket, its negatives first; scratch.has_nan tells whether a score was NaN."""
    rows = labels.shape[0]
    if splitter.n_buckets > MOST_BUCKETS:
        raise OverflowError(f"{splitter.n_buckets} buckets have no 16-bit numbers")
    double_scores = scores.dtype == np.float64
    kernel = ranksum.range_block_f64 if double_scores else ranksum.range_block_f32
    keys = take(KEY, np.dtype(np.uint64 if double_scores else np.uint32), rows)
    offsets = take("offsets", np.dtype(np.int32), 2 * splitter.n_buckets + 1)
    slots = scratch.slots[:rows]
    if slices is None and splitter.first_cuts.shape[0]:
        slices = np.zeros(rows, np.uint16)
    kernel(
        labels, scores, 0, rows, splitter.low, splitter.shift, splitter.bucket_of_cell, splitter.cuts,
        NO_SLICES if slices is None else slices, splitter.first_cuts, splitter.n_buckets, slots, keys, offsets,
        scratch.has_nan,
    )  # fmt: skip
    columns = {KEY: keys}
    if weights is not None:
        columns[WEIGHT] = take(WEIGHT, np.dtype(np.float64), rows)
        ranksum.scatter_weights(weights, slots, offsets, columns[WEIGHT])
    if lots is not None:
        columns[LOT] = take(LOT, np.dtype(np.uint16), rows)
        scorereplicates.scatter_lots(lots, slots, offsets, columns[LOT])
    return Block(columns, offsets)


class ScoreBuckets:
    """Blocks that order_by_score made, or the same run of buckets of each, as kernels want them."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.keys = [block.columns[KEY] for block in blocks]
        self.weights = [block.columns[WEIGHT] for block in blocks] if WEIGHT in blocks[0].columns else None
        self.offsets = np.stack([block.offsets for block in blocks])
        self.addresses = addresses(self.keys)
        self.n_buckets = self.offsets.shape[1] // 2

    @property
    def double_scores(self) -> bool:
        return bool(self.keys[0].dtype == np.uint64)

    @property
    def key_type(self) -> np.dtype:
        return self.keys[0].dtype

    def class_counts(self) -> np.ndarray:
        """Rows of every bucket by class (negatives, positives)."""
        counts: np.ndarray = (self.offsets[:, 1:] - self.offsets[:, :-1]).sum(0, dtype=np.int64)
        return counts.reshape(self.n_buckets, 2)

    def of_class(self, columns: list[np.ndarray], bucket: int, label: int) -> np.ndarray:
        """Keys or weights of one class of a bucket, copied together."""
        begins = self.offsets[:, 2 * bucket + label].tolist()
        ends = self.offsets[:, 2 * bucket + label + 1].tolist()
        return np.concatenate([column[b:e] for column, b, e in zip(columns, begins, ends, strict=True)])
