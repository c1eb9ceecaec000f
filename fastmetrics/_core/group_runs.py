"""Additive statistics over all groups of an exchange, run by run of its partitions.

Partitions that fit the cache and stand in memory are visited where they are. Otherwise a run of neighbouring partitions
is copied together (from memory or from the spill file) and cut again by further bits of the hash. What is left too
large for the memory allowed is split off: other groups by their hashes, one giant group by its scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.blocks import HEAD, TAIL, Block, BlockStore, Pieces, WholeBlock
from fastmetrics._core.by_group import (
    CHUNK_BYTES,
    HASH,
    MAX_PARTITION_BITS,
    PARTITION_ROWS,
    GroupExchange,
    GroupKeys,
    GroupLayout,
    GroupScratch,
    GroupTables,
    partition_bits,
)  # fmt: skip
from fastmetrics._core.parallel import for_each
from fastmetrics._core.rows import Fresh, Scratch, View
from fastmetrics._core.statistic import Sums
from fastmetrics._kernels import partition

CACHED_ROWS = 2 * PARTITION_ROWS  # partitions of so many rows on average are visited where they are
COPIED_BYTES = 1 << 24  # of partitions in memory that are cut again, so much at a time
MOST_BITS = 63  # of the hash, to tell partitions apart
RUNS_OF_ROWS, RUNS_OF_WORK = 2, 6  # so much of what a run may have, a single partition and the work on it may take
SAMPLED_BLOCKS = 64
SAMPLED_ROWS = 1 << 12  # of a block
NO_KEYS: np.ndarray = np.empty(0, np.uint64)
PADDED: np.ndarray = np.empty(1, np.uint8)  # text of runs and blocks is padded: it may be copied 16 bytes at a time

Key = tuple[Any, int, int | None]  # statistic, number of the view, slice (None: all rows)


class GroupStates:
    """States of additive statistics, made when they are first needed."""

    def __init__(self, statistics: Sequence[Any]) -> None:
        self.statistics = statistics
        self.sums: dict[Key, Sums] = {}
        self.together: dict[tuple[int, int | None], list[Sums]] = {}

    def update(self, view: int, slice_number: int | None, table: Any) -> None:
        states = self.together.get((view, slice_number))
        if states is None:
            # Looked up once: there may be many slices.
            keys = [(statistic, view, slice_number) for statistic in self.statistics]
            states = self.together[view, slice_number] = [self.sums.setdefault(key, key[0].new()) for key in keys]
        for statistic, state in zip(self.statistics, states, strict=True):
            statistic.update(state, table)

    def merge(self, other: GroupStates) -> None:
        self.merge_sums(other.sums)

    def merge_sums(self, sums: dict[Key, Sums]) -> None:
        for key, state in sums.items():
            if key in self.sums:
                self.sums[key].merge(state)
            else:
                self.sums[key] = state


class GroupPlan(NamedTuple):
    """What is wanted of the groups: statistics that share one kind of table, of which views, also by slice?

    `new_states(statistics)` makes what is told of the tables: others than GroupStates look at groups in another way.
    """

    statistics: Sequence[Any]
    views: Sequence[View]
    by_slice: bool
    new_states: Callable[[Sequence[Any]], Any] = GroupStates

    @property
    def row_bytes(self) -> int:
        """What a row of a partition takes while it is worked on."""
        return int(self.statistics[0].table.ROW_BYTES)

    @property
    def n_values(self) -> int:
        """How many numbers a table has of every group."""
        return len(self.views) * int(self.statistics[0].table.values_per_view(self.statistics))

    def tables(self, layout: GroupLayout, chunks: list[tuple[int, int]], scratch: Scratch) -> GroupTables:
        """A thread's way to the tables that all statistics look at."""
        tables: GroupTables = self.statistics[0].table(self.statistics, layout, chunks, self.views, scratch)
        return tables

    def visit(
        self, states: GroupStates, layout: GroupLayout, chunks: list[tuple[int, int]], scratch: Scratch
    ) -> None:
        tables = self.tables(layout, chunks, scratch)
        for start, stop in chunks:
            for by_slice in (False, True) if self.by_slice else (False,):
                for view, slice_number, table in tables.tables(start, stop, by_slice):
                    states.update(view, slice_number, table)


Advance = Callable[[int], None]


