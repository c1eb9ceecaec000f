"""Count keys in hash tables that grow: the memory of a key table (`_core/tables/key_table.py`).

A key has one word, the hash of a number, a bijection; two words if it is a pair of numbers (see tuple_keys.pyx); or
three: the hash of a text, and its slot (see hash_partition.pyx). The place of a key is a hash of the whole key that
depends on the seeds of the process (table_hash.h), so that nobody can prepare keys that share a place. Its first bits,
after `first_bit` others, select one of N_SHARDS shards. A shard stores an entry for each of its keys: the words of the
key, then its counts. The tail of a long text is its position in the shard's text.

Slots (32 bits: entry number + 1, 0 is free) find an entry by open addressing with linear probing. There is a power of
two of them, and at most a quarter are in use. Probing starts at the slot that the next bits of the place select. The
slots of a batch of rows are prefetched, then their entries.

Counts are int64 and never negative. Memory grows only between two calls of the loops, and only where the caller asks:
it may empty the shard instead. An object must not be used by two threads at once, except for different shards.
"""

from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from fastmetrics._kernels.columns.growing_memory cimport reallocate
from fastmetrics._kernels.exchange.key_shards cimport (
    KEY_SHARD_BITS, PARTITION_BITS, SLOT_BITS, SLOTS_PER_ENTRY, KeyRows, Shard, add_row, first_slot, is_long,
    partition_number, place_entry, place_row, shard_number, text_length,
)
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define FM_PREFETCH(address) __builtin_prefetch(address)
    #else
    #define FM_PREFETCH(address) ((void)(address))
    #endif
    """
    void prefetch "FM_PREFETCH"(const void* address) noexcept nogil

cdef enum:
    PREFETCHED_ROWS = 64         # rows whose slots and entries are fetched at once
    MIN_ENTRIES = 4
    FAST_GROWTH_ENTRIES = 4096   # below, a shard becomes four times as large, then twice
    MIN_TEXT = 256

cdef int64_t MAX_ENTRIES = 0x7FFFFFFF

SHARD_BITS = KEY_SHARD_BITS
N_SHARDS = 1 << KEY_SHARD_BITS
N_PARTITIONS = 1 << PARTITION_BITS  # of a shard that is written to disk


cdef void insert_again(Shard* shard, Py_ssize_t n_words, int key_words, int first_bit) noexcept nogil:
    """Fill empty slots with the numbers of all entries."""
    cdef uint64_t mask = SLOTS_PER_ENTRY * <uint64_t>shard.capacity - 1
    cdef const uint64_t* entry
    cdef uint64_t slot
    cdef int64_t i
    for i in range(shard.size):
        entry = shard.entries + i * n_words
        slot = first_slot(shard, place_entry(shard, entry, key_words, first_bit))
        while shard.slots[slot]:
            slot = (slot + 1) & mask
        shard.slots[slot] = <uint32_t>(i + 1)


cdef bint texts_fit(const uint64_t* entries, Py_ssize_t n, Py_ssize_t n_words, Py_ssize_t n_bytes) noexcept nogil:
    """Are the long texts of n entries in so many bytes of text?"""
    cdef Py_ssize_t i
    cdef bint found = True
    cdef const uint64_t* entry
    for i in range(n):
        entry = entries + i * n_words
        if is_long(entry[1]):
            found &= entry[2] <= <uint64_t>n_bytes and text_length(entry[1]) <= n_bytes - <int64_t>entry[2]
    return found


cdef class KeyHashTable:
    """Counts of keys, in N_SHARDS shards.

    A key has `key_words` words and `n_counts` counts.
    """

    cdef Shard shards[1 << KEY_SHARD_BITS]
    cdef uint32_t no_slots[1 << SLOT_BITS]
    cdef int first_bit
    cdef readonly int key_words
    cdef readonly bint has_text
    cdef readonly Py_ssize_t n_counts
    cdef readonly Py_ssize_t n_words

    def __cinit__(self, Py_ssize_t n_counts, int key_words, int first_bit=0):
        cdef int number
        if n_counts < 1 or not 1 <= key_words <= 3 or not 0 <= first_bit < 64:
            raise ValueError("n_counts must be at least 1, key_words 1 to 3, and first_bit one of the bits of a hash")
        self.n_counts = n_counts
        self.key_words = key_words
        self.has_text = key_words == 3
        self.n_words = n_counts + key_words
        self.first_bit = first_bit
        memset(self.shards, 0, sizeof(self.shards))
        memset(self.no_slots, 0, sizeof(self.no_slots))
        for number in range(1 << KEY_SHARD_BITS):
            self.forget(&self.shards[number])

    def __dealloc__(self):
        cdef int number
        for number in range(1 << KEY_SHARD_BITS):
            self.free_memory(&self.shards[number])

    cdef void forget(self, Shard* shard) noexcept:
        """An empty shard without memory. All keys find the free slot of `no_slots`, and a full shard."""
        memset(shard, 0, sizeof(Shard))
        shard.slots = self.no_slots
        shard.slot_shift = 64 - SLOT_BITS

    cdef void free_memory(self, Shard* shard) noexcept:
        if shard.slots != self.no_slots:
            free(shard.slots)
        free(shard.entries)
        free(shard.text)

    cdef int number_of_row(self, const KeyRows* rows, Py_ssize_t row) noexcept:
        return shard_number(place_row(rows, row, self.key_words, self.first_bit))

    cdef Shard* shard_at(self, int number) except NULL:
        if not 0 <= number < 1 << KEY_SHARD_BITS:
            raise IndexError("there is no such shard")
        return &self.shards[number]

    def size(self, int number) -> int:
        """The number of keys in a shard."""
        return self.shard_at(number).size

    def text_size(self, int number) -> int:
        """The bytes of the long texts in a shard."""
        return self.shard_at(number).text_size

    def long_bytes(self, int number, Py_ssize_t entry) -> int:
        """The bytes that the key of an entry has in the shard's text."""
        cdef Shard* shard = self.shard_at(number)
        if not 0 <= entry < shard.size:
            raise IndexError("there is no such entry")
        cdef uint64_t head = shard.entries[entry * self.n_words + 1] if self.has_text else 0
        return text_length(head) if is_long(head) else 0

    def capacity(self, int number) -> int:
        """The number of keys for which a shard has memory."""
        return self.shard_at(number).capacity

    @property
    def total_size(self) -> int:
        """The number of keys in all shards."""
        return sum(self.shards[number].size for number in range(1 << KEY_SHARD_BITS))

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that all shards have."""
        cdef int64_t total = 0
        cdef int number
        for number in range(1 << KEY_SHARD_BITS):
            total += self.shards[number].capacity * self.entry_bytes() + self.shards[number].text_capacity
        return total

    cdef int64_t entry_bytes(self) noexcept:
        """Bytes of an entry and of its slots."""
        return 8 * self.n_words + SLOTS_PER_ENTRY * sizeof(uint32_t)

    # ---------------------------------------------------------------------------------------------- memory

    cdef int64_t next_capacity(self, Shard* shard) noexcept:
        if shard.size < shard.capacity:
            return shard.capacity
        return max(MIN_ENTRIES, shard.capacity * (4 if shard.capacity < FAST_GROWTH_ENTRIES else 2))

    cdef int64_t next_text_capacity(self, Shard* shard, int64_t n_bytes) noexcept:
        cdef int64_t needed = shard.text_size + n_bytes
        return shard.text_capacity if needed <= shard.text_capacity else max(MIN_TEXT, needed + needed // 2)

    def growth_bytes(self, int number, int64_t text_bytes=0) -> int:
        """The bytes that `grow` adds."""
        cdef Shard* shard = self.shard_at(number)
        return (
            (self.next_capacity(shard) - shard.capacity) * self.entry_bytes()
            + self.next_text_capacity(shard, text_bytes) - shard.text_capacity
        )

    def grow(self, int number, int64_t text_bytes=0):
        """Give a shard memory for one key more, which has so many bytes of long text."""
        cdef Shard* shard = self.shard_at(number)
        cdef int64_t capacity = self.next_capacity(shard)
        cdef int64_t text_capacity = self.next_text_capacity(shard, text_bytes)
        cdef uint32_t* slots
        if text_bytes < 0 or capacity > MAX_ENTRIES:
            raise OverflowError("a table of keys has more than 2**31 - 1 keys in one shard")
        if text_capacity > shard.text_capacity:
            shard.text = <uint8_t*>reallocate(shard.text, <size_t>text_capacity)
            shard.text_capacity = text_capacity
        if capacity == shard.capacity:
            return
        shard.entries = <uint64_t*>reallocate(shard.entries, <size_t>(capacity * self.n_words) * sizeof(uint64_t))
        slots = <uint32_t*>calloc(SLOTS_PER_ENTRY * <size_t>capacity, sizeof(uint32_t))
        if slots == NULL:
            raise MemoryError
        if shard.slots != self.no_slots:
            free(shard.slots)
        shard.slots = slots
        shard.capacity = capacity
        shard.slot_shift = 64 - SLOT_BITS
        while capacity > 1:
            capacity >>= 1
            shard.slot_shift -= 1
        with nogil:
            insert_again(shard, self.n_words, self.key_words, self.first_bit)

    def empty(self, int number, bint keep_memory):
        """Remove all keys of a shard, and its memory unless that is kept."""
        cdef Shard* shard = self.shard_at(number)
        if not keep_memory:
            self.free_memory(shard)
            self.forget(shard)
        elif shard.capacity:
            memset(shard.slots, 0, SLOTS_PER_ENTRY * <size_t>shard.capacity * sizeof(uint32_t))
            shard.size = 0
            shard.text_size = 0

    # ---------------------------------------------------------------------------------------------- adding

    cdef Py_ssize_t add_until_full(self, const KeyRows* rows, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        """Add rows until a shard is full or a count overflows. Returns the first row that was not added."""
        # Constants make a loop without branches for what a table does not have.
        if self.key_words == 3:
            return add_loop(self, rows, start, stop, 3, self.n_counts)
        if self.key_words == 2:
            return add_loop(self, rows, start, stop, 2, self.n_counts)
        if self.n_counts > 1:
            return add_loop(self, rows, start, stop, 1, self.n_counts)
        return add_loop(self, rows, start, stop, 1, 1)

    cdef tuple add_from(self, const KeyRows* rows, Py_ssize_t start, Py_ssize_t stop):
        """Add rows as `add_rows` says."""
        cdef int number = -1
        with nogil:
            start = self.add_until_full(rows, start, stop)
        if start < stop:
            number = self.number_of_row(rows, start)
            if self.shards[number].overflowed:
                self.shards[number].overflowed = False
                raise OverflowError("a count of a key is more than 2**63 - 1")
        return start, number

    def add_rows(
        self, const uint64_t[::1] hashes, const uint64_t[::1] heads, const uint64_t[::1] tails,
        const int64_t[:, ::1] counts or None, Py_ssize_t start
    ) -> tuple[int, int]:
        """Add the rows from `start` on, with their counts or one each, until a shard is full.

        Returns the first row that was not added and the number of its shard, which is -1 if all rows were added. heads
        are empty for keys of one word, tails for those of two.
        """
        cdef KeyRows rows
        cdef Py_ssize_t stop = hashes.shape[0]
        if heads.shape[0] != (stop if self.key_words > 1 else 0) or tails.shape[0] != (stop if self.has_text else 0):
            raise ValueError("hashes, heads and tails must have one length")
        if counts is not None and (counts.shape[0] != stop or counts.shape[1] != self.n_counts):
            raise ValueError("each row must have n_counts counts")
        if not 0 <= start < stop:
            return stop, -1
        rows.hashes = &hashes[0]
        rows.heads = &heads[0] if self.key_words > 1 else NULL
        rows.tails = &tails[0] if self.has_text else NULL
        rows.counts = &counts[0, 0] if counts is not None else NULL
        rows.text = 0
        rows.stride = 1
        rows.count_stride = self.n_counts
        return self.add_from(&rows, start, stop)

    def add_entries(self, const uint64_t[:, ::1] entries, const uint8_t[::1] text, Py_ssize_t start) -> tuple[int, int]:
        """As add_rows, for the entries of a shard or of a run."""
        cdef KeyRows rows
        cdef Py_ssize_t stop = entries.shape[0]
        if entries.shape[1] != self.n_words:
            raise ValueError("entries must have the words of this table")
        if not 0 <= start < stop:
            return stop, -1
        if self.has_text and not texts_fit(&entries[start, 0], stop - start, self.n_words, text.shape[0]):
            raise ValueError(f"a key is no part of {text.shape[0]} bytes of text")
        self.set_entries(&rows, &entries[0, 0], &text[0] if text.shape[0] else NULL)
        return self.add_from(&rows, start, stop)

    def add_shard(self, KeyHashTable other, int number, Py_ssize_t start) -> tuple[int, int]:
        """As add_entries, for a shard of another counter with the same kind of keys."""
        cdef KeyRows rows
        cdef Shard* shard = other.shard_at(number)
        cdef Py_ssize_t stop = shard.size
        if (other.n_words, other.key_words) != (self.n_words, self.key_words):
            raise ValueError("the counters have different keys or counts")
        if not 0 <= start < stop:
            return stop, -1
        self.set_entries(&rows, shard.entries, shard.text)
        return self.add_from(&rows, start, stop)

    cdef void set_entries(self, KeyRows* rows, const uint64_t* entries, const uint8_t* text) noexcept:
        rows.hashes = entries
        rows.heads = entries + 1 if self.key_words > 1 else NULL
        rows.tails = entries + 2 if self.has_text else NULL
        rows.counts = <const int64_t*>(entries + self.n_words - self.n_counts)
        rows.text = <uintptr_t>text
        rows.stride = self.n_words
        rows.count_stride = self.n_words

    # ---------------------------------------------------------------------------------------------- reading

    def entries(self, int number) -> NDArray[np.uint64]:
        """A copy of the entries of a shard, uint64[size, n_words], in any order."""
        cdef Shard* shard = self.shard_at(number)
        copied = np.empty((shard.size, self.n_words), np.uint64)
        cdef uint64_t[:, ::1] out = copied
        if shard.size:
            memcpy(&out[0, 0], shard.entries, <size_t>(shard.size * self.n_words) * sizeof(uint64_t))
        return copied

    def text(self, int number) -> NDArray[np.uint8]:
        """A copy of the long texts of a shard, to which the tails of its entries point."""
        cdef Shard* shard = self.shard_at(number)
        copied = np.empty(shard.text_size, np.uint8)
        cdef uint8_t[::1] out = copied
        if shard.text_size:
            memcpy(&out[0], shard.text, <size_t>shard.text_size)
        return copied

    def sort_shard(
        self, int number, int64_t[:, ::1] bounds, uint64_t[:, ::1] out, uint8_t[::1] out_text
    ):
        """Copy a shard's entries and long texts in the order of partitions, which are the next bits of their places.

        bounds[0] is where the entries of each partition begin, bounds[1] is where its texts begin; both have one more
        element than there are partitions. The tails of long texts are their positions in out_text.
        """
        cdef Shard* shard = self.shard_at(number)
        cdef int64_t rows[1 << PARTITION_BITS]
        cdef int64_t text[1 << PARTITION_BITS]
        cdef const uint64_t* entry
        cdef uint64_t* moved
        cdef uint64_t place
        cdef int64_t length, i
        cdef int partition
        if bounds.shape[0] != 2 or bounds.shape[1] != N_PARTITIONS + 1:
            raise ValueError("bounds must have two rows, and a column for each partition and one more")
        if out.shape[0] != shard.size or out.shape[1] != self.n_words or out_text.shape[0] != shard.text_size:
            raise ValueError("out and out_text must have the sizes of the shard")
        with nogil:
            memset(rows, 0, sizeof(rows))
            memset(text, 0, sizeof(text))
            for i in range(shard.size):
                entry = shard.entries + i * self.n_words
                place = place_entry(shard, entry, self.key_words, self.first_bit)
                partition = partition_number(place)
                rows[partition] += 1
                if self.has_text and is_long(entry[1]):
                    text[partition] += text_length(entry[1])
            bounds[0, 0] = 0
            bounds[1, 0] = 0
            for partition in range(1 << PARTITION_BITS):
                bounds[0, partition + 1] = bounds[0, partition] + rows[partition]
                bounds[1, partition + 1] = bounds[1, partition] + text[partition]
                rows[partition] = bounds[0, partition]
                text[partition] = bounds[1, partition]
            for i in range(shard.size):
                entry = shard.entries + i * self.n_words
                place = place_entry(shard, entry, self.key_words, self.first_bit)
                partition = partition_number(place)
                moved = &out[rows[partition], 0]
                rows[partition] += 1
                memcpy(moved, entry, <size_t>self.n_words * sizeof(uint64_t))
                if self.has_text and is_long(entry[1]):
                    length = text_length(entry[1])
                    memcpy(&out_text[text[partition]], shard.text + entry[2], <size_t>length)
                    moved[2] = <uint64_t>text[partition]
                    text[partition] += length


cdef inline Py_ssize_t add_loop(
    KeyHashTable counter, const KeyRows* rows, Py_ssize_t start, Py_ssize_t stop, int key_words, Py_ssize_t n_counts
) noexcept nogil:
    """Add rows until a shard is full or a count overflows. Returns the first row that was not added."""
    cdef uint64_t places[PREFETCHED_ROWS]
    cdef Shard* shards[PREFETCHED_ROWS]
    cdef const uint32_t* slots[PREFETCHED_ROWS]
    cdef uint64_t* entries[PREFETCHED_ROWS]
    cdef Py_ssize_t n_words = n_counts + key_words
    cdef bint counts_rows = key_words == 1 and n_counts == 1 and rows.counts == NULL
    cdef uint64_t* entry
    cdef Py_ssize_t i, n
    while start < stop:
        n = min(<Py_ssize_t>PREFETCHED_ROWS, stop - start)
        for i in range(n):
            places[i] = place_row(rows, start + i, key_words, counter.first_bit)
            shards[i] = &counter.shards[shard_number(places[i])]
            slots[i] = &shards[i].slots[first_slot(shards[i], places[i])]
            prefetch(slots[i])
        for i in range(n):
            entries[i] = shards[i].entries + max(<int64_t>slots[i][0] - 1, 0) * n_words
            prefetch(entries[i])
        for i in range(n):
            # Most rows have the first entry found. Without it, or for other keys, the search begins again.
            entry = entries[i]
            if counts_rows and slots[i][0] and entry[0] == rows.hashes[start + i] and <int64_t>entry[1] < INT64_MAX:
                entry[1] += 1
            elif not add_row(shards[i], places[i], rows, start + i, key_words, n_counts):
                return start + i
        start += n
    return stop
