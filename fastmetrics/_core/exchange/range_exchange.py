"""The range exchange: it brings rows with neighbouring scores together.

A sample decides where to cut the scores. Every block is then reordered in cache into buckets of neighbouring scores, in
each bucket negatives before positives. The rows of a bucket are the slices of the same number of all blocks. With
slices of the log, each slice has its own buckets. The cuts change the speed of a result, never the result. Buckets are
reduced in `range_reduction.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from fastmetrics._core.columns.row_blocks import WEIGHT, Scratch, addresses
from fastmetrics._core.exchange.block_store import Block
from fastmetrics._core.exchange.weighted_ranges import WeightedRows, WeightScale
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.sweep import mann_whitney, weighted_sweep

KEY = "key"
UNIT_BUCKET = "unit bucket"  # uint16, for replicates
N_CELLS = 1 << 16
ROWS_PER_BUCKET = 40_000
MAX_BUCKETS = 1024
MOST_BUCKETS = 1 << 15  # a bucket has two partitions, one per class, and their numbers have 16 bits
SAMPLE = 1 << 14
FEW_BUCKETS = 8  # a search among so few cuts is as fast as a table of cells, which takes longer to make
SAMPLED_OF_BUCKET = 512
CROWDED = 16  # if a bucket has so many times its share of the rows, a slower and finer cut pays
NO_SLICES: np.ndarray = np.empty(0, np.uint16)
NO_CUTS: np.ndarray = np.empty(0, np.int32)
NO_KEPT: Mapping[str, np.ndarray] = {}


class Splitter(NamedTuple):
    """Maps scores to buckets.

    The keys between two values are divided into cells of equal width, and each cell belongs to a bucket. If most scores
    fall into a few cells, `cuts` is used instead: a power of two of ascending keys, of which the first n_buckets - 1
    begin a bucket. With `first_cuts`, slice s has the cuts first_cuts[s] to first_cuts[s + 1] and one bucket more than
    cuts. The buckets of the slices follow each other.
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
    """Unsigned integers in the order of the scores. The kernels do the same (ordered_bits.pxd)."""
    scores = scores + scores.dtype.type(0)
    if scores.dtype == np.float32:
        bits = scores.view(np.uint32)
        return bits ^ np.where(bits >> np.uint32(31), np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    bits = scores.view(np.uint64)
    return bits ^ np.where(bits >> np.uint64(63), np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(1 << 63))


def scores_of_keys(keys: np.ndarray) -> np.ndarray:
    """The scores of ordered keys. -0.0 becomes 0.0."""
    if keys.dtype == np.uint32:
        bits = keys ^ np.where(keys >> np.uint32(31), np.uint32(1 << 31), np.uint32(0xFFFFFFFF))
        return bits.view(np.float32)
    bits = keys ^ np.where(keys >> np.uint64(63), np.uint64(1 << 63), np.uint64(0xFFFFFFFFFFFFFFFF))
    return bits.view(np.float64)


def bucket_count(rows: int, max_rows: int | None) -> int:
    """The number of buckets for so many rows. `max_rows` is the most rows of a bucket, where memory is short."""
    n_buckets = min(MAX_BUCKETS, rows // ROWS_PER_BUCKET)
    if max_rows is not None:
        n_buckets = max(n_buckets, min(MOST_BUCKETS // 8, 2 * rows // max_rows))
    return max(1, n_buckets)


def split_scores(sample: np.ndarray, rows: int, max_rows: int | None = None) -> Splitter:
    """A splitter whose buckets have about equal numbers of rows, estimated from a sample.

    Every splitter gives the same results; a good one is faster.
    """
    n_buckets = bucket_count(rows, max_rows)
    if n_buckets == 1 or not sample.shape[0]:
        key_type = np.uint64 if sample.dtype == np.float64 else np.uint32
        return Splitter(0, 0, np.zeros(1, np.uint16), np.zeros(1, key_type), 1)
    if n_buckets <= FEW_BUCKETS:
        keys = np.sort(ordered_keys(sample[:: max(1, len(sample) // (n_buckets * SAMPLED_OF_BUCKET))]))
        return cut_at_quantiles(keys, n_buckets)
    keys = np.sort(ordered_keys(sample))
    margin = len(keys) // 200  # tails go to the outer cells: outliers must not make all cells wide
    low, high = keys[margin], keys[-1 - margin]
    shift = max(0, (int(high) - int(low)).bit_length() - 16)
    cells = np.minimum((np.maximum(keys, low) - low) >> keys.dtype.type(shift), N_CELLS - 1).astype(np.int64)
    mass = np.bincount(cells, minlength=N_CELLS)
    before = np.cumsum(mass) - mass
    bucket_of_cell = np.minimum(before * n_buckets // len(keys), n_buckets - 1).astype(np.uint16)
    if is_crowded(keys, bucket_of_cell[cells], n_buckets):
        return cut_at_quantiles(keys, n_buckets)
    return Splitter(int(low), shift, bucket_of_cell, np.empty(0, keys.dtype), n_buckets)


def cut_at_quantiles(keys: np.ndarray, n_buckets: int) -> Splitter:
    """The splitter that cuts at quantiles of the sorted keys of a sample."""
    n_buckets = 1 << (n_buckets - 1).bit_length()
    cuts = keys[np.arange(1, n_buckets + 1) * (len(keys) - 1) // n_buckets]
    return Splitter(0, 0, np.zeros(1, np.uint16), cuts, n_buckets)


def is_crowded(keys: np.ndarray, buckets: np.ndarray, n_buckets: int) -> bool:
    """Does one bucket have many times its share of the rows, without its largest tie, which cannot be cut?"""
    fullest = int(np.bincount(buckets).argmax())
    _, ties = np.unique(keys[buckets == fullest], return_counts=True)
    return int(ties.sum() - ties.max()) > CROWDED * len(keys) // n_buckets


def splitter_of_cuts(cuts: list[np.ndarray]) -> Splitter:
    """The splitter that cuts every slice at the given ascending keys."""
    first_cuts = np.zeros(len(cuts) + 1, np.int32)
    np.cumsum([len(of_slice) for of_slice in cuts], out=first_cuts[1:])
    all_cuts = np.concatenate(cuts)
    # Kernels take the address of the first cut, so there must be one.
    all_cuts = all_cuts if len(all_cuts) else np.zeros(1, all_cuts.dtype)
    return Splitter(0, 0, np.zeros(1, np.uint16), all_cuts, int(first_cuts[-1]) + len(cuts), first_cuts)


def split_slices(
    sample: np.ndarray, slices: np.ndarray, rows: int, n_slices: int, max_rows: int | None = None
) -> Splitter:
    """The same as split_scores for every slice, from the rows that the sample has of it."""
    keys = ordered_keys(sample)
    order = np.lexsort((keys, slices))
    keys, slices = keys[order], slices[order]
    edges = np.searchsorted(slices, np.arange(n_slices + 1)).tolist()
    wanted = [bucket_count((stop - start) * rows // max(1, len(keys)), max_rows) for start, stop in pairwise(edges)]
    # Every slice has one bucket. If the others are more than allowed, every slice gets its share of them.
    more, allowed = sum(wanted) - n_slices, MOST_BUCKETS - n_slices
    cuts = []
    for n_buckets, (start, stop) in zip(wanted, pairwise(edges), strict=True):
        if more > allowed:
            n_buckets = 1 + (n_buckets - 1) * allowed // more
        quantiles = start + np.arange(1, n_buckets) * (stop - start) // n_buckets
        cuts.append(np.unique(keys[quantiles]))
    return splitter_of_cuts(cuts)


class RangeScratch:
    """Working memory of one thread, to reorder a block by score."""

    def __init__(self, block_rows: int) -> None:
        self.slots = np.empty(block_rows, np.uint16)
        self.has_nan = np.zeros(1, np.int64)


def reorder_by_score(
    splitter: Splitter,
    labels: np.ndarray,
    scores: np.ndarray,
    slices: np.ndarray | None,
    weights: np.ndarray | None,
    scratch: RangeScratch,
    allocate: Callable[[str, np.dtype, int], np.ndarray],
    unit_buckets: np.ndarray | None = None,
    kept: Mapping[str, np.ndarray] = NO_KEPT,
) -> Block:
    """A block in the order of the buckets, in each bucket negatives first. Sets scratch.has_nan if a score is NaN.

    `kept` are further columns (uint16).
    """
    rows = labels.shape[0]
    if splitter.n_buckets > MOST_BUCKETS:
        raise OverflowError(f"{splitter.n_buckets} buckets have no 16-bit numbers")
    key_type = np.dtype(f"u{scores.dtype.itemsize}")
    keys = allocate(KEY, key_type, rows)
    offsets = allocate("offsets", np.dtype(np.int32), 2 * splitter.n_buckets + 1)
    slots = scratch.slots[:rows]
    if slices is None and splitter.first_cuts.shape[0]:
        slices = np.zeros(rows, np.uint16)
    mann_whitney.range_partition(
        labels, scores.view(key_type), splitter.low, splitter.shift, splitter.bucket_of_cell, splitter.cuts,
        NO_SLICES if slices is None else slices, splitter.first_cuts, splitter.n_buckets, slots, keys, offsets,
        scratch.has_nan,
    )  # fmt: skip
    columns = {KEY: keys}
    if weights is not None:
        columns[WEIGHT] = allocate(WEIGHT, np.dtype(np.float64), rows)
        mann_whitney.scatter_column(weights, slots, offsets, columns[WEIGHT])
    short = dict(kept) if unit_buckets is None else {UNIT_BUCKET: unit_buckets, **kept}
    for name, column in short.items():
        columns[name] = allocate(name, np.dtype(np.uint16), rows)
        mann_whitney.scatter_column(column, slots, offsets, columns[name])
    return Block(columns, offsets)


class ScoreBuckets:
    """Blocks in the order of the buckets, or the same range of buckets of each, in the form that kernels read."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.keys = [block.columns[KEY] for block in blocks]
        self.weights = [block.columns[WEIGHT] for block in blocks] if WEIGHT in blocks[0].columns else None
        self.offsets = np.stack([block.offsets for block in blocks])
        self.addresses = addresses(self.keys)
        self.weight_addresses = addresses(self.weights or [])
        self.n_buckets = self.offsets.shape[1] // 2

    @property
    def key_type(self) -> np.dtype:
        return self.keys[0].dtype

    def class_counts(self) -> np.ndarray:
        """Rows of every bucket by class (negatives, positives)."""
        counts: np.ndarray = (self.offsets[:, 1:] - self.offsets[:, :-1]).sum(0, dtype=np.int64)
        return counts.reshape(self.n_buckets, 2)

    def of_class(self, columns: list[np.ndarray], bucket: int, label: int) -> np.ndarray:
        """A column of one class of a bucket, copied together from all blocks."""
        starts = self.offsets[:, 2 * bucket + label].tolist()
        stops = self.offsets[:, 2 * bucket + label + 1].tolist()
        return np.concatenate([column[i:j] for column, i, j in zip(columns, starts, stops, strict=True)])

    def weighted_rows(self, bucket: int, scale: WeightScale, scratch: Scratch) -> WeightedRows:
        """The weighted rows of a bucket, copied together from all blocks. The scratch's next rows overwrite them."""
        n = int((self.offsets[:, 2 * bucket + 2] - self.offsets[:, 2 * bucket]).sum(dtype=np.int64))
        keys, weights = scratch.array("keys", self.key_type, n), scratch.array("weights", np.float64, n)
        n_negatives = weighted_sweep.gather_bucket(
            self.addresses, self.weight_addresses, self.offsets, bucket, keys, weights
        )
        return WeightedRows(keys, weights, n_negatives, scale, scratch)
