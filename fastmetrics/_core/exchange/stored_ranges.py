"""Ranges of stored rows, and rows of two classes as a source that the range exchange reads.

A range is a partition of a store: a bucket of rows, or a class of a bucket. It is read in parts, so that it may be
larger than the memory. A source has labels and scores of two classes, wherever these are stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, Scratch, label_name, score_name
from fastmetrics._core.exchange.block_store import BlockReader, BlockStore
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.range_exchange import KEY, KeyRange, ordered_keys, scores_of_keys
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.sweep.mann_whitney import Splitter


class BlockSource(Protocol):
    """Rows for the range exchange: blocks that are loaded column by column, and the memory budget."""

    @property
    def budget(self) -> MemoryBudget | None: ...

    @property
    def in_memory(self) -> bool: ...

    def block_readers(self, names: list[str]) -> Sequence[Any]: ...


class StoredRange(NamedTuple):
    """The rows of a partition of a store, or the part that some of its blocks have, or some rows of one block."""

    store: BlockStore
    names: list[str]
    partition: int
    rows: int
    blocks: range | None = None
    tie: int = 0  # parts of one tie have the same number, which is not 0
    rows_of_block: range | None = None  # of the only block

    def load(self, scratch: Scratch | None = None) -> dict[str, np.ndarray]:
        if self.rows_of_block is not None and self.blocks is not None:
            reader = BlockReader(self.store, self.names, self.store.block(self.blocks.start))
            return reader.load_rows(self.rows_of_block.start, self.rows_of_block.stop)
        return self.store.load_partitions(self.names, self.partition, self.partition + 1, scratch, self.blocks).columns

    def sample(self, step: int) -> dict[str, np.ndarray]:
        """One of every `step` rows."""
        return {name: column[::step] for name, column in self.load().items()}

    def parts(self, most_rows: int) -> list[StoredRange]:
        """The rows in parts of at most so many: of neighboring blocks, or of one block that has more."""
        found, first, rows = [], 0, 0
        for number, (_, (begin, end)) in enumerate(self.store.block_offsets(self.partition, self.partition + 1)):
            if rows and rows + end - begin > most_rows:
                found.append(self._replace(rows=rows, blocks=range(first, number)))
                first, rows = number, 0
            if end - begin <= most_rows:
                rows += end - begin
                continue
            for start in range(begin, end, most_rows):
                part = range(start, min(end, start + most_rows))
                own = self._replace(rows=len(part), blocks=range(number, number + 1), rows_of_block=part)
                found.append(own)
            first = number + 1
        return [*found, self._replace(rows=rows, blocks=range(first, self.store.n_blocks))] if rows else found


class ProblemReader(NamedTuple):
    """Loads rows as those of two classes.

    `names` are the columns of the problem, and where they are stored. Labels are 1 where the stored column has the
    class, or all have the same `label`, and are not stored.
    """

    reader: Any
    names: Mapping[str, str]
    class_number: int | None = None
    label: int = 0

    @property
    def rows(self) -> int:
        return int(self.reader.rows)

    def load(self) -> dict[str, np.ndarray]:
        return self.select(self.reader.load())

    def sample(self, step: int) -> dict[str, np.ndarray]:
        return self.select(self.reader.sample(step))

    def select(self, stored: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        rows = len(next(iter(stored.values())))
        found = {name: stored[own] for name, own in self.names.items() if own in stored}
        if score_name(0) in found and self.names[score_name(0)] == KEY:
            found[score_name(0)] = scores_of_keys(found[score_name(0)])
        if label_name(0) in self.names:
            of_class = self.class_number
            labels = np.full(rows, self.label, np.uint8) if of_class is None else found[label_name(0)] == of_class
            found[label_name(0)] = labels.view(np.uint8)
        return {name: found[name] for name in self.names}


class PartitionPair(NamedTuple):
    """A BlockSource of two partitions of a store: the rows of one are negative, those of the other positive."""

    store: BlockStore
    negatives: int
    positives: int
    score: str = KEY  # the stored column

    @classmethod
    def of_bucket(cls, ranged: BlockStore, bucket: int) -> PartitionPair:
        return cls(ranged, 2 * bucket, 2 * bucket + 1)

    @property
    def budget(self) -> MemoryBudget | None:
        return self.store.budget

    @property
    def in_memory(self) -> bool:
        return self.store.in_memory

    @property
    def rows(self) -> int:
        return int(self.store.partition_rows[[self.negatives, self.positives]].sum())

    @property
    def most_rows(self) -> int:
        """The most rows that may be loaded at once."""
        range_bytes = self.budget.bytes_per_range if self.budget is not None else 1 << 26
        return max(1, range_bytes // self.store.row_bytes)

    def block_readers(self, names: list[str]) -> list[ProblemReader]:
        own = {name: self.score if name == score_name(0) else name for name in names}
        stored = [name for name in own.values() if name != label_name(0)]
        return [
            ProblemReader(part, own, label=label)
            for label, partition in enumerate((self.negatives, self.positives))
            for part in StoredRange(self.store, stored, partition, 0).parts(min(BLOCK_ROWS, self.most_rows))
        ]

    def key_range(self) -> KeyRange:
        blocks = self.block_readers([score_name(0)])
        return KeyRange.of((ordered_keys(block.load()[score_name(0)]) for block in blocks), self.rows)

    def split(self, keys: KeyRange) -> Splitter:
        """A splitter for the rows, which have several scores."""
        return keys.split(self.most_rows)
