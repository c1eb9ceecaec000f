"""A growing hash table of pairs of labels, and the sums over its cells from which metrics are computed.

A slot holds a pair of 64-bit labels and its count; a count of 0 is an empty slot. The number of slots is a power of
two, and at most half of them are in use. Collisions are resolved by linear probing, and both labels are compared. The
slots of a block of rows are prefetched before they are used, so that a table larger than the cache waits for many loads
at once.

Counts and their total are int64. A total above 2**63 - 1 raises OverflowError.
"""

from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from fastmetrics._kernels.numeric.table_hash cimport table_hash_pair, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import ADDRESS as _SEEDS

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

cdef extern from "clustering/label_pairs.h":
    uint64_t sum_squares "fm_sum_squares"(const int64_t* counts, Py_ssize_t n) noexcept nogil
    void sum_wide_squares "fm_sum_wide_squares"(const int64_t* counts, Py_ssize_t n, uint64_t* sums) noexcept nogil

cdef enum:
    MIN_SLOTS = 64
    PREFETCHED_ROWS = 64  # rows whose slots are fetched at once


cdef struct Cell:
    int64_t first
    int64_t second
    int64_t count


cdef class PairCounter:
    """The number of rows of each pair of labels. An object must not be used by two threads at once."""

    cdef Cell* slots
    cdef int64_t n_slots
    cdef readonly int64_t size
    cdef readonly int64_t total

    def __cinit__(self):
        self.size = 0
        self.total = 0
        self.n_slots = MIN_SLOTS
        self.slots = <Cell*>calloc(MIN_SLOTS, sizeof(Cell))
        if self.slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)

    cdef int grow(self) except -1:
        """Make the table larger: four times as large while it is small, then twice."""
        cdef int64_t n_slots = self.n_slots * (4 if self.n_slots < 1 << 16 else 2)
        cdef Cell* slots = <Cell*>calloc(n_slots, sizeof(Cell))
        if slots == NULL:
            raise MemoryError
        with nogil:
            rehash_cells(self.slots, self.n_slots, slots, n_slots)
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        return 0

    cdef int64_t count_until_full(
        self, const int64_t* first, const int64_t* second, const int64_t* counts, int64_t start, int64_t stop
    ) noexcept nogil:
        """Count rows (cells if counts is not NULL) until the table is half full. Returns the first one not counted."""
        cdef uint64_t mask = <uint64_t>self.n_slots - 1
        cdef int64_t max_used = self.n_slots // 2
        cdef uint64_t row_slots[PREFETCHED_ROWS]
        cdef uint64_t slot
        cdef int64_t i, n
        cdef Cell* cell
        while start < stop:
            n = stop - start if stop - start < PREFETCHED_ROWS else PREFETCHED_ROWS
            for i in range(n):
                row_slots[i] = table_hash_pair(<uint64_t>first[start + i], <uint64_t>second[start + i]) & mask
                prefetch(&self.slots[row_slots[i]])
            for i in range(n):
                slot = row_slots[i]
                while True:
                    cell = &self.slots[slot]
                    if cell.count == 0:
                        break
                    if cell.first == first[start + i] and cell.second == second[start + i]:
                        break
                    slot = (slot + 1) & mask
                if cell.count == 0:
                    if counts != NULL and counts[start + i] == 0:
                        continue
                    if self.size == max_used:
                        return start + i
                    self.size += 1
                    cell.first = first[start + i]
                    cell.second = second[start + i]
                cell.count += 1 if counts == NULL else counts[start + i]
            start += n
        return stop

    def add(self, const int64_t[::1] first, const int64_t[::1] second, int64_t start, int64_t stop):
        """Count the rows from start to stop of two columns."""
        if not 0 <= start <= stop <= first.shape[0] or stop > second.shape[0]:
            raise ValueError("start and stop must lie in both columns")
        if start == stop:
            return
        if stop - start > INT64_MAX - self.total:
            raise OverflowError("more than 2**63 - 1 rows")
        self.total += stop - start
        while True:
            with nogil:
                start = self.count_until_full(&first[0], &second[0], NULL, start, stop)
            if start == stop:
                return
            self.grow()

    def add_cells(self, const int64_t[::1] first, const int64_t[::1] second, const int64_t[::1] counts):
        """Add cells: pairs and their rows (not negative), in any order; a pair may occur twice."""
        cdef int64_t stop = counts.shape[0]
        cdef int64_t total
        cdef int64_t start = 0
        if first.shape[0] != stop or second.shape[0] != stop:
            raise ValueError("first, second and counts must have one length")
        if stop == 0:
            return
        with nogil:
            total = add_counts(&counts[0], stop, self.total)
        if total == -1:
            raise ValueError("counts must not be negative")
        if total < 0:
            raise OverflowError("more than 2**63 - 1 rows")
        self.total = total
        while True:
            with nogil:
                start = self.count_until_full(&first[0], &second[0], &counts[0], start, stop)
            if start == stop:
                return
            self.grow()

    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """(first, second, counts) of the pairs that occur, in any order: int64 arrays of length `size`."""
        arrays = np.empty((3, self.size), np.int64)
        cdef int64_t[:, ::1] out = arrays
        cdef int64_t i
        cdef int64_t n = 0
        with nogil:
            for i in range(self.n_slots):
                if self.slots[i].count:
                    out[0, n] = self.slots[i].first
                    out[1, n] = self.slots[i].second
                    out[2, n] = self.slots[i].count
                    n += 1
        return arrays[0], arrays[1], arrays[2]


cdef void rehash_cells(const Cell* cells, int64_t n_cells, Cell* slots, int64_t n_slots) noexcept nogil:
    cdef uint64_t mask = <uint64_t>n_slots - 1
    cdef uint64_t slot
    cdef int64_t i
    for i in range(n_cells):
        if cells[i].count:
            slot = table_hash_pair(<uint64_t>cells[i].first, <uint64_t>cells[i].second) & mask
            while slots[slot].count:
                slot = (slot + 1) & mask
            slots[slot] = cells[i]


cdef int64_t add_counts(const int64_t* counts, int64_t n, int64_t total) noexcept nogil:
    """The sum of total and all counts; -1 if a count is negative, -2 if the sum exceeds 2**63 - 1."""
    cdef int64_t i
    for i in range(n):
        if counts[i] < 0:
            return -1
        if counts[i] > INT64_MAX - total:
            return -2
        total += counts[i]
    return total


cdef object join_words(uint64_t low, uint64_t high):
    """low + 2**64 high, as a Python integer."""
    return low + (<object>high << 64)


def square_sum(const int64_t[::1] counts, bint wide) -> int:
    """The sum of the squares of counts, which are not negative, as a Python integer.

    `wide` must be true if the sum of the counts may be 2**32 or more. The square of a smaller sum fits in 64 bits, and
    so does the sum of squares. Wide squares are added in halves of 32 bits, exactly for any number of counts.
    """
    cdef uint64_t sums[6]
    cdef Py_ssize_t n = counts.shape[0]
    if n == 0:
        return 0
    if not wide:
        with nogil:
            sums[0] = sum_squares(&counts[0], n)
        return sums[0]
    with nogil:
        sum_wide_squares(&counts[0], n, sums)
    return join_words(sums[0], sums[1]) + (join_words(sums[2], sums[3]) << 33) + (join_words(sums[4], sums[5]) << 64)


def max_by_column(const int64_t[::1] columns, const int64_t[::1] counts, int64_t[::1] maxima):
    """Raise maxima[j] to the largest count of column j."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(counts.shape[0]):
            if counts[i] > maxima[columns[i]]:
                maxima[columns[i]] = counts[i]
