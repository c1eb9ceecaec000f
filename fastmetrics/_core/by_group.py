"""The exchange by group: all rows of one user meet in one place.

Blocks are reordered in cache by the hash of the key, and remember where each partition begins. A partition's rows are
then the same-numbered slices of all blocks; it is small enough to be grouped in cache, whatever the number of groups.
Blocks may come in any order, from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastmetrics._core.keys import Keys, KeyScratch
from fastmetrics._core.parallel import for_each
from fastmetrics._core.rows import BLOCK_ROWS, SERIAL_ROWS, Rows, addresses, block_bounds
from fastmetrics._core.statistic import Sums, accumulate
from fastmetrics._kernels import partition

PARTITION_ROWS = 1 << 15  # a partition's rows and its hash table fit the second-level cache
MAX_PARTITION_BITS = 12  # more, and a block's slices get shorter than a few cache lines
UNKNOWN_ROWS = 1 << 24  # what to prepare for when nobody knows how many rows will come
MAX_ROWS_IN_PARTITION = 1 << 29  # the rank table's entries have 32 bits


class GroupBlock(NamedTuple):
    """A block in partition order."""

    rows: Rows
    hashes: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    long_text: np.ndarray
    offsets: np.ndarray


class GroupExchange:
    """Brings the rows of a group together."""

    def __init__(self, expected_rows: int, is_text: bool, key_dtype: np.dtype) -> None:
        wanted = max(0, (max(expected_rows, 1) - 1) // PARTITION_ROWS)
        self.bits = min(MAX_PARTITION_BITS, wanted.bit_length())
        self.is_text = is_text
        self.key_dtype = key_dtype
        self.blocks: list[GroupBlock] = []

    @property
    def n_partitions(self) -> int:
        return 1 << self.bits

    def add(
        self, rows: Rows, scratch: GroupScratch, take: Callable[[str, np.dtype, int], np.ndarray] | None = None
    ) -> None:
        """Take in a block whose keys are in `scratch`.

        `take(column, dtype, rows)` gives memory; by default it is new.
        """
        n = rows.labels.shape[0]
        take = take or (lambda column, dtype, length: np.empty(length, dtype))
        destinations = scratch.destinations[:n]
        offsets = take("offsets", np.dtype(np.int32), self.n_partitions + 1)
        hashes = scratch.keys.hashes[:n]
        partition.partition_block(hashes, self.bits, offsets, destinations)

        def reordered(column: str, values: np.ndarray) -> np.ndarray:
            unsigned = values.view(f"u{values.dtype.itemsize}")
            out = take(column, unsigned.dtype, n)
            partition.scatter(unsigned, destinations, out)
            return out.view(values.dtype)

        long_text: np.ndarray
        heads = tails = long_text = np.empty(0, np.uint64)
        if self.is_text:
            heads = reordered("heads", scratch.keys.heads[:n])
            tails = reordered("tails", scratch.keys.tails[:n])
            n_bytes = int(scratch.keys.long_bytes[0])
            if n_bytes:
                long_text = take("text", np.dtype(np.uint8), n_bytes + 16)
                partition.own_long_text(heads, tails, scratch.keys.data, long_text)
        weights = None if rows.weights is None else reordered("weights", rows.weights)
        moved = Rows(reordered("labels", rows.labels), reordered("scores", rows.scores), weights)
        self.blocks.append(GroupBlock(moved, reordered("hashes", hashes), heads, tails, long_text, offsets))

    def layout(self) -> GroupLayout:
        return GroupLayout(self)


class GroupScratch:
    """One thread's room to reorder a block."""

    def __init__(self, block_rows: int, is_text: bool) -> None:
        self.keys = KeyScratch(block_rows, is_text)
        self.destinations = np.empty(block_rows, np.uint32)


