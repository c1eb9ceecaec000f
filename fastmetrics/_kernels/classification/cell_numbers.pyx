"""Numbers of pairs of labels, in the order in which they are first seen, and the exact weight of each.

A slot of the hash table holds a pair of 64-bit labels and its number plus one; 0 is an empty slot. The number of slots
is a power of two, and at most half of them are in use. Collisions are resolved by linear probing, and both labels are
compared. Pairs of small labels are found in a square of numbers, without a hash; labels of texts, which have codes from
-2**63 on, are small if these codes without the sign are.
"""

from libc.math cimport ldexp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from fastmetrics._kernels.numeric.superaccumulator cimport STATE_SIZE, add_value, normalise
from fastmetrics._kernels.numeric.table_hash cimport table_hash_pair, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import ADDRESS as _SEEDS

use_table_seeds(_SEEDS)

cdef enum:
    MIN_SLOTS = 64
    FEW_BITS = 8  # pairs of labels of so many bits, and a sign, have a square of numbers
    FEW_LABELS = 1 << FEW_BITS
    SQUARE_SIDE = 2 * FEW_LABELS
    SQUARE_ROWS = 1 << 14  # a table of so many rows gets the square
    ROWS_PER_CARRY = 1 << 24
    COUNT_BITS = 20
    CARRY_MASK = (1 << 24) - 1


cdef struct Cell:
    int64_t first
    int64_t second
    int64_t number


cdef inline Cell* find_slot(Cell* slots, uint64_t mask, int64_t first, int64_t second) noexcept nogil:
    """The slot of a pair, or the empty one where it belongs."""
    cdef uint64_t slot = table_hash_pair(<uint64_t>first, <uint64_t>second) & mask
    while slots[slot].number and (slots[slot].first != first or slots[slot].second != second):
        slot = (slot + 1) & mask
    return &slots[slot]


cdef void copy_cells(const Cell* cells, int64_t n, Cell* slots, uint64_t mask) noexcept nogil:
    """Copy the cells that are in use to a larger table."""
    cdef int64_t i
    for i in range(n):
        if cells[i].number:
            find_slot(slots, mask, cells[i].first, cells[i].second)[0] = cells[i]


cdef void copy_pairs(const Cell* cells, int64_t n, int64_t* first, int64_t* second) noexcept nogil:
    """Write the pair of each number."""
    cdef int64_t i
    for i in range(n):
        if cells[i].number:
            first[cells[i].number - 1] = cells[i].first
            second[cells[i].number - 1] = cells[i].second


cdef inline bint is_few(int64_t label) noexcept nogil:
    """Is a label small, without its sign?"""
    return <uint64_t>label << 1 < 2 * FEW_LABELS


cdef inline int64_t place_of_few(int64_t label) noexcept nogil:
    """The row, or the column, of a small label in the square."""
    return (label & (FEW_LABELS - 1)) | <int64_t>((<uint64_t>label >> 63) << FEW_BITS)


cdef class CellNumbers:
    """The number of each pair of labels. An object must not be used by two threads at once."""

    cdef Cell* slots
    cdef int64_t n_slots
    cdef int32_t* few
    cdef readonly int64_t size

    def __cinit__(self):
        self.size = 0
        self.n_slots = MIN_SLOTS
        self.slots = <Cell*>calloc(MIN_SLOTS, sizeof(Cell))
        if self.slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)
        free(self.few)

    cdef int grow(self) except -1:
        cdef int64_t n_slots = self.n_slots * 4
        cdef Cell* slots = <Cell*>calloc(n_slots, sizeof(Cell))
        cdef uint64_t mask = <uint64_t>n_slots - 1
        if slots == NULL:
            raise MemoryError
        with nogil:
            copy_cells(self.slots, self.n_slots, slots, mask)
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        return 0

    cdef int64_t number_until_full(
        self, const int64_t* first, const int64_t* second, int64_t* numbers, int64_t start, int64_t stop
    ) noexcept nogil:
        """Number rows until the table is half full. Returns the first row without a number."""
        cdef uint64_t mask = <uint64_t>self.n_slots - 1
        cdef int32_t* few = self.few
        cdef int32_t* known = NULL
        cdef Cell* cell
        cdef int64_t i
        for i in range(start, stop):
            if few != NULL and is_few(first[i]) and is_few(second[i]):
                known = few + place_of_few(first[i]) * SQUARE_SIDE + place_of_few(second[i])
                if known[0]:
                    numbers[i] = known[0] - 1
                    continue
            else:
                known = NULL
            cell = find_slot(self.slots, mask, first[i], second[i])
            if cell.number == 0:
                if 2 * self.size == self.n_slots:
                    return i
                self.size += 1
                cell.first = first[i]
                cell.second = second[i]
                cell.number = self.size
            numbers[i] = cell.number - 1
            if known != NULL:
                known[0] = <int32_t>cell.number
        return stop

    def number(self, const int64_t[::1] first, const int64_t[::1] second, int64_t[::1] numbers):
        """Write the number of each row's pair. New pairs get the next numbers."""
        cdef int64_t stop = numbers.shape[0]
        cdef int64_t start = 0
        if first.shape[0] != stop or second.shape[0] != stop:
            raise ValueError("the columns have different lengths")
        if stop == 0:
            return
        if stop >= SQUARE_ROWS and self.few == NULL:
            self.few = <int32_t*>calloc(SQUARE_SIDE * SQUARE_SIDE, sizeof(int32_t))
        while True:
            with nogil:
                start = self.number_until_full(&first[0], &second[0], &numbers[0], start, stop)
            if start == stop:
                return
            self.grow()

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs in the order of their numbers."""
        arrays = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        cdef int64_t[::1] first = arrays[0]
        cdef int64_t[::1] second = arrays[1]
        if self.size:
            with nogil:
                copy_pairs(self.slots, self.n_slots, &first[0], &second[0])
        return arrays


def count_numbers(const int64_t[::1] numbers, int64_t[::1] counts):
    """Add the rows of each number to counts[number]."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(numbers.shape[0]):
            counts[numbers[i]] += 1


cdef inline void add_multiple(int64_t* state, double value, int64_t count) noexcept nogil:
    """Add a value `count` times: its products with powers of 2, which are exact, and do not overflow up to 1e300."""
    cdef int bit
    cdef int64_t i
    for bit in range(COUNT_BITS):
        if count >> bit & 1:
            add_value(state, ldexp(value, bit))
    for i in range(count >> COUNT_BITS):
        add_value(state, ldexp(value, COUNT_BITS))
        if i & CARRY_MASK == CARRY_MASK:
            normalise(state)


def weigh_numbers(
    const int64_t[::1] numbers,
    const double[::1] weights,
    int64_t[:, ::1] states,
    const int64_t[::1] counts or None,
):
    """Add the weight of each row, `counts` times, to the exact sum of its number. States stay normalised."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = numbers.shape[0]
    if weights.shape[0] != n or n > ROWS_PER_CARRY or states.shape[1] != STATE_SIZE:
        raise ValueError("there is not one weight for each row, or there are too many rows")
    if counts is not None and counts.shape[0] != n:
        raise ValueError("there is not one count for each row")
    with nogil:
        for i in range(n):
            if counts is None:
                add_value(&states[numbers[i], 0], weights[i])
            else:
                add_multiple(&states[numbers[i], 0], weights[i], counts[i])
        for i in range(states.shape[0]):
            normalise(&states[i, 0])
