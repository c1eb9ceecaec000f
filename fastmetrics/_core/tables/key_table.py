"""The table state: keys of any type, and integers counted for each of them. Exact, mergeable, spilled where it must be.

Keys are those of the hash exchange: integers, and texts that are compared byte by byte. The counts are in hash tables
(`_kernels/exchange/key_counts.pyx`), cut into shards by the first bits of the keys' places: hashes that depend on the
seeds of the process. A shard grows while the memory budget allows it. Then it is written to the spill file as a run,
sorted by further bits of the place, and filled again. So a table is exact for any number of keys, and the memory limit
bounds what is in memory.

A spilled table is read one part after the other. A part is a range of the partitions of one shard: it is read from all
runs into a table of its own, which uses further bits, and spills in turn if it does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from fastmetrics._core.columns.key_columns import Keys, KeyScratch, NumberKeys, TextKeys, TupleKeys, place_rows
from fastmetrics._core.columns.key_types import parts_of, slots_of
from fastmetrics._core.columns.row_blocks import choose_thread_count
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.spill import SpillFile
from fastmetrics._core.parallel import accumulate, for_each
from fastmetrics._core.state import State, check_state
from fastmetrics._core.tables.key_entries import NO_TEXT, NO_WORDS, KeyCounts, Run, is_long, long_bytes
from fastmetrics._core.tables.stored_keys import (
    check_texts,
    name_of,
    numbers_of_words,
    stored_type,
    type_from_array,
    type_to_array,
)
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics._kernels.exchange.key_counts import N_PARTITIONS, N_SHARDS, SHARD_BITS, KeyHashTable

LEVEL_BITS = 9  # of the place: those of a shard, and of a partition
LAST_LEVEL = 5  # the next one would need more than 64 bits
BLOCK_ROWS = 1 << 14  # hashed at a time: they stay in the first caches
TASK_ROWS = 1 << 18  # of a thread; of the first of them,
FEW_KEYS = 0.25  # so many are different keys, or the further rows are ordered by shard,
ORDERED_ROWS = 1 << 22  # at most so many at a time
SMALL_SHARD = 64  # keys for which a shard gets memory in any case
PART_DIVISOR = 8  # a part may take this many times what a thread loads at once; threads have half of the limit
ENTRY_OVERHEAD = 16  # the slots of an entry

Result = TypeVar("Result")


class RowsByShard:
    """Rows in blocks, each in the order of the shards of the rows' keys."""

    def __init__(self, keys: Keys, counts: np.ndarray | None) -> None:
        self.keys = keys
        self.counts = counts
        rows = min(keys.rows, ORDERED_ROWS)
        self.words = [np.empty(rows, np.uint64) for _ in range(1 + len(slots_of(keys.dtype)))]
        self.moved_counts = None if counts is None else np.empty((rows, counts.shape[1]), np.int64)
        self.bounds: list[np.ndarray] = []
        self.scratch: list[KeyScratch] = []

    def fill(self, rows: range, n_threads: int) -> None:
        """Order other rows, which replace those before."""
        starts = rows[::TASK_ROWS]
        self.bounds = [np.empty(N_SHARDS + 1, np.int32) for _ in starts]
        self.scratch = []

        def make_worker() -> Callable[[int], None]:
            scratch = KeyScratch(min(TASK_ROWS, len(rows)), self.keys.dtype)
            destinations = np.empty(scratch.hashes.shape[0], np.uint32)

            def order(number: int) -> None:
                own = scratch
                if len(self.words) == 3 and not isinstance(self.keys, TextKeys):
                    # The texts are in the scratch memory, where the next block would overwrite them.
                    own = KeyScratch(destinations.shape[0], self.keys.dtype)
                    self.scratch.append(own)
                first = starts[number]
                self.order(number, range(first, min(rows.stop, first + TASK_ROWS)), rows.start, own, destinations)

            return order

        for_each(len(starts), make_worker, n_threads)

    def order(self, number: int, block: range, first: int, scratch: KeyScratch, destinations: np.ndarray) -> None:
        """Order one block; `first` is the first of all rows at hand."""
        self.keys.hash_block(block.start, block.stop, scratch)
        destinations = destinations[: len(block)]
        words = [column[: len(block)] for column in (scratch.hashes, scratch.heads, scratch.tails)]
        places = place_rows(*words)
        hash_partition.partition_block(places, 64 - SHARD_BITS, 0, self.bounds[number], destinations)
        where = slice(block.start - first, block.stop - first)
        for column, out in zip(words, self.words, strict=False):
            hash_partition.scatter(column, destinations, out[where])
        if self.counts is not None and self.moved_counts is not None:
            self.moved_counts[where][destinations] = self.counts[block.start : block.stop]

    def segments(self, shard: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]]:
        """(hashes, heads, tails, counts) of the rows of one shard, block by block."""
        hashes, heads, tails = (*self.words, NO_WORDS, NO_WORDS)[:3]
        for block, bounds in enumerate(self.bounds):
            start, stop = (bounds[shard : shard + 2] + block * TASK_ROWS).tolist()
            if start < stop:
                counts = None if self.moved_counts is None else self.moved_counts[start:stop]
                yield hashes[start:stop], heads[start:stop], tails[start:stop], counts


