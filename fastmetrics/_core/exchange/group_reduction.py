"""Additive statistics over all groups of a hash exchange, one range of its partitions after the other.

Partitions that fit the cache and are in memory are read where they are. Otherwise a range of neighboring partitions is
copied together, from memory or from the spill file, and partitioned again by further bits of the hash. A partition that
is still too large for the memory budget is split: one large group gets a way of its own, by score; the other groups are
partitioned again, by hashes that depend on the seeds of the process. So are partitions that many keys fill whose hashes
somebody prepared: the hash of the exchange is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.key_types import HEAD, TAIL
from fastmetrics._core.columns.row_blocks import SLICE, Output, Scratch, UnpooledScratch
from fastmetrics._core.columns.slice_sets import SlicedTables, SliceSet
from fastmetrics._core.exchange.block_store import BlockReader, BlockStore, ColumnSegments
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import (
    CHUNK_BYTES,
    HASH,
    MAX_PARTITION_BITS,
    PARTITION_ROWS,
    GroupKeys,
    GroupLayout,
    GroupTables,
    HashExchange,
    HashExchangeScratch,
    partition_bits,
)  # fmt: skip
from fastmetrics._core.group_accumulators import GroupAccumulators, StateKey, merge_states
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.statistic import GroupedStatistic
from fastmetrics._kernels.exchange import hash_partition

CACHED_ROWS = 2 * PARTITION_ROWS  # partitions of at most so many rows on average are read where they are
COPIED_BYTES = 1 << 24  # so much is copied at a time from partitions in memory that are partitioned again
MAX_BITS = 63  # of the hash, to number partitions
# A single partition may take this many times the bytes of a range, and the working memory for it this many times.
ROWS_FACTOR, WORK_FACTOR = 2, 6
SAMPLED_BLOCKS = 64
SAMPLED_ROWS = 1 << 12  # of a block
CROWDED_ROWS = 4 * PARTITION_ROWS  # a partition with so many rows of different keys is divided by whole keys
SAMPLED_KEYS = 1 << 10  # of a large partition; a key that is this share of them is frequent:
FREQUENT_KEY = SAMPLED_KEYS >> 6
NO_KEYS: np.ndarray = np.empty(0, np.uint64)
PADDED: np.ndarray = np.empty(1, np.uint8)  # loaded text is padded already: kernels may copy 16 bytes at a time


class GroupReduction(NamedTuple):
    """Statistics to compute over groups; they share one class of tables.

    `sets`: also for every slice of these sets. `make_accumulators(statistics)` returns an object with the methods of
    `GroupAccumulators`, which receives the tables. `key_texts` are the texts behind numbers in columns of keys, for
    tables that have these columns. `all_rows`: also for all rows together. `lists_all`: groups of one class are listed,
    also where no statistic needs them. `has_truth`: rows of a truth table stand beside those of the log.
    """

    statistics: Sequence[GroupedStatistic]
    outputs: Sequence[Output]
    sets: Sequence[SliceSet] = ()
    make_accumulators: Callable[[Sequence[Any]], Any] = GroupAccumulators
    key_texts: Any = None
    all_rows: bool = True
    lists_all: bool = False
    has_truth: bool = False

    @property
    def table(self) -> Any:
        """The class of the tables."""
        table = self.statistics[0].table
        return table.of_truth if self.has_truth else table

    @property
    def passes(self) -> tuple[SliceSet | None, ...]:
        """The passes over a table of groups: None is that of all rows, the others are those of a set of slices."""
        return (None,) * self.all_rows + tuple(self.sets)

    @property
    def only_pairs(self) -> bool:
        """Need groups of one class not be listed?"""
        return not self.lists_all and all(statistic.needs_only_pairs for statistic in self.statistics)

    @property
    def measured(self) -> list[Any]:
        """The statistics whose values the tables have: others read those of the statistic that they name."""
        return list(dict.fromkeys(one.measured for one in self.statistics))

    @property
    def working_bytes_per_row(self) -> int:
        """Working memory for a row of a partition."""
        return int(self.table.ROW_BYTES)

    @property
    def values_per_group(self) -> int:
        """Values that a table has for each group."""
        return len(self.outputs) * int(self.table.values_per_output(self.measured))

    def make_tables(
        self, layout: GroupLayout, chunks: list[tuple[int, int]], scratch: Scratch
    ) -> GroupTables | SlicedTables:
        """A thread's maker of the tables that all statistics read."""
        tables: GroupTables | SlicedTables = self.table(
            self.measured, layout, chunks, self.outputs, scratch, self.key_texts, self.only_pairs
        )
        return tables

    def accumulate(
        self, accumulators: GroupAccumulators, layout: GroupLayout, chunks: list[tuple[int, int]], scratch: Scratch
    ) -> None:
        """Add all groups of the chunks to the accumulators."""
        maker = self.make_tables(layout, chunks, scratch)
        for start, stop in chunks:
            self.add_tables(accumulators, maker, start, stop)

    def add_tables(
        self, accumulators: GroupAccumulators, maker: GroupTables | SlicedTables, start: int, stop: int
    ) -> None:
        """Add all groups of the partitions start to stop to the accumulators."""
        for own in self.passes:
            if not isinstance(maker, SlicedTables):
                for output, slice_number, table in maker.tables(start, stop, own):
                    accumulators.update(output, outside(own, slice_number), table)
            elif own is None:
                for output, table in maker.whole_tables(start, stop):
                    accumulators.update(output, None, table)
            else:
                for output, sliced in maker.sliced_tables(start, stop, own):
                    accumulators.update_slices(output, sliced)

    def for_each(
        self,
        n_tasks: int,
        make_work: Callable[[GroupAccumulators], Callable[[int], None]],
        accumulators: GroupAccumulators,
        n_threads: int,
    ) -> None:
        """Do the work of a thread, which fills accumulators of its own, for every task; merge those of all threads."""
        of_threads: list[GroupAccumulators] = []

        def make_worker() -> Callable[[int], None]:
            of_threads.append(self.make_accumulators(self.statistics))
            of_threads[-1].budget = accumulators.budget
            return make_work(of_threads[-1])

        for_each(n_tasks, make_worker, n_threads)
        for own in of_threads:
            accumulators.merge(own)