class GroupLayout:
    """All blocks of a finished group exchange, as kernels want them."""

    def __init__(self, exchange: GroupExchange) -> None:
        blocks = exchange.blocks
        empty = np.empty(0, np.uint64)
        self.blocks = blocks
        self.is_text = exchange.is_text
        self.key_dtype = exchange.key_dtype
        self.n_partitions = exchange.n_partitions
        self.hashes = addresses([block.hashes for block in blocks])
        self.labels = addresses([block.rows.labels for block in blocks])
        self.scores = addresses([block.rows.scores for block in blocks])
        self.heads = addresses([block.heads for block in blocks]) if exchange.is_text else empty
        self.tails = addresses([block.tails for block in blocks]) if exchange.is_text else empty
        self.offsets = np.stack([block.offsets for block in blocks])
        self.partition_rows = (self.offsets[:, 1:] - self.offsets[:, :-1]).sum(0, dtype=np.int64)
        largest = int(self.partition_rows.max())
        if largest >= MAX_ROWS_IN_PARTITION:
            raise OverflowError(f"{largest} rows fall into one partition; at most 2**29 - 1 can be grouped in memory")
        self.double_scores = blocks[0].rows.scores.dtype == np.float64
        self.weighted = blocks[0].rows.weights is not None

    def chunks(self, n_threads: int) -> list[tuple[int, int]]:
        """Runs of partitions of about equal work, some for every thread."""
        n_chunks = 1 if n_threads == 1 and self.n_partitions <= 16 else min(self.n_partitions, 64)
        edges = [self.n_partitions * i // n_chunks for i in range(n_chunks + 1)]
        return list(pairwise(edges))


class GroupKeys(NamedTuple):
    """The identities of groups: hashes, and slots for text."""

    hashes: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    dtype: np.dtype

    def at(self, index: int) -> np.ndarray:
        """The key of one group."""
        one = slice(index, index + 1)
        return GroupKeys(self.hashes[one], self.heads[one], self.tails[one], self.dtype).values()

    def values(self) -> np.ndarray:
        """The keys themselves, in the type they came in. Text whose bytes an exchange holds: only while that lives."""
        dtype = self.dtype
        if dtype.kind == "O":
            texts = partition.read_slots(self.heads, self.tails)
            out = np.empty(len(texts), object)
            out[:] = [text.decode() for text in texts]
            return out
        keys = np.empty(self.hashes.shape[0], np.uint64)
        partition.unhash_keys(self.hashes, keys)
        return keys.view(np.int64).astype(dtype) if dtype.kind == "i" else keys.astype(dtype)


def exchange_columns(
    key_column: Keys, load_rows: Callable[[int, int, np.ndarray], Rows], dtype: np.dtype, weighted: bool, n_threads: int
) -> GroupExchange:
    """A group exchange of whole columns.

    `load_rows(start, stop, labels)` checks and gives a block; labels is room for its labels.
    """
    n = key_column.rows
    exchange = GroupExchange(n, key_column.is_text, key_column.dtype)
    bounds = list(block_bounds(n))
    block_rows = min(n, BLOCK_ROWS)
    types: dict[str, Any] = {"hashes": np.uint64, "labels": np.uint8, "scores": f"u{dtype.itemsize}"}
    if weighted:
        types["weights"] = np.uint64
    if key_column.is_text:
        types |= {"heads": np.uint64, "tails": np.uint64}
    memory = {column: np.empty(n, kind) for column, kind in types.items()}
    offsets = np.empty((len(bounds), exchange.n_partitions + 1), np.int32)

    def make_worker() -> Callable[[int], None]:
        scratch = GroupScratch(block_rows, key_column.is_text)
        labels = np.empty(block_rows, np.uint8)

        def add_block(unit: int) -> None:
            start, stop = bounds[unit]
            key_column.hash_block(start, stop, scratch.keys)

            def take(column: str, kind: np.dtype, length: int) -> np.ndarray:
                if column == "offsets":
                    begins: np.ndarray = offsets[unit]
                    return begins
                if column in memory:
                    return memory[column][start : start + length]
                return np.empty(length, kind)

            exchange.add(load_rows(start, stop, labels), scratch, take)

        return add_block

    for_each(len(bounds), make_worker, n_threads if n > SERIAL_ROWS else 1)
    return exchange


class GroupTables(Protocol):
    """One thread's way from partitions to tables of groups: made for a layout, asked for runs of its partitions."""

    def __init__(self, layout: GroupLayout, chunks: list[tuple[int, int]]) -> None: ...

    def tables(self, start: int, stop: int) -> Iterator[Any]: ...


def reduce_groups(layout: GroupLayout, statistics: Sequence[Any], n_threads: int) -> list[Sums]:
    """Additive statistics over all groups.

    They share one kind of table: `statistic.table(layout, chunks)` makes them.
    """
    chunks = layout.chunks(n_threads)
    make_tables = statistics[0].table

    def make_loader() -> Callable[[int], Iterator[Any]]:
        by_group: GroupTables = make_tables(layout, chunks)
        return lambda unit: by_group.tables(*chunks[unit])

    return accumulate(statistics, len(chunks), make_loader, n_threads)
