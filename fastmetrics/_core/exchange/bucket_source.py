"""The rows of one large bucket as a source of their own, so that a bucket can be split into finer buckets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from fastmetrics._core.columns.row_blocks import label_name, score_name
from fastmetrics._core.exchange.block_store import BlockReader, BlockStore
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.range_exchange import KEY, KeyRange, ordered_keys, scores_of_keys
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.sweep.mann_whitney import Splitter


class BlockSource(Protocol):
    """Rows for the range exchange: blocks that are loaded column by column, and the memory budget."""

    budget: MemoryBudget | None

    @property
    def in_memory(self) -> bool: ...

    def block_readers(self, names: list[str]) -> Sequence[Any]: ...


class BucketSource:
    """The rows of one bucket as a BlockSource."""

    in_memory = False

    def __init__(self, ranged: BlockStore, bucket: int) -> None:
        self.ranged = ranged
        self.bucket = bucket
        self.budget = ranged.budget

    @property
    def rows(self) -> int:
        return int(self.ranged.partition_rows[2 * self.bucket : 2 * self.bucket + 2].sum())

    def key_range(self) -> KeyRange:
        blocks = self.block_readers([score_name(0)])
        return KeyRange.of((ordered_keys(block.load()[score_name(0)]) for block in blocks), self.rows)

    def split(self, keys: KeyRange) -> Splitter:
        """A splitter for the rows, which have several scores."""
        range_bytes = self.budget.bytes_per_range if self.budget is not None else 1 << 26
        return keys.split(max(1, range_bytes // self.ranged.row_bytes))

    def block_readers(self, names: list[str]) -> list[BucketBlock]:
        bounds = [
            (block, offsets[0], offsets[2] - offsets[0], offsets[1] - offsets[0])
            for block, offsets in self.ranged.block_offsets(2 * self.bucket, 2 * self.bucket + 2)
        ]
        return [BucketBlock(self.ranged, names, *own) for own in bounds if own[2]]


class BucketBlock(NamedTuple):
    """Loads the rows that a bucket has in one block: negatives first, then positives."""

    ranged: BlockStore
    names: list[str]
    block: Any
    first: int
    rows: int
    negatives: int

    def load(self) -> dict[str, np.ndarray]:
        return self.load_rows(0, self.rows)

    def load_rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        others = [name for name in self.names if name not in (label_name(0), score_name(0))]
        reader = BlockReader(self.ranged, [KEY, *others], self.block)
        columns = reader.load_rows(self.first + start, self.first + stop)
        labels = (np.arange(start, stop) >= self.negatives).astype(np.uint8)
        loaded: dict[str, np.ndarray] = {label_name(0): labels, score_name(0): scores_of_keys(columns[KEY])}
        for name in others:
            loaded[name] = np.ascontiguousarray(columns[name])
        return {name: loaded[name] for name in self.names}