def outside(own: SliceSet | None, slice_number: int | None) -> int | None:
    """What a slice of a set is called outside; None for all rows."""
    return None if own is None or slice_number is None else own.outside(slice_number)


Advance = Callable[[int], None]


def reduce_groups(
    exchange: HashExchange, reduction: GroupReduction, n_threads: int, advance: Advance | None = None
) -> dict[StateKey, Any]:
    """The states of all statistics over all groups.

    Any thread may call `advance(n)` when n more rows are done.
    """
    store = exchange.store
    reduction = reduction._replace(has_truth=exchange.has_truth)
    accumulators: GroupAccumulators = reduction.make_accumulators(reduction.statistics)
    accumulators.budget = store.budget
    advance = advance or (lambda rows: None)
    crowded: list[int] = []
    rows = store.rows
    if store.in_memory and rows <= CACHED_ROWS * exchange.n_partitions:
        layout = GroupLayout(exchange.store.blocks_in_memory, exchange.key_dtype)
        crowded = crowded_partitions(layout) if rows > CROWDED_ROWS else []
        if not crowded:
            reduce_layout(layout, reduction, accumulators, n_threads, max_table_bytes(store), advance)
            return accumulators.states
    budget = store.budget
    range_bytes = COPIED_BYTES if budget is None or not store.spilled_blocks else budget.bytes_per_range
    large = []
    if budget is not None:
        # Beside the rows themselves, grouping needs about as much again: reordered copies, tables, groups.
        fitting_rows = ROWS_FACTOR * budget.bytes_per_range // store.loaded_row_bytes
        workable_rows = WORK_FACTOR * budget.bytes_per_range // reduction.working_bytes_per_row
        max_rows = max(1, min(fitting_rows, workable_rows))
        large = np.flatnonzero(store.partition_rows > max_rows).tolist()
        # A partition that does not fit is then a range of its own.
        range_bytes = min(range_bytes, max_rows * store.loaded_row_bytes)
    ranges = [bounds for bounds in store.partition_ranges(range_bytes) if bounds[0] not in large]
    segments_of = store.segments_in_memory() if store.in_memory else None

    def make_work(own: GroupAccumulators) -> Callable[[int], None]:
        load_scratch, reorder_scratch, table_scratch = Scratch(), Scratch(), Scratch()

        def work(number: int) -> None:
            start, stop = ranges[number]
            if segments_of:
                segments = segments_of(start, stop)
            else:
                segments = store.load_partitions(list(store.moved_types), start, stop, load_scratch).segments()
            by_key = any(start <= partition < stop for partition in crowded)
            layout = repartition(exchange, segments, start, stop, reorder_scratch, by_key)
            if len(ranges) < n_threads:
                reduce_layout(layout, reduction, own, n_threads, max_table_bytes(store), advance)
                return
            chunks = layout.chunks(reduction.values_per_group, max_table_bytes(store))
            reduction.accumulate(own, layout, chunks, table_scratch)
            advance(segments.rows)

        return work

    reduction.for_each(len(ranges), make_work, accumulators, n_threads)
    reduce_large_partitions(exchange, large, reduction, accumulators, n_threads, advance)
    return accumulators.states


