"""What a pass over a log collects: every batch is checked and fed to the additive statistics and to the exchanges.

Batches may be taken in by several threads; nothing is shared between them but lists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core.blocks import Block as StoredBlock
from fastmetrics._core.blocks import BlockStore, Room, reordered
from fastmetrics._core.by_group import UNKNOWN_ROWS, GroupExchange, GroupScratch, SlabTaker, first_bits
from fastmetrics._core.counted_rows import CountedRows
from fastmetrics._core.inputs import check_seen_labels
from fastmetrics._core.keys import Keys
from fastmetrics._core.memory import format_size
from fastmetrics._core.rows import BLOCK_ROWS, Columns, View
from fastmetrics._core.statistic import State
from fastmetrics._kernels import partition
from fastmetrics.engine.columns import ROW_UNITS, Block, ColumnNames, Reader, title
from fastmetrics.engine.plan import Plan

SLAB_BLOCKS = 64
MOST_FIRST_BITS = 12
ROW_BYTES = 32  # about what a row takes in the exchange by group

# A statistic, the number of a view, and a slice (None: all rows).
StateKey = tuple[Any, int, int | None]


class Additive:
    """States of additive statistics, for every view and slice; made when they are first needed."""

    def __init__(
        self, plan: Plan, views: list[View], room: Room | None = None, counted: CountedRows | None = None
    ) -> None:
        self.statistics = plan.statistics["none"]
        self.whole = plan.whole
        self.views = views
        self.room = room
        self.counted = counted
        self.sums: dict[StateKey, State] = {}
        self.together: dict[tuple[int, int | None], list[State]] = {}

    def states(self, view: int, number: int | None) -> list[State]:
        """The states of all statistics for a view and a slice: looked up once, for there may be many slices."""
        found = self.together.get((view, number))
        if found is None:
            keys = [(statistic, view, number) for statistic in self.statistics]
            found = [self.sums.setdefault(key, key[0].new()) for key in keys]
            self.together[view, number] = found
        return found

    def update(self, columns: Columns, units: np.ndarray | None = None) -> None:
        """Add a block of rows; `units` are hashes of what they are resampled with, where no exchange keeps them."""
        for view_number, view in enumerate(self.views if self.whole else ()):
            rows = columns.view(view)
            for statistic in self.whole:
                key = (statistic, view_number, None)
                if key not in self.sums:
                    self.sums[key] = statistic.new()
                statistic.update(self.sums[key], rows)
        if not self.statistics:
            return
        if columns.score_columns:
            self.update_pairs(columns, units)
            return
        if columns.slices is None:
            self.update_part(columns, None)
            return
        try:
            for number, part in split_by_slice(columns, columns.slices):
                self.update_part(part, number)
        except ValueError:
            # The first bad row of a slice need not be the first of the block: without slices that is the one found.
            for rows in map(columns.view, self.views):
                for statistic in self.statistics:
                    statistic.update(statistic.new(), rows)
            raise

    def update_part(self, columns: Columns, number: int | None) -> None:
        for view_number, view in enumerate(self.views):
            rows = columns.view(view)
            for statistic, state in zip(self.statistics, self.states(view_number, number), strict=True):
                statistic.update(state, rows)

    def update_pairs(self, columns: Columns, units: np.ndarray | None) -> None:
        """What is no number stays where it is: it is looked at once, and slices add what was counted of their rows."""
        for view_number, view in enumerate(self.views):
            rows = columns.view_pair(view)
            for place, statistic in enumerate(self.statistics):
                counted_rows = statistic.count_rows(rows)
                if self.counted is not None and units is not None:
                    n_bytes = self.counted.add(statistic, view_number, counted_rows, units, columns.slices)
                    self.count_bytes(n_bytes, "what was counted of every row, for intervals, takes")
                for number, counted in by_slice(counted_rows, columns.slices):
                    state = self.states(view_number, number)[place]
                    known = state.n_bytes
                    statistic.add(state, counted)
                    self.count_bytes(state.n_bytes - known)

    def count_bytes(self, n_bytes: int, what: str = "the pairs of different labels take") -> None:
        """States that grow with the rows stay in memory: they take of the room that blocks would have."""
        if n_bytes and self.room is not None and not self.room.take(n_bytes):
            raise ValueError(
                f"{what} more than the half of memory_limit="
                f"{format_size(self.room.limit)} that they may; allow more memory"
            )

    def merge(self, other: Additive) -> None:
        for key, state in other.sums.items():
            if key not in self.sums:
                self.sums[key] = key[0].new()
            self.sums[key].merge(state)


def by_slice(counted: Any, slices: np.ndarray | None) -> Iterator[tuple[int | None, Any]]:
    """What was counted of the rows of every slice."""
    if slices is None:
        yield None, counted
        return
    order = np.argsort(slices, kind="stable")
    numbers, moved = slices[order], counted[order]
    starts = np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1]))).tolist()
    for start, stop in pairwise([*starts, len(numbers)]):
        yield int(numbers[start]), moved[start:stop]


def split_by_slice(columns: Columns, slices: np.ndarray) -> list[tuple[int, Columns]]:
    """The rows of every slice of a block, as views of columns in the order of the slices."""
    starts = np.empty(int(slices.max()) + 2, np.int64)
    destinations = np.empty(columns.rows, np.uint32)
    partition.order_by_slice(slices, starts, destinations)

    def move(values: np.ndarray) -> np.ndarray:
        return reordered(values, destinations)

    moved = columns._replace(
        labels=tuple(map(move, columns.labels)),
        scores=tuple(map(move, columns.scores)),
        weights=None if columns.weights is None else move(columns.weights),
        slices=None,
        places=None,
    )
    parts = []
    for number in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
        where = slice(*starts[number : number + 2].tolist())
        parts.append(
            (
                number,
                moved._replace(
                    labels=tuple(own[where] for own in moved.labels),
                    scores=tuple(own[where] for own in moved.scores),
                    weights=None if moved.weights is None else moved.weights[where],
                ),
            )
        )
    return parts


class Worker:
    """One thread's states and memory during the scan."""

    def __init__(
        self,
        plan: Plan,
        views: list[View],
        block_rows: int,
        room: Room | None = None,
        counted: CountedRows | None = None,
    ) -> None:
        self.additive = Additive(plan, views, room, counted)
        self.slabs = SlabTaker(block_rows, SLAB_BLOCKS)
        self.scratch: dict[str, GroupScratch] = {}
        self.block_rows = block_rows

    def hash_keys(self, role: str, own: Keys) -> GroupScratch:
        """The keys of a block, hashed, in memory that the role's next block will overwrite."""
        found = self.scratch.get(role)
        if found is None or found.destinations.shape[0] < own.rows:
            found = self.scratch[role] = GroupScratch(max(own.rows, self.block_rows), own.is_text)
        own.hash_block(0, own.rows, found.keys)
        return found


