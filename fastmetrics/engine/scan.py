"""What a pass over a log collects: every batch is checked and fed to the additive statistics and to the exchanges.

Batches may be taken in by several threads; nothing is shared between them but lists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.by_group import UNKNOWN_ROWS, GroupExchange, GroupScratch
from fastmetrics._core.inputs import check_seen_labels
from fastmetrics._core.rows import BLOCK_ROWS, Rows, Slab
from fastmetrics._core.statistic import Sums
from fastmetrics.engine.columns import Block, ColumnNames, Reader
from fastmetrics.engine.plan import Plan

SLAB_BLOCKS = 16


class Worker:
    """One thread's states and memory during the scan."""

    def __init__(self, plan: Plan, block_rows: int) -> None:
        self.sums: list[Sums] = [statistic.new() for statistic in plan.statistics["none"]]
        self.slabs: dict[tuple[str, np.dtype], Slab] = {}
        self.scratch: GroupScratch | None = None
        self.block_rows = block_rows

    def group_scratch(self, rows: int, is_text: bool) -> GroupScratch:
        if self.scratch is None or self.scratch.destinations.shape[0] < rows:
            self.scratch = GroupScratch(max(rows, self.block_rows), is_text)
        return self.scratch

    def take(self, column: str, dtype: np.dtype, rows: int) -> np.ndarray:
        """Memory that stays after the scan."""
        key = (column, dtype)
        slab = self.slabs.get(key)
        if slab is None or not slab.has(rows):
            slab = self.slabs[key] = Slab(dtype, max(rows, SLAB_BLOCKS * self.block_rows))
        return slab.take(rows)


class Scan:
    """What a pass over the log collects: additive states, blocks for the exchanges, counts of rows read and dropped."""

    def __init__(self, plan: Plan, names: ColumnNames, on_invalid: str, expected_rows: int | None) -> None:
        self.plan = plan
        self.reader = Reader(names, on_invalid)
        self.expected_rows = UNKNOWN_ROWS if expected_rows is None else expected_rows
        self.block_rows = max(1, min(BLOCK_ROWS, self.expected_rows))
        self.idle: deque[Worker] = deque()
        self.workers: list[Worker] = []
        self.exchange: GroupExchange | None = None
        self.blocks: list[Rows] = []
        self.rows = 0
        self.kept = 0
        self.dropped: dict[str, int] = {}
        self.seen = 0
        self.minus_one_row: int | None = None

    def consume(self, batch: Any, first_row: int) -> Block:
        """Check a batch and feed it to everything that wants it. Called from several threads."""
        block = self.reader.read(batch, first_row)
        rows = block.rows
        if rows is None:
            return block
        try:
            worker = self.idle.popleft()
        except IndexError:
            worker = Worker(self.plan, self.block_rows)
            self.workers.append(worker)
        for statistic, state in zip(self.plan.statistics["none"], worker.sums, strict=True):
            statistic.update(state, rows)
        if self.exchange is not None and block.keys is not None:
            scratch = worker.group_scratch(rows.labels.shape[0], block.keys.is_text)
            block.keys.hash_block(0, block.keys.rows, scratch.keys)
            self.exchange.add(rows, scratch, worker.take)
        elif self.plan.needs("score"):
            self.blocks.append(keep(rows, worker.take))
        self.idle.append(worker)
        return block._replace(rows=None, keys=None)

    def prepare(self, batch: Any) -> None:
        """Decide, from the first batch, what kind of keys the group exchange holds."""
        if not self.plan.needs("group") or self.exchange is not None:
            return
        import pyarrow

        kind = batch.schema.field(self.reader.names.group).type
        if pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        is_text = (
            pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind)
        )
        key_dtype = np.dtype(object) if is_text else np.dtype(np.uint64 if kind == pyarrow.uint64() else np.int64)
        self.exchange = GroupExchange(self.expected_rows, is_text, key_dtype)

    def note(self, block: Block) -> None:
        """Add up what a block was. Called from one thread."""
        self.rows += block.read
        self.kept += block.read - sum(block.dropped.values())
        for reason, count in block.dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        self.seen |= block.seen
        if block.minus_one_row is not None:
            known = [row for row in (block.minus_one_row, self.minus_one_row) if row is not None]
            self.minus_one_row = min(known)

    def check_labels(self) -> None:
        """After all rows: 0 and 1, or -1 and +1, but not a mix."""
        check_seen_labels(self.seen, lambda what: (self.minus_one_row or 0, -1), self.reader.title("label"))

    def additive_states(self) -> dict[Any, Any]:
        """The merged states of all threads."""
        states = {}
        for index, statistic in enumerate(self.plan.statistics["none"]):
            merged = statistic.new()
            for worker in self.workers:
                merged.merge(worker.sums[index])
            states[statistic] = merged
        return states


def keep(rows: Rows, take: Callable[[str, np.dtype, int], np.ndarray]) -> Rows:
    """The columns copied to memory of our own: the batch they came in is larger and may go."""

    def copy(column: str, values: np.ndarray) -> np.ndarray:
        out = take(column, values.dtype, values.shape[0])
        out[:] = values
        return out

    weights = None if rows.weights is None else copy("weights", rows.weights)
    return Rows(copy("labels", rows.labels), copy("scores", rows.scores), weights)
