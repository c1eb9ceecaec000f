"""Pairs of labels counted: a table with open addressing that grows, and the sums over cells that scores are made of.

A slot is a pair of 64-bit labels and its count; a count of 0 is an empty slot. Slots are a power of two, at most half
of them taken; a slot is looked for from the pair's hash on, and a pair is found only where both labels are equal. The
rows' slots are fetched a block ahead of their use: a table larger than the cache then waits for many loads at once.

Counts are int64 and so is their total: OverflowError where it would pass 2**63 - 1.
"""

from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define FM_PREFETCH(address) __builtin_prefetch(address)
    #else
    #define FM_PREFETCH(address) ((void)(address))
    #endif
    """
    void prefetch "FM_PREFETCH"(const void* address) noexcept nogil

cdef extern from "labelpairs.h":
    uint64_t sum_squares "fm_sum_squares"(const int64_t* counts, Py_ssize_t n) noexcept nogil
    void sum_wide_squares "fm_sum_wide_squares"(const int64_t* counts, Py_ssize_t n, uint64_t* sums) noexcept nogil

cdef enum:
    LEAST_SLOTS = 64
    AHEAD = 64          # rows whose slots are fetched at once


cdef struct Cell:
    int64_t first
    int64_t second
    int64_t count


cdef inline uint64_t hash_pair(int64_t first, int64_t second) noexcept nogil:
    cdef uint64_t hashed = <uint64_t>first * <uint64_t>0x9E3779B97F4A7C15
    hashed = ((hashed ^ (hashed >> 32)) + <uint64_t>second) * <uint64_t>0xD6E8FEB86659FD93
    hashed = (hashed ^ (hashed >> 32)) * <uint64_t>0xD6E8FEB86659FD93
    return hashed ^ (hashed >> 32)


cdef class PairCounter:
    """How often each pair of labels occurs. Not for two threads at once."""

    cdef Cell* slots
    cdef int64_t n_slots
    cdef readonly int64_t size
    cdef readonly int64_t total

    def __cinit__(self):
        self.size = 0
        self.total = 0
        self.n_slots = LEAST_SLOTS
        self.slots = <Cell*>calloc(LEAST_SLOTS, sizeof(Cell))
        if self.slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)

    cdef int widen(self) except -1:
        """More slots: four times as many while they are few."""
        cdef int64_t n_slots = self.n_slots * (4 if self.n_slots < 1 << 16 else 2)
        cdef Cell* slots = <Cell*>calloc(n_slots, sizeof(Cell))
        if slots == NULL:
            raise MemoryError
        with nogil:
            place_again(self.slots, self.n_slots, slots, n_slots)
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        return 0

    cdef int64_t take(
        self, const int64_t* first, const int64_t* second, const int64_t* counts, int64_t start, int64_t stop
    ) noexcept nogil:
        """Count rows (cells, where counts is not NULL) until the table is half full; returns the first not counted."""
        cdef uint64_t mask = <uint64_t>self.n_slots - 1
        cdef int64_t most = self.n_slots // 2
        cdef uint64_t places[AHEAD]
        cdef uint64_t place
        cdef int64_t i, n
        cdef Cell* cell
        while start < stop:
            n = stop - start if stop - start < AHEAD else AHEAD
            for i in range(n):
                places[i] = hash_pair(first[start + i], second[start + i]) & mask
                prefetch(&self.slots[places[i]])
            for i in range(n):
                place = places[i]
                while True:
                    cell = &self.slots[place]
                    if cell.count == 0:
                        break
                    if cell.first == first[start + i] and cell.second == second[start + i]:
                        break
                    place = (place + 1) & mask
                if cell.count == 0:
                    if counts != NULL and counts[start + i] == 0:
                        continue
                    if self.size == most:
                        return start + i
                    self.size += 1
                    cell.first = first[start + i]
                    cell.second = second[start + i]
                cell.count += 1 if counts == NULL else counts[start + i]
            start += n
        return stop

    def add(self, const int64_t[::1] first, const int64_t[::1] second, int64_t start, int64_t stop):
        """Count the rows start..stop of two columns."""
        if not 0 <= start <= stop <= first.shape[0] or stop > second.shape[0]:
            raise ValueError("start and stop must lie in both columns")
        if start == stop:
            return
        if stop - start > INT64_MAX - self.total:
            raise OverflowError("more than 2**63 - 1 rows")
        self.total += stop - start
        while True:
            with nogil:
                start = self.take(&first[0], &second[0], NULL, start, stop)
            if start == stop:
                return
            self.widen()

    def add_cells(self, const int64_t[::1] first, const int64_t[::1] second, const int64_t[::1] counts):
        """Count cells: pairs, in any order and any of them twice, with how many rows have them (none negative)."""
        cdef int64_t stop = counts.shape[0]
        cdef int64_t total
        cdef int64_t start = 0
        if first.shape[0] != stop or second.shape[0] != stop:
            raise ValueError("first, second and counts must have one length")
        if stop == 0:
            return
        with nogil:
            total = total_of(&counts[0], stop, self.total)
        if total == -1:
            raise ValueError("counts must not be negative")
        if total < 0:
            raise OverflowError("more than 2**63 - 1 rows")
        self.total = total
        while True:
            with nogil:
                start = self.take(&first[0], &second[0], &counts[0], start, stop)
            if start == stop:
                return
            self.widen()

    def cells(self):
        """(first, second, counts) of the pairs that occur, in no particular order: arrays of int64 of length `size`."""
        found = np.empty((3, self.size), np.int64)
        cdef int64_t[:, ::1] out = found
        cdef int64_t i
        cdef int64_t n = 0
        with nogil:
            for i in range(self.n_slots):
                if self.slots[i].count:
                    out[0, n] = self.slots[i].first
                    out[1, n] = self.slots[i].second
                    out[2, n] = self.slots[i].count
                    n += 1
        return found[0], found[1], found[2]


cdef void place_again(const Cell* cells, int64_t n_cells, Cell* slots, int64_t n_slots) noexcept nogil:
    cdef uint64_t mask = <uint64_t>n_slots - 1
    cdef uint64_t place
    cdef int64_t i
    for i in range(n_cells):
        if cells[i].count:
            place = hash_pair(cells[i].first, cells[i].second) & mask
            while slots[place].count:
                place = (place + 1) & mask
            slots[place] = cells[i]


cdef int64_t total_of(const int64_t* counts, int64_t n, int64_t total) noexcept nogil:
    """total and all counts; -1 if one is negative, -2 if the sum passes 2**63 - 1."""
    cdef int64_t i
    for i in range(n):
        if counts[i] < 0:
            return -1
        if counts[i] > INT64_MAX - total:
            return -2
        total += counts[i]
    return total


cdef object whole(uint64_t low, uint64_t high):
    """low + 2**64 high, as a Python integer."""
    return low + (<object>high << 64)


def square_sum(const int64_t[::1] counts, bint wide):
    """The sum of the squares of counts, none negative, as a Python integer.

    `wide` tells that the counts may add up to 2**32 or more: the square of a smaller sum fits in 64 bits, and with it
    the sum of squares. Wide squares are added by halves of 32 bits, exact for any number of counts.
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
    return whole(sums[0], sums[1]) + (whole(sums[2], sums[3]) << 33) + (whole(sums[4], sums[5]) << 64)


def greatest_by_column(const int64_t[::1] columns, const int64_t[::1] counts, int64_t[::1] greatest):
    """greatest[j] becomes the greatest of itself and the counts of column j."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(counts.shape[0]):
            if counts[i] > greatest[columns[i]]:
                greatest[columns[i]] = counts[i]