class Scan:
    """What a pass over the log collects: additive states, blocks for the exchanges, counts of rows read and dropped."""

    def __init__(
        self,
        plan: Plan,
        names: ColumnNames,
        on_invalid: str,
        expected_rows: int | None,
        room: Room | None = None,
    ) -> None:
        self.plan = plan
        self.names = names
        self.views = names.views()
        self.reader = Reader(names, on_invalid, plan.targets)
        self.room = room
        self.expected_rows = UNKNOWN_ROWS if expected_rows is None else expected_rows
        self.block_rows = max(1, min(BLOCK_ROWS, self.expected_rows))
        self.idle: deque[Worker] = deque()
        self.workers: list[Worker] = []
        self.exchange: GroupExchange | None = None
        self.units: GroupExchange | None = None  # rows by what is resampled: the exchange by group where that is it
        self.eps: tuple[float | None, ...] = ()
        # Of texts and partitions no exchange keeps rows.
        self.counted = CountedRows() if names.unit is not None and plan.targets.alone is not None else None
        self.store = BlockStore(1, room)  # rows for the exchange by score, where there is none by group
        self.rows = 0
        self.kept = 0
        self.dropped: dict[str, int] = {}
        self.seen = [0] * len(names.labels)
        self.minus_one_rows: list[int | None] = [None] * len(names.labels)

    def consume(self, batch: Any, first_row: int) -> Block:
        """Check a batch and feed it to everything that wants it. Called from several threads."""
        block = self.reader.read(batch, first_row)
        self.take(block)
        return block._replace(columns=None, keys=None)

    def take(self, block: Block) -> None:
        """Feed a checked block to everything that wants it."""
        if block.columns is None:
            return
        try:
            worker = self.idle.popleft()
        except IndexError:
            worker = Worker(self.plan, self.views, self.block_rows, self.room, self.counted)
            self.workers.append(worker)
        if self.counted is not None and block.unit_keys is not None:
            hashes = worker.hash_keys("unit", block.unit_keys).keys.hashes[: block.columns.rows]
            worker.additive.update(block.columns, hashes)
            self.idle.append(worker)
            return
        worker.additive.update(block.columns)
        self.exchange_block(block, worker)
        self.idle.append(worker)

    def exchange_block(self, block: Block, worker: Worker) -> None:
        """Hand a block's rows to the exchange that wants them."""
        columns = block.columns
        if columns is None:
            return
        self.eps = columns.eps
        units: np.ndarray | None = None
        if block.unit_keys is not None and block.unit_keys is not block.keys:
            scratch = worker.hash_keys("unit", block.unit_keys)
            units = scratch.keys.hashes[: columns.rows]
            if self.units is not None:
                self.units.add(columns, scratch, worker.slabs.take)
        if self.exchange is not None and block.keys is not None:
            scratch = worker.hash_keys("group", block.keys)
            self.exchange.add(columns, scratch, worker.slabs.take, units)
        elif self.units is None and self.plan.needs("score"):
            keep(self.store, columns, worker.slabs)

    def prepare(self, batch: Any) -> None:
        """Decide, from the first batch, what kinds of keys the exchanges hold."""
        if self.plan.needs("group") and self.exchange is None:
            self.exchange = self.new_exchange(batch, self.names.group)
        unit = self.names.unit
        if unit is None or self.units is not None or self.counted is not None:
            return
        if unit == self.names.group:
            self.units = self.exchange
        elif self.plan.needs("none") or self.plan.needs("score") or self.plan.whole:
            self.units = self.new_exchange(batch, unit)

    def new_exchange(self, batch: Any, column: str | None) -> GroupExchange:
        """An exchange by the keys of a column, or by the rows' places."""
        import pyarrow

        kind = pyarrow.int64() if column == ROW_UNITS else batch.schema.field(column).type
        if pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        is_text = (
            pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind)
        )
        key_dtype = np.dtype(object) if is_text else np.dtype(np.uint64 if kind == pyarrow.uint64() else np.int64)
        bits = first_bits(self.expected_rows)
        if self.room is not None and self.expected_rows > BLOCK_ROWS:
            # One partition should fit what a thread may load.
            bits = max(bits, min(MOST_FIRST_BITS, (self.expected_rows * ROW_BYTES // self.room.run_bytes).bit_length()))
        return GroupExchange(is_text, key_dtype, bits, self.room)

    def note(self, block: Block) -> None:
        """Add up what a block was. Called from one thread."""
        self.rows += block.read
        self.kept += block.read - sum(block.dropped.values())
        for reason, count in block.dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        for number, (seen, row) in enumerate(zip(block.seen, block.minus_one_rows, strict=True)):
            self.seen[number] |= seen
            if row is not None:
                known = self.minus_one_rows[number]
                self.minus_one_rows[number] = row if known is None else min(row, known)

    def note_scan(self, other: Scan) -> None:
        """Add up what another scan counted."""
        self.note(Block(None, None, other.rows, dict(other.dropped), tuple(other.seen), tuple(other.minus_one_rows)))

    def check_labels(self) -> None:
        """After all rows: 0 and 1, or -1 and +1, but not a mix."""
        for name, seen, row in zip(self.names.labels, self.seen, self.minus_one_rows, strict=True):
            check_seen_labels(seen, found_at(row or 0), title("label", name))

    def additive(self) -> Additive:
        """The states of all threads, merged into those of the first: states may be large."""
        first, others = self.workers[:1], self.workers[1:]
        self.workers = first
        self.idle.clear()
        merged = first[0].additive if first else Additive(self.plan, self.views)
        for worker in others:
            merged.merge(worker.additive)
            worker.additive.sums.clear()
        return merged

    def source(self) -> BlockStore:
        """Where the rows are that the exchange by score wants."""
        exchange = self.units if self.exchange is None else self.exchange
        return self.store if exchange is None else exchange.store

    def stores(self) -> list[BlockStore]:
        """Everything that keeps rows."""
        exchanges = (self.exchange, None if self.units is self.exchange else self.units)
        return [self.store, *(own.store for own in exchanges if own is not None)]

    def share_rows(self, other: Scan, numbers: np.ndarray) -> None:
        """Take over the blocks of another scan, all in memory; its slice s becomes numbers[s]."""
        if self.exchange is None and other.exchange is not None:
            self.exchange = other.exchange.empty()
        if self.units is None and other.units is not None:
            self.units = self.exchange if other.units is other.exchange else other.units.empty()
        self.eps = self.eps or other.eps
        for own, theirs in zip(self.stores(), other.stores(), strict=False):
            own.take_over(theirs, numbers)

    def close(self) -> None:
        """All rows go, from memory and from disk."""
        for store in self.stores():
            store.close()


def found_at(row: int) -> Callable[[str], tuple[int, Any]]:
    """For check_seen_labels: where the first -1 is known to be."""
    return lambda what: (row, -1)


def keep(store: BlockStore, columns: Columns, slabs: SlabTaker) -> None:
    """The columns copied to memory of our own, or to disk: the batch they came in is larger and may go."""
    arrays = columns.arrays()
    held = store.reserve(sum(array.nbytes for array in arrays.values()))
    if held:
        for name, values in arrays.items():
            out = slabs.take(name, values.dtype, values.shape[0])
            out[:] = values
            arrays[name] = out
    else:
        arrays = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    store.add(StoredBlock(arrays, np.array([0, columns.rows], np.int32)), held)
