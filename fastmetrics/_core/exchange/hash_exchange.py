"""The exchange by group: all rows of one user meet in one place.

Blocks are reordered in cache by the hash of the key, and remember where each partition begins. A partition's rows are
then the same-numbered slices of all blocks. Where partitions are larger than the cache, or blocks were spilled, a run
of neighbouring partitions is copied together and cut again by further bits of the hash (`group_runs.py`). Blocks may
come in any order, from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastmetrics._core.blocks import HEAD, TAIL, TEXT_PADDING, Block, BlockStore, Room
from fastmetrics._core.keys import Keys, KeyScratch
from fastmetrics._core.parallel import for_each
from fastmetrics._core.rows import (
    BLOCK_ROWS,
    LABEL,
    SCORE,
    SERIAL_ROWS,
    SLICE,
    WEIGHT,
    Columns,
    Scratch,
    Slab,
    View,
    addresses,
    block_bounds,
    label_name,
    score_name,
)  # fmt: skip
from fastmetrics._kernels import partition

HASH = "hash"
UNIT = "unit"  # the hash of what a row is resampled with, where that is not its group
PARTITION_ROWS = 1 << 15  # a partition's rows and its hash table fit the second-level cache
MAX_PARTITION_BITS = 9  # more, and a block's slices get shorter than a few pages; larger partitions are cut again
UNKNOWN_ROWS = 1 << 24  # what to prepare for when nobody knows how many rows will come
MAX_ROWS_IN_PARTITION = 1 << 29  # the rank table's entries have 32 bits
CHUNK_ROWS = 1 << 19  # rows whose groups one call of a kernel may write
CHUNK_BYTES = 1 << 25  # of the tables they may need

Take = Callable[[str, np.dtype, int], np.ndarray]


class GroupScratch:
    """One thread's room to reorder a block."""

    def __init__(self, block_rows: int, is_text: bool) -> None:
        self.keys = KeyScratch(block_rows, is_text)
        self.destinations = np.empty(block_rows, np.uint32)
        self.spare = Scratch()


