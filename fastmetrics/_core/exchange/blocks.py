"""A block: columns of rows in the order of their partitions, and how small blocks are joined to a large one."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from fastmetrics._core.columns.key_types import HEAD, TAIL
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.exchange import hash_partition

NO_TEXT: np.ndarray = np.empty(0, np.uint8)
TEXT_PADDING = 16  # kernels copy text 16 bytes at a time


class Block(NamedTuple):
    """Columns of equal length in the order of the partitions.

    `offsets` (int32) is the row at which each partition begins, and the number of rows. `text` has the bytes of the
    long text keys, in row order.
    """

    columns: dict[str, np.ndarray]
    offsets: np.ndarray
    text: np.ndarray = NO_TEXT

    @property
    def rows(self) -> int:
        return int(self.offsets[-1])

    def movable_columns(self) -> dict[str, np.ndarray]:
        """The columns, with positions in the block's text in place of addresses: the text will be loaded elsewhere."""
        if not self.text.shape[0]:
            return self.columns
        tails = self.columns[TAIL]
        is_long = (self.columns[HEAD] & np.uint64(0xFFFFFFFF)) > hash_partition.SHORT_TEXT_BYTES
        return self.columns | {TAIL: np.where(is_long, tails - np.uint64(self.text.ctypes.data), tails)}

    def n_bytes(self) -> int:
        return sum(column.nbytes for column in self.columns.values()) + self.offsets.nbytes + self.text.nbytes


class RowSource(ABC):
    """Rows that lie in a file of somebody else, and are read when they are needed. Several threads may read."""

    @abstractmethod
    def read(self, first: int, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Fill columns with the rows from `first` on. Returns the text that the slots of keys point to."""


class StoredBlock(NamedTuple):
    """The rows of a source from `first` on, which are in the order of their partitions."""

    source: RowSource
    first: int
    offsets: np.ndarray
    text_bytes: int

    @property
    def rows(self) -> int:
        return int(self.offsets[-1])


def order_by_number(numbers: np.ndarray, n_numbers: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the rows of each number below `n_numbers` begin when rows are ordered, and the destination of each row."""
    starts = np.empty(n_numbers + 1, np.int64)
    destinations = np.empty(numbers.shape[0], np.uint32)
    hash_partition.order_by_slice(numbers, starts, destinations)
    return starts, destinations


def scatter_rows(values: np.ndarray, destinations: np.ndarray) -> np.ndarray:
    """A copy of the column in which row i is at destinations[i]."""
    out = np.empty_like(values)
    if values.ndim > 1:
        out[destinations] = values
        return out
    unsigned = f"u{values.dtype.itemsize}"
    hash_partition.scatter(values.view(unsigned), destinations, out.view(unsigned))
    return out


def join_blocks(blocks: list[Block], n_partitions: int) -> Block:
    """One block of the rows of several, whose texts are found by position. The columns of the blocks are given up."""
    partitions = np.arange(n_partitions, dtype=np.uint16)
    numbers = np.concatenate([np.repeat(partitions, np.diff(block.offsets)) for block in blocks])
    starts, destinations = order_by_number(numbers, n_partitions)
    text = join_texts(blocks, destinations) if any(block.text.shape[0] for block in blocks) else NO_TEXT
    columns = {}
    for name in list(blocks[0].columns):
        columns[name] = scatter_rows(np.concatenate([block.columns.pop(name) for block in blocks]), destinations)
    return Block(columns, starts.astype(np.int32), text)


def join_texts(blocks: list[Block], destinations: np.ndarray) -> np.ndarray:
    """The long texts of all blocks in the order of the joined rows. Positions in the blocks become those in it.

    The texts of a partition of a block are neighbors, in the order of its rows.
    """
    lengths = np.concatenate([block.columns[HEAD] & np.uint64(0xFFFFFFFF) for block in blocks])
    lengths[lengths <= hash_partition.SHORT_TEXT_BYTES] = 0
    ordered = np.zeros(lengths.shape[0], np.uint64)
    ordered[destinations] = lengths
    ends = np.cumsum(ordered)
    positions = (ends - ordered)[destinations]
    out = np.zeros(int(ends[-1]) + TEXT_PADDING, np.uint8)
    first = 0
    for block in blocks:
        rows = slice(first, first + block.rows)
        own, new, tails = lengths[rows], positions[rows], block.columns[TAIL]
        is_long = own > 0
        used = np.concatenate(([0], np.cumsum(own))).astype(np.int64)
        edges = np.flatnonzero(np.diff(block.offsets)).tolist()
        for begin, end in ((int(block.offsets[edge]), int(block.offsets[edge + 1])) for edge in edges):
            n_bytes = int(used[end] - used[begin])
            if n_bytes:
                row = begin + int(is_long[begin:end].argmax())
                source, target = int(tails[row]), int(new[row])
                out[target : target + n_bytes] = block.text[source : source + n_bytes]
        block.columns[TAIL] = np.where(is_long, new, tails)
        first += block.rows
    return out