def reduce_large_partitions(
    exchange: HashExchange,
    large: list[int],
    reduction: GroupReduction,
    accumulators: GroupAccumulators,
    n_threads: int,
    advance: Advance,
) -> None:
    """Reduce the partitions that do not fit: one per thread, or one after the other with all threads."""
    threads_per_partition = n_threads if len(large) < n_threads else 1

    def make_work(own: GroupAccumulators) -> Callable[[int], None]:
        def work(number: int) -> None:
            reduce_large_partition(exchange, large[number], reduction, own, threads_per_partition)
            advance(int(exchange.store.partition_rows[large[number]]))

        return work

    reduction.for_each(len(large), make_work, accumulators, 1 if threads_per_partition > 1 else n_threads)


def max_table_bytes(store: BlockStore) -> int:
    """The most memory for the tables of groups in one thread: less if a small limit was given."""
    budget = store.budget
    if budget is None or budget.explicit_limit is None:
        return CHUNK_BYTES
    return min(CHUNK_BYTES, budget.explicit_limit // 16)


def reduce_layout(
    layout: GroupLayout,
    reduction: GroupReduction,
    accumulators: GroupAccumulators,
    n_threads: int,
    table_bytes: int,
    advance: Advance,
) -> None:
    """Reduce the partitions of blocks where they are in memory."""
    chunks = layout.chunks(reduction.values_per_group, table_bytes)
    if len(chunks) == 1:
        reduction.accumulate(accumulators, layout, chunks, UnpooledScratch())
        advance(int(layout.partition_rows.sum()))
        return

    def make_work(own: GroupAccumulators) -> Callable[[int], None]:
        maker = reduction.make_tables(layout, chunks, UnpooledScratch())

        def work(number: int) -> None:
            start, stop = chunks[number]
            reduction.add_tables(own, maker, start, stop)
            advance(int(layout.partition_rows[start:stop].sum()))

        return work

    reduction.for_each(len(chunks), make_work, accumulators, n_threads)


def crowded_partitions(layout: GroupLayout) -> list[int]:
    """The partitions that have far more rows than others, and of many keys: somebody prepared their hashes.

    One frequent key also fills a partition, but rows of one key can stay together.
    """
    large = np.flatnonzero(layout.partition_rows > CROWDED_ROWS).tolist()
    return [partition for partition in large if estimate_rare_rows(layout, partition) > CROWDED_ROWS]


def estimate_rare_rows(layout: GroupLayout, partition: int) -> float:
    """About how many rows of a partition have keys that are not frequent, from a sample."""
    spans = layout.offsets[:, partition : partition + 2].astype(np.int64)
    first_rows, rows = spans[:, 0].copy(), spans[:, 1] - spans[:, 0]
    filled = np.flatnonzero(rows)
    sampled = filled[:: -(-filled.shape[0] // SAMPLED_BLOCKS)]
    lengths = np.zeros_like(rows)
    lengths[sampled] = np.minimum(rows[sampled], SAMPLED_KEYS // sampled.shape[0])
    places = np.empty(int(lengths.sum()), np.uint64)
    hash_partition.place_keys(*layout.key_columns, first_rows, lengths, places)
    _, counts = np.unique(places, return_counts=True)
    return float(layout.partition_rows[partition] * counts[counts <= FREQUENT_KEY].sum() / places.shape[0])


def repartition(
    exchange: HashExchange, segments: ColumnSegments, start: int, stop: int, scratch: Scratch, by_key: bool
) -> GroupLayout:
    """The rows of the partitions start to stop of the exchange, in finer partitions that fit the cache.

    They are cut by further bits of the hash; by whole keys if `by_key`, or if there are crowded partitions otherwise.
    """
    rows = segments.rows
    if rows >= 1 << 31:
        raise OverflowError(f"{rows} rows fall into one partition; at most 2**31 - 1 can be cut again in memory")
    bits = min(MAX_BITS, exchange.bits + partition_bits(rows // (stop - start)))
    n_partitions = (stop - start) << (bits - exchange.bits)
    first = (exchange.first + start) << (bits - exchange.bits)
    if exchange.by_key:
        return cut_by_key(exchange, segments, bits, first, n_partitions, scratch)
    key_bits = partition_bits(rows)
    if by_key:
        return cut_by_key(exchange, segments, key_bits, 0, 1 << key_bits, scratch)
    destinations = scratch.array("destinations", np.uint32, rows)
    offsets = scratch.array("offsets", np.int32, n_partitions + 1)
    bounds = segments.first_rows, segments.lengths
    hash_partition.partition_segments(segments.columns[HASH], *bounds, 64 - bits, first, offsets, destinations)
    layout = reorder_segments(exchange, segments, offsets, destinations, scratch)
    if crowded_partitions(layout):
        return cut_by_key(exchange, segments, key_bits, 0, 1 << key_bits, scratch)
    return layout


def cut_by_key(
    exchange: HashExchange, segments: ColumnSegments, bits: int, first: int, n_partitions: int, scratch: Scratch
) -> GroupLayout:
    """The rows of segments in partitions by hashes of whole keys, which depend on the seeds of the process."""
    destinations = scratch.array("destinations", np.uint32, segments.rows)
    offsets = scratch.array("offsets", np.int32, n_partitions + 1)
    places = scratch.array("places", np.uint64, segments.rows)
    keys = segments.columns[HASH], segments.columns.get(HEAD), segments.columns.get(TAIL)
    hash_partition.place_keys(*keys, segments.first_rows, segments.lengths, places)
    hash_partition.partition_block(places, 64 - bits, first, offsets, destinations)
    return reorder_segments(exchange, segments, offsets, destinations, scratch)


def reorder_segments(
    exchange: HashExchange, segments: ColumnSegments, offsets: np.ndarray, destinations: np.ndarray, scratch: Scratch
) -> GroupLayout:
    """The rows of segments as one block, each row at its destination."""
    columns = {}
    for name, dtype in segments.types.items():
        out = columns[name] = scratch.array(name, dtype, segments.rows)
        hash_partition.scatter_segments(
            segments.columns[name], segments.first_rows, segments.lengths, destinations, out.view(f"u{dtype.itemsize}")
        )
    return GroupLayout([Block(columns, offsets)], exchange.key_dtype, segments.text)


class LargeGroupKey(NamedTuple):
    """The key of a large group: one row of its key columns, and the text that its slots point to."""

    hashes: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    text: Sequence[np.ndarray]

    def rows_with(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """Which rows have this key; text keys are compared byte by byte."""
        out = np.empty(arrays[HASH].shape[0], np.uint8)
        head, tail = (int(column[0]) if column.shape[0] else 0 for column in (self.heads, self.tails))
        heads = arrays.get(HEAD, NO_KEYS)
        hash_partition.mark_rows_of_key(
            arrays[HASH], heads, arrays.get(TAIL, heads), int(self.hashes[0]), head, tail, out
        )
        return out.view(bool)


def find_large_group(exchange: HashExchange, start: int) -> LargeGroupKey | None:
    """The most frequent key in a sample of a partition's rows; None if no group is large.

    Further bits of the hash separate different keys, but never the rows of one key.
    """
    store = exchange.store
    # Only blocks with rows of the partition. In a log sorted by user these are a few of many.
    filled = [
        (number, begin, end - begin)
        for number, (_, (begin, end)) in enumerate(store.block_offsets(start, start + 1))
        if end > begin
    ]
    sampled = filled[:: -(-len(filled) // SAMPLED_BLOCKS)]
    samples = []
    for number, first, rows in sampled:
        n = min(rows, SAMPLED_ROWS)
        begin = first + (rows - n) // 2
        samples.append(BlockReader(store, [HASH], store.block(number)).load_rows(begin, begin + n)[HASH])
    hashes = np.concatenate(samples)
    values, counts = np.unique(hashes, return_counts=True)
    if 4 * int(counts.max()) < len(hashes) and exchange.bits < MAX_BITS:
        return None
    most_frequent = values[counts.argmax()]
    number = next(block[0] for block, sample in zip(sampled, samples, strict=True) if (sample == most_frequent).any())
    loaded = store.load_partitions([HASH, *exchange.slots], start, start + 1, numbers=range(number, number + 1))
    row = int(np.flatnonzero(loaded.columns[HASH] == most_frequent)[0])
    key_row = slice(row, row + 1)
    heads = loaded.columns.get(HEAD, NO_KEYS)
    columns = loaded.columns[HASH], heads, loaded.columns.get(TAIL, heads)
    hashes, heads, tails = (column[key_row].copy() for column in columns)
    return LargeGroupKey(hashes, heads, tails, loaded.text)


def reduce_large_partition(
    exchange: HashExchange, start: int, reduction: GroupReduction, accumulators: GroupAccumulators, n_threads: int
) -> None:
    """Reduce a partition that does not fit the memory: split off a large group, partition the other groups again."""
    large_key = find_large_group(exchange, start)
    # The first division is by hashes of whole keys, all others are by further bits of them.
    bits, first, last = MAX_PARTITION_BITS, 0, 0
    if exchange.by_key:
        bits = min(MAX_BITS, exchange.bits + MAX_PARTITION_BITS)
        first = (exchange.first + start) << (bits - exchange.bits)
        last = (exchange.first + start + 1) << (bits - exchange.bits)
    others = HashExchange(exchange.key_dtype, bits, exchange.budget, first, last, True, exchange.has_truth)
    large_group = BlockStore(1, exchange.budget)
    try:
        split_off_large_group(exchange, start, large_key, others, large_group)
        if others.store.rows:
            merge_states(accumulators.states, reduce_groups(others, reduction, n_threads))
        if large_key is not None and large_group.rows:
            keys = GroupKeys(large_key.hashes, large_key.heads, large_key.tails, exchange.key_dtype)
            for own in reduction.passes:
                if own is not None and own.number_rows is not None:
                    large_group.compute_column(SLICE, own.names, own.number)
                tables = reduction.table.of_large_group(
                    reduction.measured, large_group, keys, reduction.outputs, own is not None, n_threads,
                    reduction.key_texts,
                )  # fmt: skip
                for output, slice_number, table in tables:
                    accumulators.update(output, outside(own, slice_number), table)
    finally:
        large_group.close()
        others.store.close()


def split_off_large_group(
    exchange: HashExchange,
    start: int,
    large_key: LargeGroupKey | None,
    others: HashExchange,
    large_group: BlockStore,
) -> None:
    """Move a partition's rows, one block at a time: those with the large key to a store, the others to an exchange."""
    store = exchange.store
    scratch = HashExchangeScratch(0, exchange.key_dtype)
    for number in range(store.n_blocks):
        loaded = store.load_partitions(list(store.types), start, start + 1, numbers=range(number, number + 1))
        rows = int(loaded.bounds[-1])
        if rows == 0:
            continue
        is_large = np.zeros(rows, bool) if large_key is None else large_key.rows_with(loaded.columns)
        columns = {name: column[is_large] for name, column in loaded.columns.items() if name not in (HASH, HEAD, TAIL)}
        n_large = int(np.count_nonzero(is_large))
        if n_large:
            block = Block(columns, np.array([0, n_large], np.int32))
            large_group.add(block, large_group.try_reserve(block.n_bytes()))
        other_columns = {name: column[~is_large] for name, column in loaded.columns.items()}
        if n_large < rows:
            scratch.destinations = np.empty(rows, np.uint32)
            lengths = other_columns[HEAD] & np.uint64(0xFFFFFFFF) if TAIL in exchange.slots else NO_KEYS
            long_bytes = int(lengths[lengths > hash_partition.SHORT_TEXT_BYTES].sum())
            others.add_arrays(other_columns, long_bytes, PADDED, scratch)