def partition_bits(rows: int) -> int:
    """How many bits of the hash cut so many rows into partitions of about PARTITION_ROWS."""
    return (max(0, max(rows, 1) - 1) // PARTITION_ROWS).bit_length()


class GroupExchange:
    """Brings the rows of a group together.

    Partitions are numbered by the hash's first `bits` bits, from `first` on.
    """

    def __init__(
        self, is_text: bool, key_dtype: np.dtype, bits: int, room: Room | None = None, first: int = 0, last: int = 0
    ) -> None:
        self.bits = bits
        self.first = first
        self.is_text = is_text
        self.key_dtype = key_dtype
        self.room = room
        self.store = BlockStore((last or 1 << bits) - first, room)

    @property
    def n_partitions(self) -> int:
        return self.store.n_partitions

    def empty(self) -> GroupExchange:
        """One for the same keys, in memory and without rows."""
        return GroupExchange(self.is_text, self.key_dtype, self.bits)

    def add(
        self, columns: Columns, scratch: GroupScratch, take: Take | None = None, units: np.ndarray | None = None
    ) -> None:
        """Take in a block whose keys are in `scratch`; `units` are hashes of what its rows are resampled with.

        `take(column, dtype, rows)` gives memory for blocks that are held; by default it is new.
        """
        n = columns.rows
        arrays = {HASH: scratch.keys.hashes[:n]}
        if self.is_text:
            arrays |= {HEAD: scratch.keys.heads[:n], TAIL: scratch.keys.tails[:n]}
        arrays |= columns.arrays()
        if units is not None:
            arrays[UNIT] = units
        long_bytes = int(scratch.keys.long_bytes[0]) if self.is_text else 0
        self.add_arrays(arrays, long_bytes, scratch.keys.data, scratch, take)

    def add_arrays(
        self,
        arrays: dict[str, np.ndarray],
        long_bytes: int,
        data: np.ndarray,
        scratch: GroupScratch,
        take: Take | None = None,
    ) -> None:
        """As `add`, keys and columns together; `long_bytes` of long text, which stands in `data` or before padding."""
        n = arrays[HASH].shape[0]
        n_bytes = sum(array.nbytes for array in arrays.values()) + 4 * (self.n_partitions + 1) + long_bytes
        held = self.store.reserve(n_bytes)
        if not held:
            take = scratch.spare.take
        elif take is None:
            take = take_new
        block = reorder(arrays, 64 - self.bits, self.first, self.n_partitions, scratch.destinations[:n], take)
        if long_bytes:
            text = take("text", np.dtype(np.uint8), long_bytes + TEXT_PADDING)
            partition.own_long_text(block.columns[HEAD], block.columns[TAIL], data, text)
            block = block._replace(text=text)
        self.store.add(block, held)


def first_bits(expected_rows: int) -> int:
    """How many bits to begin with: memory or the spill file is visited in pieces of a few pages at least."""
    return min(MAX_PARTITION_BITS, partition_bits(expected_rows))


def take_new(column: str, dtype: np.dtype, rows: int) -> np.ndarray:
    return np.empty(rows, dtype)


def reorder(
    arrays: dict[str, np.ndarray], shift: int, first: int, n_partitions: int, destinations: np.ndarray, take: Take
) -> Block:
    """A block in the order of the partitions, (hash >> shift) - first."""
    n = destinations.shape[0]
    offsets = take("offsets", np.dtype(np.int32), n_partitions + 1)
    partition.partition_block(arrays[HASH], shift, first, offsets, destinations)
    moved = {}
    for name, values in arrays.items():
        unsigned = values.view(f"u{values.dtype.itemsize}")
        out = take(name, unsigned.dtype, n)
        partition.scatter(unsigned, destinations, out)
        moved[name] = out.view(values.dtype)
    return Block(moved, offsets)


class GroupLayout:
    """Blocks in the order of the same partitions, as kernels want them."""

    def __init__(
        self, blocks: list[Block], is_text: bool, key_dtype: np.dtype, owner: object = None
    ) -> None:
        columns = blocks[0].columns
        self.blocks = list(blocks)  # kernels read by address: an interrupted store may be closed before they end
        self.owner = owner  # only so that text lives as long as the slots that point to it
        self.is_text = is_text
        self.key_dtype = key_dtype
        labels = [name for name in columns if name.startswith(LABEL)]
        scores = [name for name in columns if name.startswith(SCORE)]
        self.n_labels = len(labels)
        self.graded = columns[labels[0]].dtype == np.float64  # all labels are float64 then; else all uint8, classes
        self.weighted = WEIGHT in columns
        empty = np.empty(0, np.uint64)
        self.hashes = self.addresses(HASH)
        self.labels = np.array([[block.columns[name].ctypes.data for block in blocks] for name in labels], np.uint64)
        self.scores = np.array([[block.columns[name].ctypes.data for block in blocks] for name in scores], np.uint64)
        self.double_scores = np.array([columns[name].dtype == np.float64 for name in scores], np.uint8)
        self.heads = self.addresses(HEAD) if is_text else empty
        self.tails = self.addresses(TAIL) if is_text else empty
        self.slices = self.addresses(SLICE) if SLICE in columns else empty
        self.weights = self.addresses(WEIGHT) if self.weighted else empty
        self.offsets = np.stack([block.offsets for block in blocks]) if len(blocks) > 1 else blocks[0].offsets[None]
        self.n_partitions = self.offsets.shape[1] - 1
        self.partition_rows = (self.offsets[:, 1:] - self.offsets[:, :-1]).sum(0, dtype=np.int64)
        largest = int(self.partition_rows.max())
        if largest >= MAX_ROWS_IN_PARTITION:
            raise OverflowError(f"{largest} rows fall into one partition; at most 2**29 - 1 can be grouped in memory")

    def addresses(self, name: str) -> np.ndarray:
        return addresses([block.columns[name] for block in self.blocks])

    def chunks(self, n_values: int, table_bytes: int = CHUNK_BYTES) -> list[tuple[int, int]]:
        """Runs of partitions for one call of a kernel each: the tables, of so many values a group, take memory too."""
        rows = int(self.partition_rows.sum())
        group_bytes = 8 * (1 + 2 * self.is_text + 2 * self.n_labels + n_values)
        n_chunks = max(1, min(self.n_partitions, -(-rows // min(CHUNK_ROWS, max(1, table_bytes // group_bytes)))))
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

    def take(self, order: np.ndarray) -> GroupKeys:
        if self.dtype.kind == "O":
            return GroupKeys(self.hashes[order], self.heads[order], self.tails[order], self.dtype)
        return GroupKeys(self.hashes[order], self.heads, self.tails, self.dtype)

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


def check_group_weights(keys: GroupKeys, least: np.ndarray, greatest: np.ndarray) -> None:
    """Where a weight is that of a group, all of its rows have to have it: what they have at least and at most."""
    several = np.flatnonzero(least != greatest)
    if several.shape[0]:
        (key,) = keys.at(int(several[0])).tolist()
        low, high = float(least[several[0]]), float(greatest[several[0]])
        raise ValueError(
            f"group {key!r} has weights {low} and {high}: metrics of ranked lists weigh whole groups; give all rows of "
            "a group the same weight"
        )


def exchange_columns(
    key_column: Keys,
    load_rows: Callable[[int, int, np.ndarray], Columns],
    dtypes: Sequence[np.dtype],
    weighted: bool,
    n_threads: int,
    label_dtype: Any = np.uint8,
) -> GroupExchange:
    """A group exchange of whole columns: one label, and scores of these types.

    `load_rows(start, stop, labels)` checks and gives a block; labels is room for its labels.
    """
    n = key_column.rows
    exchange = GroupExchange(key_column.is_text, key_column.dtype, first_bits(n))
    bounds = list(block_bounds(n))
    block_rows = min(n, BLOCK_ROWS)
    types: dict[str, Any] = {HASH: np.uint64, label_name(0): f"u{np.dtype(label_dtype).itemsize}"}
    types |= {score_name(number): f"u{dtype.itemsize}" for number, dtype in enumerate(dtypes)}
    if weighted:
        types[WEIGHT] = np.uint64
    if key_column.is_text:
        types |= {HEAD: np.uint64, TAIL: np.uint64}
    memory = {column: np.empty(n, kind) for column, kind in types.items()}
    offsets = np.empty((len(bounds), exchange.n_partitions + 1), np.int32)

    def make_worker() -> Callable[[int], None]:
        scratch = GroupScratch(block_rows, key_column.is_text)
        labels = np.empty(block_rows, label_dtype)

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
    """One thread's way from partitions to tables of groups: made for a layout, asked for runs of its partitions.

    Statistics whose `table` is the same class share one pass: it is told of all of them, and its tables have what each
    of them looks at. `ROW_BYTES` is the working memory for a row of the largest partition, at the worst.
    """

    ROW_BYTES: int

    def __init__(
        self,
        statistics: Sequence[Any],
        layout: GroupLayout,
        chunks: list[tuple[int, int]],
        views: Sequence[View],
        scratch: Scratch,
    ) -> None: ...

    @staticmethod
    def values_per_view(statistics: Sequence[Any]) -> int:
        """How many numbers a table has of every group, for each view."""
        ...

    def tables(self, start: int, stop: int, by_slice: bool) -> Iterator[tuple[int, int | None, Any]]:
        """(number of the view, slice or None for groups of all rows, table), each good until the next."""
        ...

    @staticmethod
    def of_giant(
        statistics: Sequence[Any],
        rows: BlockStore,
        keys: GroupKeys,
        views: Sequence[View],
        by_slice: bool,
        n_threads: int,
    ) -> Iterator[tuple[int, int | None, Any]]:
        """The same of one group that is too large to be loaded; its rows are the store's single partition."""
        ...


class SlabTaker:
    """Memory for blocks that stay, in large pieces; one thread's own."""

    def __init__(self, block_rows: int, slab_blocks: int) -> None:
        self.block_rows = block_rows
        self.slab_blocks = slab_blocks
        self.slabs: dict[tuple[str, np.dtype], Slab] = {}

    def take(self, column: str, dtype: np.dtype, rows: int) -> np.ndarray:
        key = (column, dtype)
        slab = self.slabs.get(key)
        if slab is None or not slab.has(rows):
            slab = self.slabs[key] = Slab(dtype, max(rows, self.slab_blocks * self.block_rows))
        return slab.take(rows)


