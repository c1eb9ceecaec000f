"""The range exchange: it brings rows with neighboring scores, or other values, together.

A sample decides where to cut the values. Every block is then reordered in cache into buckets of neighboring values.
The rows of a bucket are the slices of the same number of all blocks. With slices of the log, each slice has its own
buckets. A bucket that is too large is cut again. The cuts change the speed of a result, never the result.

Buckets of scores have negatives before positives, and are reduced in `range_reduction.py`; those of all columns, in the
order of any value, in `row_ranges.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import WEIGHT, Scratch, addresses
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.weighted_ranges import WeightedRows, WeightScale
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.sweep import mann_whitney, weighted_sweep
from fastmetrics._kernels.sweep.mann_whitney import Splitter

KEY = "key"
UNIT_BUCKET = "unit bucket"  # uint16, for replicates
ROWS_PER_BUCKET = 40_000
MAX_BUCKETS = 1024
SAMPLE = 1 << 14
FEW_BUCKETS = 8  # a search among so few cuts is as fast as a table of cells, which takes longer to make
SAMPLED_OF_BUCKET = 512
CROWDED = 16  # if a bucket has so many times its share of the rows, a slower and finer cut pays
LARGE_FACTOR = 2  # so many times the rows of a bucket may be loaded at once
NO_SLICES: np.ndarray = np.empty(0, np.uint16)
NO_CUTS: np.ndarray = np.empty(0, np.uint64)
NO_CELLS: np.ndarray = np.empty(0, np.uint16)
ONE_BUCKET = Splitter(NO_CUTS, np.zeros(2, np.int32), NO_CELLS, 0, 0)

Allocate = Callable[[str, np.dtype, int], np.ndarray]  # memory for a column


def allocate_new(name: str, dtype: np.dtype, length: int) -> np.ndarray:
    return np.empty(length, dtype)


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


def sample_columns(blocks: Sequence[Any]) -> dict[str, np.ndarray]:
    """The columns of about SAMPLE rows of some blocks."""
    step = max(1, sum(block.rows for block in blocks) // SAMPLE)
    samples = [block.sample(step) for block in blocks if block.rows]
    return {name: np.concatenate([sample[name] for sample in samples]) for name in samples[0]}


def bucket_count(rows: int, max_rows: int | None) -> int:
    """The number of buckets for so many rows. `max_rows` is the most rows of a bucket, where memory is short."""
    n_buckets = min(MAX_BUCKETS, rows // ROWS_PER_BUCKET)
    if max_rows is not None:
        n_buckets = max(n_buckets, min(mann_whitney.MOST_BUCKETS // 8, 2 * rows // max_rows))
    return max(1, n_buckets)


def split_scores(sample: np.ndarray, rows: int, max_rows: int | None = None) -> Splitter:
    """A splitter whose buckets have about equal numbers of rows, estimated from a sample.

    Every splitter gives the same results; a good one is faster.
    """
    n_buckets = bucket_count(rows, max_rows)
    if n_buckets == 1:
        return ONE_BUCKET
    if n_buckets <= FEW_BUCKETS:
        n_buckets = 1 << (n_buckets - 1).bit_length()  # the search takes as many steps
        sample = sample[:: max(1, len(sample) // (n_buckets * SAMPLED_OF_BUCKET))]
    return cut_scores(sample, n_buckets, max_rows is not None).splitter()


class ScoreCuts(NamedTuple):
    """Where a splitter without slices cuts: at ascending keys, or (`shift` is not None) at cells of equal width."""

    at: np.ndarray = NO_CUTS
    low: int = 0
    shift: int | None = None

    def splitter(self) -> Splitter:
        if self.shift is None:
            return splitter_of_cuts([self.at])
        cells = np.diff(self.at, prepend=0, append=mann_whitney.N_CELLS)
        bucket_of_cell = np.repeat(np.arange(len(cells), dtype=np.uint16), cells)
        return Splitter(NO_CUTS, np.zeros(2, np.int32), bucket_of_cell, self.low, self.shift)


def cut_scores(sample: np.ndarray, n_buckets: int, is_limited: bool = False) -> ScoreCuts:
    """Cuts into at most so many buckets of about equal rows, estimated from a sample."""
    keys = np.sort(ordered_keys(sample))
    cells = cut_into_cells(keys, n_buckets, is_limited) if n_buckets > FEW_BUCKETS else None
    return cells or ScoreCuts(cut_at_quantiles(keys, n_buckets))


def cut_into_cells(keys: np.ndarray, n_buckets: int, is_limited: bool) -> ScoreCuts | None:
    """The cuts by cells of equal width for the sorted keys of a sample; None if most are in a few cells."""
    margin = len(keys) // 200  # tails go to the outer cells: outliers must not make all cells wide
    low, high = keys[margin], keys[-1 - margin]
    shift = max(0, (int(high) - int(low)).bit_length() - 16)
    n_cells = mann_whitney.N_CELLS
    cells = np.minimum((np.maximum(keys, low) - low) >> keys.dtype.type(shift), n_cells - 1).astype(np.int64)
    mass = np.bincount(cells, minlength=n_cells)
    before = np.cumsum(mass) - mass
    bucket_of_cell = np.minimum(before * n_buckets // len(keys), n_buckets - 1).astype(np.uint16)
    if is_crowded(keys, bucket_of_cell[cells], n_buckets, is_limited):
        return None
    return ScoreCuts(np.searchsorted(bucket_of_cell, np.arange(1, int(bucket_of_cell[-1]) + 1)), int(low), shift)


def cut_at_quantiles(keys: np.ndarray, n_buckets: int) -> np.ndarray:
    """Ascending keys that cut at quantiles of the sorted keys of a sample, and around frequent ones.

    A frequent score has a bucket of its own: this may be too large, and the other rows can still be cut.
    """
    n_buckets = min(n_buckets, len(keys))
    if n_buckets <= 1:
        return NO_CUTS
    cuts = np.unique(keys[np.arange(1, n_buckets) * len(keys) // n_buckets])
    ties = np.searchsorted(keys, cuts, "right") - np.searchsorted(keys, cuts)
    frequent = cuts[ties * n_buckets > len(keys)].astype(np.uint64)
    return np.union1d(cuts, frequent + np.uint64(1))


class KeyRange(NamedTuple):
    """The least and the greatest key of rows that are too many to be loaded, and the sorted keys of a sample."""

    rows: int
    low: int
    high: int
    sample: np.ndarray

    @classmethod
    def of(cls, keys_of_blocks: Iterable[np.ndarray], rows: int) -> KeyRange:
        low, high = 1 << 64, -1
        step = max(1, rows // SAMPLE)
        sample = []
        for keys in keys_of_blocks:
            low, high = min(low, int(keys.min())), max(high, int(keys.max()))
            sample.append(keys[::step].copy())
        return cls(rows, low, high, np.sort(np.concatenate(sample)))

    @property
    def is_tie(self) -> bool:
        return self.low == self.high

    def split(self, max_rows: int) -> Splitter:
        """A splitter into buckets of at most so many rows.

        It also cuts in the middle of the keys: every bucket has fewer keys than all, whatever the sample is.
        """
        n_buckets = max(2, min(MAX_BUCKETS, 2 * self.rows // max_rows))
        middle = np.uint64(self.low + (self.high - self.low + 1) // 2)
        cuts = np.union1d(cut_at_quantiles(self.sample, n_buckets), middle)
        return splitter_of_cuts([cuts[(cuts > self.low) & (cuts <= self.high)]])


def is_crowded(keys: np.ndarray, buckets: np.ndarray, n_buckets: int, is_limited: bool) -> bool:
    """Does one bucket have many times its share of the rows, without its largest tie, which cannot be cut?

    Where memory is short, its tie counts too: a bucket that is too large would be cut again, to have the tie alone.
    """
    rows = np.bincount(buckets)
    fullest = int(rows.argmax())
    if is_limited:
        return int(rows[fullest]) > LARGE_FACTOR * len(keys) // n_buckets + CROWDED
    _, ties = np.unique(keys[buckets == fullest], return_counts=True)
    return int(ties.sum() - ties.max()) > CROWDED * len(keys) // n_buckets


def splitter_of_cuts(cuts: Sequence[np.ndarray]) -> Splitter:
    """The splitter that cuts every slice at the given ascending keys."""
    first_cuts = np.zeros(len(cuts) + 1, np.int32)
    np.cumsum([len(of_slice) for of_slice in cuts], out=first_cuts[1:])
    return Splitter(np.concatenate(cuts).astype(np.uint64), first_cuts, NO_CELLS, 0, 0)


def split_slices(
    sample: np.ndarray, slices: np.ndarray, rows: int, n_slices: int, max_rows: int | None = None
) -> Splitter:
    """The same as split_scores for every slice, from the rows that the sample has of it."""
    keys = ordered_keys(sample)
    order = np.lexsort((keys, slices))
    keys, slices = keys[order], slices[order]
    edges = np.searchsorted(slices, np.arange(n_slices + 1)).tolist()
    wanted = [bucket_count((stop - start) * rows // max(1, len(keys)), max_rows) for start, stop in pairwise(edges)]
    # Every slice has one bucket. If the others are more than allowed, every slice gets its share of them. A frequent
    # score may take another one for each.
    more, allowed = sum(wanted) - n_slices, (mann_whitney.MOST_BUCKETS - n_slices) // 2
    if more > allowed:
        wanted = [1 + (n_buckets - 1) * allowed // more for n_buckets in wanted]
    own = zip(wanted, pairwise(edges), strict=True)
    return splitter_of_cuts([cut_at_quantiles(keys[start:stop], n_buckets) for n_buckets, (start, stop) in own])


def reorder_by_score(
    splitter: Splitter,
    labels: np.ndarray,
    scores: np.ndarray,
    others: Mapping[str, np.ndarray],
    slots: np.ndarray,
    allocate: Allocate = allocate_new,
    slices: np.ndarray = NO_SLICES,
) -> tuple[Block, bool]:
    """A block in the order of the buckets, in each bucket negatives first; and whether a score is NaN.

    `others` are further columns. `slots` (uint16) receives the bucket and the label of every row.
    """
    rows = labels.shape[0]
    key_type = np.dtype(f"u{scores.dtype.itemsize}")
    keys = allocate(KEY, key_type, rows)
    offsets = allocate("offsets", np.dtype(np.int32), 2 * splitter.n_buckets + 1)
    has_nan = mann_whitney.range_partition(splitter, labels, scores.view(key_type), slices, slots[:rows], offsets, keys)
    return Block({KEY: keys} | scatter_columns(others, slots, offsets, allocate), offsets), has_nan


def reorder_by_value(splitter: Splitter, values: np.ndarray, columns: Mapping[str, np.ndarray]) -> Block:
    """A block of all columns in the order of the buckets of values."""
    numbers, offsets = np.empty(values.shape[0], np.uint16), np.empty(splitter.n_buckets + 1, np.int32)
    mann_whitney.order_by_bucket(splitter, np.ascontiguousarray(values), numbers, offsets)
    return Block(scatter_columns(columns, numbers, offsets, allocate_new), offsets)


def scatter_columns(
    columns: Mapping[str, np.ndarray], slots: np.ndarray, offsets: np.ndarray, allocate: Allocate
) -> dict[str, np.ndarray]:
    """Columns in the order of the slots."""
    moved = {}
    for name, column in columns.items():
        out = moved[name] = allocate(name, column.dtype, column.shape[0])
        unsigned = f"u{column.dtype.itemsize}"
        own = np.ascontiguousarray(column).view(unsigned)
        mann_whitney.scatter_column(own, slots, offsets, out.view(unsigned))
    return moved


def merge_neighbors(states: list[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """One state of neighboring ranges, at least one, which are in descending order. The list is emptied.

    Pairs of neighbors merge, then pairs of these: states may grow, and none is merged more often than need be.
    """
    while len(states) > 1:
        pairs = []
        while len(states) > 1:
            higher, lower = states.pop(0), states.pop(0)
            pairs.append(merge(higher, lower))
        states = pairs + states
    return states[0]


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
