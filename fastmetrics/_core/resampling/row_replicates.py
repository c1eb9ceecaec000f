"""Replicates of additive statistics over the rows of a block store.

Rows are ordered by unit bucket. The rows of a bucket update one state, which is added with the bucket's weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    LABEL,
    NO_COLUMNS,
    ROLE,
    SCORE,
    SLICE,
    WEIGHT,
    Output,
    Rows,
    Scratch,
    label_name,
    loaded_column,
    names_of,
    other_columns,
    score_name,
)
from fastmetrics._core.exchange.block_store import BlockStore, ColumnSegments
from fastmetrics._core.exchange.blocks import Block, order_by_number, scatter_rows
from fastmetrics._core.exchange.group_reduction import Advance
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import accumulate
from fastmetrics._core.resampling.additive_replicates import (
    ALL_SLICES,
    AdditiveReplicates,
    JackknifeUnits,
    ReplicateAccumulators,
    SliceRange,
    add_units,
    order_by_unit_bucket,
)
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._kernels.resampling import score_classes

LOADED_BYTES = 1 << 24  # of rows that a thread loads at a time
RANGES_IN_MEMORY = 8  # of hashes, whose rows are not loaded
PIECE_ROWS = 1 << 15  # rows of which intermediate values stay in the cache

Pieces = list[dict[str, np.ndarray]]  # columns of some rows, then of the next


class RowReduction(NamedTuple):
    """Additive statistics to compute over rows, for some outputs.

    `n_slices` is 0 without slices. `eps` are the machine epsilons of the score columns. `slices` limits the pass.
    """

    statistics: Sequence[Any]
    outputs: Sequence[Output]
    n_slices: int
    eps: tuple[float | None, ...] = ()
    slices: SliceRange = ALL_SLICES


def replicate_rows(
    store: BlockStore,
    reduction: RowReduction,
    weights: ReplicateWeights | JackknifeUnits,
    n_threads: int,
    advance: Advance | None = None,
) -> dict[StateKey, AdditiveReplicates]:
    """The replicates of additive statistics over rows. The store has the hash of every row's unit.

    Any thread may call `advance(n)` when n more rows are done.
    """
    usual = [name for name in (HASH, WEIGHT, SLICE) if name in store.types]
    names = [*names_of(store.types, LABEL, SCORE, ROLE), *usual]
    ranges = list(row_ranges(store, max_loaded_bytes(store))) if store.n_blocks else []
    segments_of = None
    if ranges and store.in_memory and all(blocks is None for *_, blocks in ranges):
        segments_of = store.segments_in_memory()

    def add(own: tuple[ReplicateAccumulators, Scratch], number: int) -> None:
        accumulators, scratch = own
        start, stop, blocks = ranges[number]
        if segments_of is not None:
            rows = order_segments(segments_of(start, stop), names, weights.unit_buckets, scratch)
        else:
            loaded = store.load_partitions(names, start, stop, scratch, blocks)
            rows = order_columns(loaded.columns, weights.unit_buckets)
        add_ordered_rows(rows, reduction, accumulators)
        if advance is not None:
            advance(rows.starts[-1])

    def make_accumulators() -> ReplicateAccumulators:
        return ReplicateAccumulators(reduction.statistics, weights)

    merged = make_accumulators()
    for accumulators, _ in accumulate(len(ranges), lambda: (make_accumulators(), Scratch()), add, n_threads):
        merged.merge(accumulators)
    return merged.states


def max_loaded_bytes(store: BlockStore) -> int:
    """The most bytes that a thread loads at a time: less if a small memory limit was given."""
    budget = store.budget
    if budget is None or budget.explicit_limit is None:
        return LOADED_BYTES
    return min(LOADED_BYTES, budget.bytes_per_range)


def row_ranges(store: BlockStore, max_bytes: int) -> Iterator[tuple[int, int, range | None]]:
    """Ranges of partitions (start, stop, None). A larger partition is divided into ranges of blocks (third element)."""
    max_rows = max(1, max_bytes // max(1, store.row_bytes))
    for start, stop in store.partition_ranges(max_bytes):
        if int(store.partition_rows[start:stop].sum()) <= max_rows:
            yield start, stop, None
            continue
        rows, first = 0, 0
        for number, (_, (begin, end)) in enumerate(store.block_offsets(start, stop)):
            if rows and rows + end - begin > max_rows:
                yield start, stop, range(first, number)
                rows, first = 0, number
            rows += end - begin
        yield start, stop, range(first, store.n_blocks)


def for_each_range(
    store: BlockStore, names: Sequence[str], add: Callable[[Pieces], None], n_threads: int
) -> None:
    """Call add(pieces) with the rows of every range of partitions, or of hashes, from any thread.

    Rows of large blocks in memory are not copied, so their ranges need not be small.
    """
    ranges = list(row_ranges(store, max(LOADED_BYTES, store.rows * store.loaded_row_bytes // RANGES_IN_MEMORY)))
    of_blocks = store.in_memory and store.rows >= PIECE_ROWS // 4 * store.n_blocks * len(ranges)
    if not of_blocks:
        ranges = list(row_ranges(store, max_loaded_bytes(store)))

    def load(scratch: Scratch, number: int) -> None:
        start, stop, blocks = ranges[number]
        if of_blocks:
            own = store.blocks_in_memory if blocks is None else store.blocks_in_memory[blocks.start : blocks.stop]
            parts = [rows_of_partitions(block, names, start, stop) for block in own]
        else:
            parts = [store.load_partitions(list(names), start, stop, scratch, blocks).columns]
        pieces = [piece for part in parts for piece in pieces_of(part)]
        if pieces:
            add(pieces)

    accumulate(len(ranges), Scratch, load, n_threads)


def rows_of_partitions(block: Block, names: Sequence[str], start: int, stop: int) -> dict[str, np.ndarray]:
    """The rows of the partitions start to stop of a block in memory: views."""
    where = slice(int(block.offsets[start]), int(block.offsets[stop]))
    return {name: block.columns[name][where] for name in names}


def pieces_of(columns: dict[str, np.ndarray]) -> Pieces:
    """Rows in pieces of which intermediate values stay in the cache."""
    n_rows = next(iter(columns.values())).shape[0]
    pieces = [slice(start, start + PIECE_ROWS) for start in range(0, n_rows, PIECE_ROWS)]
    return [{name: column[piece] for name, column in columns.items()} for piece in pieces]


def place_in_slices(
    numbers: np.ndarray, slices: np.ndarray, n: int, joined: np.ndarray | None = None
) -> np.ndarray:
    """Numbers below n of rows (int32), by `joined` if there is one, as numbers among those of all slices."""
    out = np.empty(numbers.shape[0], np.int32)
    score_classes.place_in_slices(numbers, joined, slices, n, out)
    return out


class UnitAccumulators(Protocol):
    """What the rows of unit buckets are added to: replicates, or one state for each unit."""

    weights: Any

    def sums_of(self, statistic: Any, output: int, slice_number: int | None, /) -> Any: ...


class RowsByUnit(NamedTuple):
    """Rows in the order of their unit buckets: the columns, the buckets that have rows, and where each begins.

    `starts` has one element more: the number of rows.
    """

    columns: dict[str, np.ndarray]
    unit_buckets: np.ndarray
    starts: list[int]


def add_loaded_rows(columns: dict[str, np.ndarray], reduction: RowReduction, accumulators: UnitAccumulators) -> None:
    """Add loaded rows to the accumulators of every output: all rows together, then the rows of every slice."""
    add_ordered_rows(order_columns(columns, accumulators.weights.unit_buckets), reduction, accumulators)


def order_columns(columns: dict[str, np.ndarray], all_buckets: UnitBuckets) -> RowsByUnit:
    """Rows of any order in the order of their unit buckets."""
    order, unit_buckets, starts = order_by_unit_bucket(all_buckets.bucket_of(columns[HASH]))
    ordered = {name: column[order] for name, column in columns.items() if name != HASH}
    return RowsByUnit(ordered, unit_buckets, starts)


def order_segments(
    segments: ColumnSegments, names: Sequence[str], all_buckets: UnitBuckets, scratch: Scratch
) -> RowsByUnit:
    """As `order_columns`, for rows of blocks in memory: every column is copied once, to the places of its rows.

    The next call with the same scratch overwrites the columns.
    """
    n = segments.rows
    hashes = segments.scatter(HASH, np.arange(n, dtype=np.uint32), scratch)
    numbers = all_buckets.bucket_of(hashes)
    if not n:
        return RowsByUnit({name: np.empty(0, segments.types[name]) for name in names}, numbers, [0])
    first = numbers.min()
    starts, destinations = order_by_number((numbers - first).astype(np.uint16), int(numbers.max() - first) + 1)
    present = np.flatnonzero(starts[1:] > starts[:-1])
    columns = {name: segments.scatter(name, destinations, scratch) for name in names if name != HASH}
    return RowsByUnit(columns, (present + first).astype(np.int32), [*starts[present].tolist(), n])


def add_ordered_rows(rows: RowsByUnit, reduction: RowReduction, accumulators: UnitAccumulators) -> None:
    """Add rows to the accumulators of every output: all rows together, then the rows of every slice."""
    columns, unit_buckets, starts = rows
    if reduction.slices.all_rows:
        add_rows(columns, reduction, accumulators, None, unit_buckets, starts)
    if not reduction.n_slices:
        return
    numbers = np.repeat(unit_buckets, np.diff(starts))
    edges, destinations = order_by_number(columns[SLICE], reduction.n_slices)
    by_slice = {name: scatter_rows(column, destinations) for name, column in columns.items()}
    numbers = scatter_rows(numbers, destinations)
    for slice_number in np.flatnonzero(edges[1:] > edges[:-1]).tolist():
        if not reduction.slices.has(slice_number):
            continue
        begin, end = edges[slice_number : slice_number + 2].tolist()
        of_slice = numbers[begin:end]
        changes = np.flatnonzero(of_slice[1:] != of_slice[:-1]) + 1
        starts = [0, *changes.tolist(), end - begin]
        own = {name: column[begin:end] for name, column in by_slice.items()}
        add_rows(own, reduction, accumulators, slice_number, np.ascontiguousarray(of_slice[starts[:-1]]), starts)


def add_rows(
    columns: dict[str, np.ndarray],
    reduction: RowReduction,
    accumulators: UnitAccumulators,
    slice_number: int | None,
    unit_buckets: np.ndarray,
    starts: list[int],
) -> None:
    """Add rows that are grouped by unit bucket."""
    weights = columns.get(WEIGHT)
    others = other_columns(columns)
    for output_number, output in enumerate(reduction.outputs):
        labels = loaded_column(columns, label_name(output.label))
        scores = loaded_column(columns, score_name(output.score))
        eps = reduction.eps[output.score] if reduction.eps else None

        # Default arguments keep the columns of this output.
        def segment(start: int, stop: int, labels: Any = labels, scores: Any = scores, eps: Any = eps) -> Rows:
            segment_weights = None if weights is None else weights[start:stop]
            segment_others = {role: column[start:stop] for role, column in others.items()} if others else NO_COLUMNS
            return Rows(labels[start:stop], scores[start:stop], segment_weights, eps=eps, others=segment_others)

        for statistic in reduction.statistics:
            replicates = accumulators.sums_of(statistic, output_number, slice_number)
            add_units(replicates, statistic, accumulators.weights, unit_buckets, starts, segment)