class KeyTable(State):
    """Counts of keys. The keys of one table are all signed integers, all unsigned integers, or all texts.

    Parameters
    ----------
    n_counts : int
        How many integers are counted for each key.
    budget : MemoryBudget or None
        What the table may take. None: any number of bytes.
    level : int
        0: the first bits of the places select shards and partitions. Parts of a spilled table have higher levels:
        further bits.

    Notes
    -----
    An error of `add` or `merge` leaves a table that has some of the rows. Several threads need a table each.
    """

    __slots__ = ("budget", "counter", "dtype", "file", "level", "lock", "n_counts", "reserved_bytes", "runs")

    def __init__(self, n_counts: int = 1, budget: MemoryBudget | None = None, level: int = 0) -> None:
        self.n_counts = n_counts
        self.budget = budget
        self.level = level
        self.dtype: np.dtype | None = None
        self.counter: KeyHashTable | None = None
        self.runs: list[list[Run]] = [[] for _ in range(N_SHARDS)]
        self.file: SpillFile | None = None
        self.reserved_bytes = 0
        self.lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_table, (self.n_counts, *self.arrays())

    @property
    def n_bytes(self) -> int:
        """Bytes in memory."""
        return self.counter.n_bytes if self.counter is not None else 0

    @property
    def spilled(self) -> bool:
        return any(self.runs)

    def limit_memory(self, budget: MemoryBudget | None) -> None:
        """Count the table against a budget; what does not fit is spilled."""
        self.budget = budget

    def close(self) -> None:
        """Remove all keys, and free their memory and their part of the budget."""
        self.counter = None
        self.runs = [[] for _ in range(N_SHARDS)]
        if self.budget is not None:
            self.budget.release(self.reserved_bytes)
        self.reserved_bytes = 0
        if self.level and self.file is not None:
            self.file.close()
        self.file = None
        self.dtype = None

    # ---------------------------------------------------------------------------------------------- adding

    def add(self, keys: Keys, counts: np.ndarray | None = None, n_threads: int = 1) -> None:
        """Add rows: to the counts of each row's key its own counts, int64[rows, n_counts], or one each."""
        checked = None if counts is None else check_counts(counts, keys.rows, self.n_counts)
        counter = self.open_counter(stored_type(keys.dtype))
        first = range(min(TASK_ROWS, keys.rows))
        self.add_block(counter, keys, checked, first)
        if len(first) == keys.rows:
            return
        rest = range(len(first), keys.rows)
        if not self.level and (self.spilled or counter.total_size > len(first) * FEW_KEYS):
            self.add_in_order(counter, keys, checked, rest, n_threads)
        else:
            self.add_in_threads(keys, checked, rest, n_threads)

    def add_block(self, counter: KeyHashTable, keys: Keys, counts: np.ndarray | None, rows: range) -> None:
        """Add some rows in their order."""
        scratch = KeyScratch(min(BLOCK_ROWS, len(rows)), keys.dtype)
        for start in rows[::BLOCK_ROWS]:
            stop = min(rows.stop, start + BLOCK_ROWS)
            keys.hash_block(start, stop, scratch)
            hashes, heads, tails = (words[: stop - start] for words in (scratch.hashes, scratch.heads, scratch.tails))
            self.add_words(counter, hashes, heads, tails, None if counts is None else counts[start:stop])

    def add_in_threads(self, keys: Keys, counts: np.ndarray | None, rows: range, n_threads: int) -> None:
        """Add rows to a table for each thread, and merge these: keys that occur often stay in caches."""
        starts = rows[::TASK_ROWS]

        def add_task(table: KeyTable, task: int) -> None:
            block = range(starts[task], min(rows.stop, starts[task] + TASK_ROWS))
            table.add_block(table.open_counter(stored_type(keys.dtype)), keys, counts, block)

        def make_table() -> KeyTable:
            return self if n_threads == 1 else KeyTable(self.n_counts, self.budget, self.level)

        for table in accumulate(len(starts), make_table, add_task, n_threads):
            if table is not self:
                self.merge(table, n_threads)
                table.close()

    def add_in_order(
        self, counter: KeyHashTable, keys: Keys, counts: np.ndarray | None, rows: range, n_threads: int
    ) -> None:
        """Add rows ordered by shard: each thread uses one at a time, which stays in its caches."""
        ordered = RowsByShard(keys, counts)
        for start in rows[::ORDERED_ROWS]:
            ordered.fill(range(start, min(rows.stop, start + ORDERED_ROWS)), n_threads)
            for_each(N_SHARDS, lambda: lambda shard: self.add_ordered(counter, ordered, shard), n_threads)

    def add_ordered(self, counter: KeyHashTable, ordered: RowsByShard, shard: int) -> None:
        """Add the rows of one shard."""
        for segment in ordered.segments(shard):
            self.add_words(counter, *segment)

    def add_words(
        self, counter: KeyHashTable, hashes: np.ndarray, heads: np.ndarray, tails: np.ndarray, counts: np.ndarray | None
    ) -> None:
        """Add rows whose keys are hashes and text slots."""
        row, shard = counter.add_rows(hashes, heads, tails, counts, 0)
        while shard >= 0:
            self.enlarge(shard, long_bytes(heads, row) if counter.has_text else 0)
            row, shard = counter.add_rows(hashes, heads, tails, counts, row)

    def add_entries(self, entries: np.ndarray, text: np.ndarray, dtype: np.dtype) -> None:
        """Add keys and counts as another table stores them."""
        counter = self.open_counter(dtype)
        row, shard = counter.add_entries(entries, text, 0)
        while shard >= 0:
            self.enlarge(shard, long_bytes(entries[:, 1], row) if counter.has_text else 0)
            row, shard = counter.add_entries(entries, text, row)

    def merge(self, other: KeyTable, n_threads: int = 1) -> None:
        """Add the counts of another table, which may be this one."""
        if self.n_counts != other.n_counts:
            raise ValueError(f"tables of {self.n_counts} and of {other.n_counts} counts cannot be merged")
        if other.dtype is None or other.counter is None:
            return
        counter, added = self.open_counter(other.dtype), other.counter

        def add_shard(number: int) -> None:
            row, shard = counter.add_shard(added, number, 0)
            while shard >= 0:
                self.enlarge(shard, added.long_bytes(number, row))
                row, shard = counter.add_shard(added, number, row)

        for runs, other_runs in zip(self.runs, other.runs, strict=True):
            runs += list(other_runs)
        for_each(N_SHARDS, lambda: add_shard, n_threads)

    def open_counter(self, dtype: np.dtype) -> KeyHashTable:
        """The counter, made for the first keys; further keys have to be of the same kind."""
        if self.counter is None:
            self.dtype = dtype
            self.counter = KeyHashTable(self.n_counts, 1 + len(slots_of(dtype)), LEVEL_BITS * self.level)
        if self.dtype is None or self.dtype != dtype:
            raise ValueError(
                f"the keys of one table must be of one type; found {name_of(self.dtype)} and {name_of(dtype)}"
            )
        return self.counter

    # ---------------------------------------------------------------------------------------------- memory

    def enlarge(self, number: int, text_bytes: int) -> None:
        """Let a shard take a key with so many bytes of long text: give it more memory, or write it to disk."""
        counter = self.counter
        if counter is None:
            raise ValueError("the table is closed")
        is_small = counter.capacity(number) < SMALL_SHARD or counter.size(number) == 0
        if self.try_reserve(counter.growth_bytes(number, text_bytes)) or is_small:
            counter.grow(number, text_bytes)
        else:
            self.spill(number, keep_memory=True)

    def try_reserve(self, n_bytes: int) -> bool:
        """Reserve memory to grow by so many bytes; return whether the budget allows it."""
        if self.budget is None or self.level >= LAST_LEVEL:
            return True
        total = self.n_bytes + n_bytes
        if self.level:
            return total <= PART_DIVISOR // 2 * self.budget.bytes_per_range
        # A thread's table takes no more than its share, so that those of other threads need not be small.
        if not self.budget.has_space_for(total * self.budget.n_threads) or not self.budget.try_reserve(n_bytes):
            return False
        with self.lock:
            self.reserved_bytes += n_bytes
        return True

    def spill(self, number: int, keep_memory: bool) -> None:
        """Write a shard to the spill file, and empty it."""
        counter = self.counter
        if counter is None or not counter.size(number):
            return
        bounds = np.empty((2, N_PARTITIONS + 1), np.int64)
        entries = np.empty((counter.size(number), counter.n_words), np.uint64)
        text = np.empty(counter.text_size(number), np.uint8)
        counter.sort_shard(number, bounds, entries, text)
        file = self.open_file()
        position = file.append([bounds, entries, text])
        self.runs[number].append(Run(file, position, entries.shape[0], entries.shape[1]))
        counter.empty(number, keep_memory)

    def open_file(self) -> SpillFile:
        """The spill file: that of the budget, which all tables share, or one of its own for a part."""
        with self.lock:
            if self.file is None:
                if self.budget is None or self.level:
                    self.file = SpillFile(None if self.budget is None else self.budget.folder)
                else:
                    self.file = self.budget.spill_file
            return self.file

    # ---------------------------------------------------------------------------------------------- reading

    def __len__(self) -> int:
        """The number of different keys."""
        if self.counter is None:
            return 0
        return sum(self.map_parts(lambda part: part.rows)) if self.spilled else self.counter.total_size

    def parts(self) -> Iterator[KeyCounts]:
        """All keys and counts, a part at a time: each key is in one of them."""
        for task in self.tasks():
            yield from self.read(task)

    def map_parts(self, function: Callable[[KeyCounts], Result], n_threads: int = 1) -> list[Result]:
        """The results of a function for all parts. Threads read different parts."""
        tasks = self.tasks()
        results = for_each(
            len(tasks), lambda: lambda number: [function(part) for part in self.read(tasks[number])], n_threads
        )
        return [result for of_task in results for result in of_task]

    def count_values(self, index: int = 0, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The different values of a count, and how many keys have each: int64 arrays, by rising value."""
        found = self.map_parts(lambda part: np.unique(part.counts()[:, index], return_counts=True), n_threads)
        values, positions = np.unique(
            np.concatenate([np.empty(0, np.int64), *(own for own, _ in found)]), return_inverse=True
        )
        n_keys = np.zeros(values.shape[0], np.int64)
        np.add.at(n_keys, positions, np.concatenate([np.empty(0, np.int64), *(own for _, own in found)]))
        return values, n_keys

    def keys(self) -> np.ndarray:
        """All keys, in the order of `counts`, which depends on the keys alone."""
        return self.all_counts().keys() if self.counter is not None else np.empty(0, np.int64)

    def counts(self) -> np.ndarray:
        """The counts of all keys: int64[n_keys, n_counts]."""
        return self.all_counts().counts() if self.counter is not None else np.empty((0, self.n_counts), np.int64)

    def all_counts(self) -> KeyCounts:
        """All keys and counts in memory, in an order that depends on the keys alone."""
        if self.counter is None or self.dtype is None:
            raise ValueError("the table has no keys")
        entries, texts = [np.empty((0, self.counter.n_words), np.uint64)], [NO_TEXT]
        n_text = 0
        for part in self.parts():
            if n_text:
                part.entries[is_long(part.entries[:, 1]), 2] += np.uint64(n_text)
            entries.append(part.entries)
            texts.append(part.text)
            n_text += part.text.shape[0]
        return KeyCounts(np.concatenate(entries), np.concatenate(texts), self.dtype, self.n_counts).in_order()

    def tasks(self) -> list[tuple[int, int, int]]:
        """(shard, first partition, end) of the ranges of partitions that are read at a time.

        Of a table in memory these are whole shards. Of a spilled table what is in memory is written to disk, too.
        """
        counter = self.counter
        if counter is None:
            return []
        if not self.spilled:
            return [(number, 0, N_PARTITIONS) for number in range(N_SHARDS) if counter.size(number)]
        for number in range(N_SHARDS):
            self.spill(number, keep_memory=False)
        if self.budget is not None:
            self.budget.release(self.reserved_bytes)
        self.reserved_bytes = 0
        max_rows = self.part_bytes() // (2 * (8 * counter.n_words + ENTRY_OVERHEAD))
        tasks = []
        for number, runs in enumerate(self.runs):
            rows, texts = sum((run.bounds() for run in runs), np.zeros((2, N_PARTITIONS + 1), np.int64))
            sizes = rows + texts // (8 * counter.n_words)
            start = 0
            while start < N_PARTITIONS and runs:
                stop = max(start + 1, int(np.searchsorted(sizes, sizes[start] + max_rows, "right")) - 1)
                tasks.append((number, start, stop))
                start = stop
        return tasks

    def part_bytes(self) -> int:
        """What a part may take in memory."""
        return 1 << 26 if self.budget is None else PART_DIVISOR // 2 * self.budget.bytes_per_range

    def read(self, task: tuple[int, int, int]) -> Iterator[KeyCounts]:
        """The keys and counts of one task."""
        number, start, stop = task
        if self.counter is None or self.dtype is None:
            raise ValueError("the table is closed")
        if not self.spilled:
            yield KeyCounts(self.counter.entries(number), self.counter.text(number), self.dtype, self.n_counts)
            return
        part = KeyTable(self.n_counts, self.budget, self.level + 1)
        try:
            for run in self.runs[number]:
                part.add_entries(*run.load(start, stop), self.dtype)
            yield from part.parts()
        finally:
            part.close()

    # ---------------------------------------------------------------------------------------------- bytes

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The type of the keys; their numbers, or texts and offsets; and counts. Equal tables have equal arrays."""
        numbers, offsets = np.empty((0, 0), np.int64), np.empty(0, np.int64)
        if self.dtype is None:
            return NO_TEXT, numbers, NO_TEXT, offsets, np.empty((0, self.n_counts), np.int64)
        found = self.all_counts()
        text = NO_TEXT
        if len(slots_of(self.dtype)) == 2:
            texts = found.texts()
            offsets = np.zeros(len(texts) + 1, np.int64)
            np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
            text = np.frombuffer(b"".join(texts), np.uint8)
        else:
            hashes, heads, _ = found.words()
            numbers = numbers_of_words(hashes, heads)
        return type_to_array(self.dtype), numbers, text, offsets, np.ascontiguousarray(found.counts())

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        return (
            (np.uint8, None), (np.int64, None, None), (np.uint8, None), (np.int64, None),
            (np.int64, None, self.n_counts),
        )  # fmt: skip

    def load_arrays(self, *arrays: np.ndarray) -> None:
        kind, numbers, text, offsets, counts = map(np.ascontiguousarray, arrays)
        check_state((counts >= 0).all(), "a count is negative")
        if not kind.shape[0]:
            check_state(not any(array.shape[0] for array in (numbers, text, offsets, counts)), "its keys have no type")
            return
        dtype = type_from_array(kind)
        is_text = len(slots_of(dtype)) == 2
        others = numbers.shape[0] if is_text else text.shape[0] or offsets.shape[0]
        check_state(not others, "its keys have another type")
        rows = offsets.shape[0] - 1 if is_text else numbers.shape[0]
        check_state(rows == counts.shape[0], "its keys and counts differ in number")
        if is_text:
            check_texts(text, offsets, dtype)
            keys: Keys = TextKeys(text, offsets, dtype)
        else:
            parts = parts_of(dtype)
            check_state(numbers.shape[1] == len(parts), "its keys have another type")
            columns = [NumberKeys(np.ascontiguousarray(own), part) for own, part in zip(numbers.T, parts, strict=True)]
            keys = columns[0] if len(parts) == 1 else TupleKeys(columns, dtype)
        self.add(keys, counts)
        check_state(len(self) == rows, "a key is there twice")


def count_keys(
    keys: Keys, counts: np.ndarray | None = None, *, n_counts: int = 1, n_threads: int | None = None,
    budget: MemoryBudget | None = None,
) -> KeyTable:  # fmt: skip
    """The table of whole columns."""
    table = KeyTable(n_counts, budget)
    table.add(keys, counts, choose_thread_count(keys.rows, n_threads))
    return table


def restore_table(n_counts: int, *arrays: np.ndarray) -> KeyTable:
    """Unpickle a table."""
    table = KeyTable(n_counts)
    table.load_arrays(*arrays)
    return table


def check_counts(counts: np.ndarray, rows: int, n_counts: int) -> np.ndarray:
    """Counts as int64[rows, n_counts]; one count for each row may be a column."""
    shapes = ((rows, n_counts), (rows,)) if n_counts == 1 else ((rows, n_counts),)
    if counts.dtype != np.int64 or counts.shape not in shapes:
        raise ValueError(f"counts must be int64 of shape ({rows}, {n_counts}); found {counts.dtype} {counts.shape}")
    checked = np.ascontiguousarray(counts).reshape(rows, n_counts)
    if rows and checked.min() < 0:
        raise ValueError("counts must not be negative")
    return checked