def reduce_groups(
    exchange: GroupExchange, plan: GroupPlan, n_threads: int, advance: Advance | None = None
) -> dict[Key, Any]:
    """The states of all statistics over all groups. `advance` is told of rows that are done, by any thread."""
    store = exchange.store
    states: GroupStates = plan.new_states(plan.statistics)
    advance = advance or (lambda rows: None)
    if store.in_memory and store.rows <= CACHED_ROWS * exchange.n_partitions:
        reduce_in_place(exchange, plan, states, n_threads, advance)
        return states.sums
    run_bytes = COPIED_BYTES if store.room is None or not store.spilled else store.room.run_bytes
    large = []
    if store.room is not None:
        # Beside the rows themselves, grouping needs about as much again: cut copies, tables, groups.
        of_rows = RUNS_OF_ROWS * store.room.run_bytes // store.loaded_row_bytes
        most_rows = max(1, min(of_rows, RUNS_OF_WORK * store.room.run_bytes // plan.row_bytes))
        large = np.flatnonzero(store.partition_rows > most_rows).tolist()
        # A partition that does not fit is then a run of its own.
        run_bytes = min(run_bytes, most_rows * store.loaded_row_bytes)
    runs = [run for run in store.runs(run_bytes) if run[0] not in large]
    find = store.held_pieces() if store.in_memory else None
    own: list[GroupStates] = []

    def make_worker() -> Callable[[int], None]:
        mine = plan.new_states(plan.statistics)
        own.append(mine)
        loaded, cut, working = Scratch(), Scratch(), Scratch()

        def work(unit: int) -> None:
            start, stop = runs[unit]
            run = find(start, stop) if find else store.load(list(store.types), start, stop, loaded).pieces()
            layout = cut_again(exchange, run, start, stop, cut)
            plan.visit(mine, layout, layout.chunks(plan.n_values, table_bytes(store)), working)
            advance(run.rows)

        return work

    for_each(len(runs), make_worker, n_threads)
    for mine in own:
        states.merge(mine)
    reduce_all_large(exchange, large, plan, states, n_threads, advance)
    return states.sums


def reduce_all_large(
    exchange: GroupExchange, large: list[int], plan: GroupPlan, states: GroupStates, n_threads: int, advance: Advance
) -> None:
    """Partitions that do not fit: several at the same time, or one with all threads."""
    own: list[GroupStates] = []
    threads_of_one = n_threads if len(large) < n_threads else 1

    def make_worker() -> Callable[[int], None]:
        mine = plan.new_states(plan.statistics)
        own.append(mine)

        def work(unit: int) -> None:
            reduce_large(exchange, large[unit], plan, mine, threads_of_one)
            advance(int(exchange.store.partition_rows[large[unit]]))

        return work

    for_each(len(large), make_worker, 1 if threads_of_one > 1 else n_threads)
    for mine in own:
        states.merge(mine)


def table_bytes(store: BlockStore) -> int:
    """What the tables of groups may take in a thread: little where a small limit was given."""
    room = store.room
    return CHUNK_BYTES if room is None or room.given is None else min(CHUNK_BYTES, room.given // 16)


def reduce_in_place(
    exchange: GroupExchange, plan: GroupPlan, states: GroupStates, n_threads: int, advance: Advance
) -> None:
    """Partitions of all blocks as they stand in memory."""
    layout = GroupLayout(exchange.store.held, exchange.is_text, exchange.key_dtype)
    chunks = layout.chunks(plan.n_values, table_bytes(exchange.store))
    if len(chunks) == 1:
        plan.visit(states, layout, chunks, Fresh())
        advance(int(layout.partition_rows.sum()))
        return
    own: list[GroupStates] = []

    def make_worker() -> Callable[[int], None]:
        mine = plan.new_states(plan.statistics)
        own.append(mine)
        tables = plan.tables(layout, chunks, Fresh())

        def work(unit: int) -> None:
            start, stop = chunks[unit]
            for by_slice in (False, True) if plan.by_slice else (False,):
                for view, slice_number, table in tables.tables(start, stop, by_slice):
                    mine.update(view, slice_number, table)
            advance(int(layout.partition_rows[start:stop].sum()))

        return work

    for_each(len(chunks), make_worker, n_threads)
    for mine in own:
        states.merge(mine)


def cut_again(exchange: GroupExchange, pieces: Pieces, start: int, stop: int, scratch: Scratch) -> GroupLayout:
    """The rows of the partitions start..stop of the exchange, in finer partitions that fit the cache."""
    rows = pieces.rows
    if rows >= 1 << 31:
        raise OverflowError(f"{rows} rows fall into one partition; at most 2**31 - 1 can be cut again in memory")
    bits = min(MOST_BITS, exchange.bits + partition_bits(rows // (stop - start)))
    n_partitions = (stop - start) << (bits - exchange.bits)
    first = (exchange.first + start) << (bits - exchange.bits)
    destinations = scratch.take("destinations", np.uint32, rows)
    offsets = scratch.take("offsets", np.int32, n_partitions + 1)
    places = pieces.firsts, pieces.lengths
    partition.partition_pieces(pieces.addresses[HASH], *places, 64 - bits, first, offsets, destinations)
    columns = {}
    for name, dtype in pieces.types.items():
        out = columns[name] = scratch.take(name, dtype, rows)
        partition.scatter_pieces(
            pieces.addresses[name], *places, destinations, out.view(f"u{dtype.itemsize}")
        )
    return GroupLayout([Block(columns, offsets)], exchange.is_text, exchange.key_dtype, pieces.owner)


class Heavy(NamedTuple):
    """A key that many of a partition's rows have: one row of its columns, and the bytes of its text."""

    hashes: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    text: Sequence[np.ndarray]

    def rows_with(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """Which rows have the key, by its bytes."""
        out = np.empty(arrays[HASH].shape[0], np.uint8)
        head, tail = (int(column[0]) if column.shape[0] else 0 for column in (self.heads, self.tails))
        partition.same_key(
            arrays[HASH], arrays.get(HEAD, NO_KEYS), arrays.get(TAIL, NO_KEYS), int(self.hashes[0]), head, tail, out
        )
        return out.view(bool)


def find_heavy(exchange: GroupExchange, start: int) -> Heavy | None:
    """The key that a sample of a partition's rows has most often; None when no key is worth its own way.

    Cutting by further bits separates keys, but never the rows of one.
    """
    store = exchange.store
    # Only blocks that have rows of the partition: in a log sorted by user they are few of many.
    filled = [
        (number, begin, end - begin)
        for number, (_, (begin, end)) in enumerate(store.block_offsets(start, start + 1))
        if end > begin
    ]
    sampled = filled[:: -(-len(filled) // SAMPLED_BLOCKS)]
    pieces = []
    for number, first, rows in sampled:
        n = min(rows, SAMPLED_ROWS)
        begin = first + (rows - n) // 2
        pieces.append(WholeBlock(store, [HASH], store.block(number)).load_part(begin, begin + n)[HASH])
    hashes = np.concatenate(pieces)
    values, counts = np.unique(hashes, return_counts=True)
    if 4 * int(counts.max()) < len(hashes) and exchange.bits < MOST_BITS:
        return None
    heaviest = values[counts.argmax()]
    number = next(own[0] for own, piece in zip(sampled, pieces, strict=True) if (piece == heaviest).any())
    names = [HASH, HEAD, TAIL] if exchange.is_text else [HASH]
    run = store.load(names, start, start + 1, numbers=range(number, number + 1))
    at = int(np.flatnonzero(run.columns[HASH] == heaviest)[0])
    heads, tails = (run.columns[name][at : at + 1].copy() if exchange.is_text else NO_KEYS for name in (HEAD, TAIL))
    return Heavy(run.columns[HASH][at : at + 1].copy(), heads, tails, run.text)


def reduce_large(exchange: GroupExchange, start: int, plan: GroupPlan, states: GroupStates, n_threads: int) -> None:
    """A partition that does not fit the memory allowed: a giant group is taken out, the others are cut again."""
    heavy = find_heavy(exchange, start)
    bits = min(MOST_BITS, exchange.bits + MAX_PARTITION_BITS)
    first = (exchange.first + start) << (bits - exchange.bits)
    last = (exchange.first + start + 1) << (bits - exchange.bits)
    others = GroupExchange(exchange.is_text, exchange.key_dtype, bits, exchange.room, first, last)
    giant = BlockStore(1, exchange.room)
    try:
        separate(exchange, start, heavy, others, giant)
        if others.store.rows:
            states.merge_sums(reduce_groups(others, plan, n_threads))
        if heavy is not None and giant.rows:
            keys = GroupKeys(heavy.hashes, heavy.heads, heavy.tails, exchange.key_dtype)
            for by_slice in (False, True) if plan.by_slice else (False,):
                for view, slice_number, table in plan.statistics[0].table.of_giant(
                    plan.statistics, giant, keys, plan.views, by_slice, n_threads
                ):
                    states.update(view, slice_number, table)
    finally:
        giant.close()
        others.store.close()


def separate(
    exchange: GroupExchange, start: int, heavy: Heavy | None, others: GroupExchange, giant: BlockStore
) -> None:
    """A partition's rows, a few blocks at a time: those with the heavy key, and the others."""
    store = exchange.store
    scratch = GroupScratch(0, exchange.is_text)
    for number in range(store.n_blocks):
        run = store.load(list(store.types), start, start + 1, numbers=range(number, number + 1))
        rows = int(run.bounds[-1])
        if rows == 0:
            continue
        is_heavy = np.zeros(rows, bool) if heavy is None else heavy.rows_with(run.columns)
        own = {name: column[is_heavy] for name, column in run.columns.items() if name not in (HASH, HEAD, TAIL)}
        n_heavy = int(np.count_nonzero(is_heavy))
        if n_heavy:
            block = Block(own, np.array([0, n_heavy], np.int32))
            giant.add(block, giant.reserve(block.n_bytes()))
        rest = {name: column[~is_heavy] for name, column in run.columns.items()}
        if n_heavy < rows:
            scratch.destinations = np.empty(rows, np.uint32)
            lengths = rest[HEAD] & np.uint64(0xFFFFFFFF) if exchange.is_text else NO_KEYS
            long_bytes = int(lengths[lengths > partition.SHORT_TEXT_BYTES].sum())
            others.add_arrays(rest, long_bytes, PADDED, scratch)
