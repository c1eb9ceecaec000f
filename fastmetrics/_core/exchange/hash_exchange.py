"""The hash exchange: it brings all rows of a group together.

Blocks are reordered in cache by the hash of the key, and record where each partition begins. A partition's rows are the
slices of the same number of all blocks. Where partitions are larger than the cache, or blocks were spilled, a range of
neighboring partitions is copied together and partitioned again by further bits of the hash (`group_reduction.py`).
Blocks may arrive in any order and from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from fastmetrics._core.columns.key_columns import Keys, KeyScratch, place_rows
from fastmetrics._core.columns.key_types import HEAD, TAIL, decode_keys, plain_value, slots_of
from fastmetrics._core.columns.row_blocks import (
    BLOCK_ROWS,
    LABEL,
    SCORE,
    SERIAL_ROWS,
    SLICE,
    WEIGHT,
    Output,
    RowBlock,
    Scratch,
    block_bounds,
    label_name,
    names_of,
    score_name,
)  # fmt: skip
from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import TEXT_PADDING, Block
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics._kernels.exchange.partition_groups import PartitionedRows, PartitionGroups

HASH = "hash"
UNIT = "unit"  # the hash of the row's resampling unit, where the unit is not the group
PARTITION_ROWS = 1 << 15  # a partition's rows and its hash table fit the second-level cache
MAX_PARTITION_BITS = 9  # with more, a block's slices are shorter than a few pages; large partitions are cut again
UNKNOWN_ROWS = 1 << 24  # assumed where the number of rows is not known in advance
MAX_ROWS_IN_PARTITION = 1 << 29  # entries of the hash table have 32 bits
CHUNK_ROWS = 1 << 19  # the groups of so many rows are written by one kernel call
CHUNK_BYTES = 1 << 25  # the most memory for the tables of one kernel call

NO_ADDRESSES: np.ndarray = np.empty(0, np.uint64)

Allocate = Callable[[str, np.dtype, int], np.ndarray]


class HashExchangeScratch:
    """Working memory of one thread, to reorder a block."""

    def __init__(self, block_rows: int, key_dtype: np.dtype) -> None:
        self.keys = KeyScratch(block_rows, key_dtype)
        self.destinations = np.empty(block_rows, np.uint32)
        self.spill_scratch = Scratch()


def partition_bits(rows: int) -> int:
    """The number of hash bits that cut so many rows into partitions of about PARTITION_ROWS."""
    return (max(0, max(rows, 1) - 1) // PARTITION_ROWS).bit_length()


class HashExchange:
    """Partitions rows by the hash of their group key.

    The number of a partition is the first `bits` bits of the hash, minus `first`. `last` is the first number beyond
    the partitions; 0 means all. `by_key`: of a hash of the whole key that depends on the seeds of the process, which
    separates keys that were prepared to fill one partition. `has_truth`: rows of a truth table, which have NaN in place
    of scores, stand beside those of the log.
    """

    def __init__(
        self,
        key_dtype: np.dtype,
        bits: int,
        budget: MemoryBudget | None = None,
        first: int = 0,
        last: int = 0,
        by_key: bool = False,
        has_truth: bool = False,
    ) -> None:
        self.bits = bits
        self.has_truth = has_truth
        self.by_key = by_key
        self.first = first
        self.key_dtype = key_dtype
        self.slots = slots_of(key_dtype)
        self.budget = budget
        self.store = BlockStore((last or 1 << bits) - first, budget)

    @property
    def n_partitions(self) -> int:
        return self.store.n_partitions

    def empty(self, budget: MemoryBudget | None) -> HashExchange:
        """An exchange for the same keys without rows."""
        return HashExchange(self.key_dtype, self.bits, budget, has_truth=self.has_truth)

    def columns_of_log(self, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """Columns of the rows of the log, block by block."""
        for reader in self.store.block_readers(self.names_of_log(names)):
            yield self.rows_of_log(reader.load())

    def names_of_log(self, names: Sequence[str]) -> list[str]:
        """The columns to load, of which `rows_of_log` leaves out the rows of a truth table."""
        return [*names, score_name(0)] if self.has_truth else list(names)

    def rows_of_log(self, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        if not self.has_truth:
            return columns
        is_of_log = ~np.isnan(columns[score_name(0)])
        return {name: column[is_of_log] for name, column in columns.items()}

    def add(
        self,
        columns: RowBlock,
        scratch: HashExchangeScratch,
        allocate: Allocate | None = None,
        units: np.ndarray | None = None,
    ) -> None:
        """Add a block whose keys are in `scratch`; `units` are the hashes of its rows' resampling units.

        `allocate(column, dtype, rows)` returns memory for a block that stays in memory; by default it is new memory.
        """
        n = columns.rows
        arrays = {HASH: scratch.keys.hashes[:n]}
        slots = {HEAD: scratch.keys.heads, TAIL: scratch.keys.tails}
        arrays |= {name: slots[name][:n] for name in self.slots}
        arrays |= columns.arrays()
        if units is not None:
            arrays[UNIT] = units
        long_bytes = int(scratch.keys.long_bytes[0]) if TAIL in self.slots else 0
        self.add_arrays(arrays, long_bytes, scratch.keys.data, scratch, allocate)

    def add_arrays(
        self,
        arrays: dict[str, np.ndarray],
        long_bytes: int,
        data: np.ndarray,
        scratch: HashExchangeScratch,
        allocate: Allocate | None = None,
    ) -> None:
        """The same as `add`, with keys among the columns. `data` has `long_bytes` bytes of long text."""
        n = arrays[HASH].shape[0]
        n_bytes = sum(array.nbytes for array in arrays.values()) + 4 * (self.n_partitions + 1) + long_bytes
        is_reserved = self.store.try_reserve(n_bytes)
        if not is_reserved:
            allocate = scratch.spill_scratch.array
        elif allocate is None:
            allocate = allocate_new
        destinations = scratch.destinations[:n]
        hashes = arrays[HASH]
        if self.by_key:
            hashes = place_rows(hashes, *(arrays.get(name, NO_ADDRESSES) for name in (HEAD, TAIL)))
        offsets = allocate("offsets", np.dtype(np.int32), self.n_partitions + 1)
        hash_partition.partition_block(hashes, 64 - self.bits, self.first, offsets, destinations)
        block = reorder(arrays, offsets, destinations, allocate)
        if long_bytes:
            text = allocate("text", np.dtype(np.uint8), long_bytes + TEXT_PADDING)
            hash_partition.copy_long_texts(block.columns[HEAD], block.columns[TAIL], data, text)
            block = block._replace(text=text)
        self.store.add(block, is_reserved)


def initial_partition_bits(expected_rows: int) -> int:
    """Bits of the first partitioning: a partition of a block is at least a few pages of memory or of the file."""
    return min(MAX_PARTITION_BITS, partition_bits(expected_rows))


def allocate_new(column: str, dtype: np.dtype, rows: int) -> np.ndarray:
    """New memory for every column."""
    return np.empty(rows, dtype)


def reorder(arrays: dict[str, np.ndarray], offsets: np.ndarray, destinations: np.ndarray, allocate: Allocate) -> Block:
    """A block in the order of its partitions: each row at its destination."""
    moved = {}
    for name, values in arrays.items():
        unsigned = values.view(f"u{values.dtype.itemsize}")
        out = allocate(name, unsigned.dtype, destinations.shape[0])
        hash_partition.scatter(unsigned, destinations, out)
        moved[name] = out.view(values.dtype)
    return Block(moved, offsets)


class GroupLayout:
    """Blocks with the same partitions, in the form that kernels read: `rows`."""

    def __init__(self, blocks: list[Block], key_dtype: np.dtype, owner: object = None) -> None:
        columns = blocks[0].columns
        self.blocks = list(blocks)
        self.owner = owner  # keeps the text alive that the slots point to
        self.key_dtype = key_dtype
        self.slots = slots_of(key_dtype)
        self.offsets = np.stack([block.offsets for block in blocks]) if len(blocks) > 1 else blocks[0].offsets[None]
        labels, scores = names_of(columns, LABEL), names_of(columns, SCORE)
        optional = (self.column(name) if name in columns else None for name in (WEIGHT, SLICE))
        self.rows = PartitionedRows(
            self.offsets, *self.key_columns, list(map(self.column, labels)), list(map(self.column, scores)),
            *optional,
        )  # fmt: skip
        # Grades and other numbers are float64, classes are uint8.
        self.graded = self.rows.label_bytes == 8
        self.n_partitions = self.rows.n_partitions
        self.partition_rows = (self.offsets[:, 1:] - self.offsets[:, :-1]).sum(0, dtype=np.int64)
        if self.rows.largest >= MAX_ROWS_IN_PARTITION:
            raise OverflowError(
                f"{self.rows.largest} rows fall into one partition; at most 2**29 - 1 can be grouped in memory"
            )

    def column(self, name: str) -> ColumnBlocks:
        return ColumnBlocks([block.columns[name] for block in self.blocks])

    def partition_column(self, name: str, partition: int) -> np.ndarray:
        """A column of the rows of a partition, in the order of blocks."""
        parts = [own.columns[name][own.offsets[partition] : own.offsets[partition + 1]] for own in self.blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @cached_property
    def key_columns(self) -> tuple[ColumnBlocks, ColumnBlocks | None, ColumnBlocks | None]:
        """Hashes, heads and tails. Keys that are single numbers have no heads, pairs of numbers no tails."""
        heads, tails = (self.column(name) if name in self.slots else None for name in (HEAD, TAIL))
        return self.column(HASH), heads, tails

    def find_groups(self, most_groups: int, allocate: Any, outputs: Sequence[Output] = ()) -> PartitionGroups:
        """One thread's memory to find the groups of some partitions, at most `most_groups` at a time."""
        return PartitionGroups(self.rows, most_groups, allocate, outputs)

    def keys(self, groups: PartitionGroups, n: int) -> GroupKeys:
        """The keys of the groups that were found last."""
        return GroupKeys(groups.hashes[:n], groups.heads[:n], groups.tails[:n], self.key_dtype)

    def number_slices(self, own: SliceSet, start: int, stop: int) -> None:
        """Write the slices of a set into the column of slices, for the rows of the partitions start to stop."""
        if own.number_rows is None:
            return
        for block in self.blocks:
            rows = slice(int(block.offsets[start]), int(block.offsets[stop]))
            own.number({name: block.columns[name][rows] for name in own.names}, block.columns[SLICE][rows])

    def chunks(self, n_values: int, table_bytes: int = CHUNK_BYTES) -> list[tuple[int, int]]:
        """Ranges of partitions, one for each kernel call, so that tables of n_values per group fit table_bytes."""
        rows = int(self.partition_rows.sum())
        group_bytes = 8 * (1 + 2 * bool(self.slots) + 2 * self.rows.n_labels + n_values)
        n_chunks = max(1, min(self.n_partitions, -(-rows // min(CHUNK_ROWS, max(1, table_bytes // group_bytes)))))
        edges = [self.n_partitions * i // n_chunks for i in range(n_chunks + 1)]
        return list(pairwise(edges))


class GroupKeys(NamedTuple):
    """The keys of groups: hashes, and slots for keys that are no single number."""

    hashes: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    dtype: np.dtype

    def at(self, index: int) -> Any:
        """The key of one group as Python shows it; a tuple if a key has several columns."""
        return plain_value(self.take(slice(index, index + 1)).values()[0])

    def take(self, where: np.ndarray | slice) -> GroupKeys:
        """The keys of the groups with these indices, or of a range of groups."""
        if slots_of(self.dtype):
            return GroupKeys(self.hashes[where], self.heads[where], self.tails[where], self.dtype)
        return GroupKeys(self.hashes[where], self.heads, self.tails, self.dtype)

    def values(self) -> np.ndarray:
        """The keys in their original type. Text can only be read while the exchange that stores it lives."""
        return decode_keys(self.dtype, self.hashes, self.heads, self.tails)


def check_group_weights(keys: GroupKeys, least: np.ndarray, greatest: np.ndarray) -> None:
    """Raise ValueError if the rows of a group have different weights. Arrays are the least and the greatest weight."""
    different = np.flatnonzero(least != greatest)
    if different.shape[0]:
        key = keys.at(int(different[0]))
        low, high = float(least[different[0]]), float(greatest[different[0]])
        raise ValueError(
            f"group {key!r} has weights {low} and {high}: metrics of ranked lists weigh whole groups; give all rows of "
            "a group the same weight"
        )


def exchange_columns(
    key_column: Keys,
    load_rows: Callable[[int, int, np.ndarray], RowBlock],
    dtypes: Sequence[np.dtype],
    weighted: bool,
    n_threads: int,
    label_dtype: Any = np.uint8,
) -> HashExchange:
    """The hash exchange of whole columns: one label column, and score columns of these types.

    `load_rows(start, stop, labels)` checks a block and returns it; `labels` is memory for its labels.
    """
    n = key_column.rows
    exchange = HashExchange(key_column.dtype, initial_partition_bits(n))
    bounds = list(block_bounds(n))
    block_rows = min(n, BLOCK_ROWS)
    column_types: dict[str, Any] = {HASH: np.uint64, label_name(0): f"u{np.dtype(label_dtype).itemsize}"}
    column_types |= {score_name(number): f"u{dtype.itemsize}" for number, dtype in enumerate(dtypes)}
    if weighted:
        column_types[WEIGHT] = np.uint64
    column_types |= dict.fromkeys(exchange.slots, np.uint64)
    memory = {column: np.empty(n, dtype) for column, dtype in column_types.items()}
    offsets = np.empty((len(bounds), exchange.n_partitions + 1), np.int32)

    def make_worker() -> Callable[[int], None]:
        scratch = HashExchangeScratch(block_rows, key_column.dtype)
        labels = np.empty(block_rows, label_dtype)

        def add_block(number: int) -> None:
            start, stop = bounds[number]
            key_column.hash_block(start, stop, scratch.keys)

            def allocate(column: str, dtype: np.dtype, length: int) -> np.ndarray:
                if column == "offsets":
                    block_offsets: np.ndarray = offsets[number]
                    return block_offsets
                if column in memory:
                    return memory[column][start : start + length]
                return np.empty(length, dtype)

            exchange.add(load_rows(start, stop, labels), scratch, allocate)

        return add_block

    for_each(len(bounds), make_worker, n_threads if n > SERIAL_ROWS else 1)
    return exchange


class GroupTables(Protocol):
    """Makes tables of groups from partitions; one object per thread, for one layout.

    Statistics whose `table` is the same class share one pass. The object gets all of them, and its tables have the
    values that any of them reads. `ROW_BYTES` is the most working memory per row of the largest partition.
    """

    ROW_BYTES: int

    def __init__(
        self,
        statistics: Sequence[Any],
        layout: GroupLayout,
        chunks: list[tuple[int, int]],
        outputs: Sequence[Output],
        scratch: Scratch,
        key_texts: Any = None,
        only_pairs: bool = False,
    ) -> None:
        """`key_texts` has `rank_columns(columns)`: columns of keys in which texts have their ranks as numbers.

        `only_pairs`: tables of slices may count the groups of one class instead of listing them.
        """

    @staticmethod
    def values_per_output(statistics: Sequence[Any]) -> int:
        """Values that a table has for each group and each output."""
        ...

    def tables(self, start: int, stop: int, own: SliceSet | None) -> Iterator[tuple[int, int | None, Any]]:
        """(number of the output, slice of the set, table); without a set, of all rows (None).

        A table is valid until the next one.
        """
        ...

    @staticmethod
    def of_large_group(
        statistics: Sequence[Any],
        rows: BlockStore,
        keys: GroupKeys,
        outputs: Sequence[Output],
        by_slice: bool,
        n_threads: int,
        key_texts: Any = None,
    ) -> Iterator[tuple[int, int | None, Any]]:
        """The same for one group that is too large to be loaded; its rows are the single partition of the store."""
        ...
