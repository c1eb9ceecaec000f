"""Count, number and weigh cells, which are pairs of labels, in a hash table that grows: see `cell_table.py`.

Numbers are given in the order in which cells are first seen.

A slot holds a pair of 64-bit labels and its count; a count of 0 is an empty slot. The number of slots is a power of
two, and at most half of them are in use. Collisions are resolved by linear probing, and both labels are compared. The
slots of a block of rows are prefetched before they are used, so that a table larger than the cache waits for many loads
at once. If the first rows are many, with small labels, pairs of small labels are counted in a square instead, without a
hash; labels of texts, which have codes from -2**63 on, are small if these codes without the sign are. Cells have
numbers once they are asked for: only weights need them.

Counts and their total are int64. A total above 2**63 - 1 raises OverflowError.
"""

from libc.math cimport ldexp
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from fastmetrics._kernels.numeric.superaccumulator cimport STATE_SIZE, add_value, normalize
from fastmetrics._kernels.numeric.table_hash cimport table_hash_pair, use_table_seeds
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
    MIN_SLOTS = 64
    PREFETCHED_ROWS = 64  # rows whose slots are fetched at once
    SMALL_BITS = 8  # of small labels, beside a sign
    SMALL_LABELS = 1 << SMALL_BITS
    SQUARE_SIDE = 2 * SMALL_LABELS
    SQUARE_CELLS = SQUARE_SIDE * SQUARE_SIDE
    SQUARE_ROWS = 1 << 14  # an empty table to which so many rows are added at once may get the square,
    SAMPLE_ROWS = 1 << 8  # if labels of most of these rows are small
    ROWS_PER_CARRY = 1 << 24
    COUNT_BITS = 20
    CARRY_MASK = (1 << 24) - 1


cdef struct Slot:
    int64_t first
    int64_t second
    int64_t count


cdef inline bint are_small(int64_t first, int64_t second) noexcept nogil:
    """Are both labels small, without their signs?"""
    return (<uint64_t>first << 1 | <uint64_t>second << 1) < 2 * SMALL_LABELS


cdef inline int64_t place_of_label(int64_t label) noexcept nogil:
    """The row, or the column, of a small label in the square."""
    return (label & (SMALL_LABELS - 1)) | <int64_t>((<uint64_t>label >> 63) << SMALL_BITS)


cdef inline int64_t place_in_square(int64_t first, int64_t second) noexcept nogil:
    """The row is that of the second label, for which a set of labels has three: loads wait for stores in other rows."""
    return place_of_label(second) * SQUARE_SIDE + place_of_label(first)


cdef inline int64_t label_of_place(int64_t place) noexcept nogil:
    """The way back, of a row or a column."""
    return (place & (SMALL_LABELS - 1)) | <int64_t>(<uint64_t>(place >> SMALL_BITS) << 63)


cdef inline int64_t count_in_square(
    const int64_t* first, const int64_t* second, int64_t n, int64_t* square, uint8_t* used,
    const uint32_t* square_numbers, int64_t* numbers
) noexcept nogil:
    """Count up to PREFETCHED_ROWS rows, and write their numbers if these are not NULL. Returns how many cells are new.

    -1 if a label is not small, or if a new cell needs a number: then no row is counted.
    """
    cdef uint32_t cells[PREFETCHED_ROWS]
    cdef uint64_t bits = 0
    cdef int64_t n_new = 0
    cdef int64_t i
    for i in range(n):
        bits |= <uint64_t>first[i] << 1 | <uint64_t>second[i] << 1
        cells[i] = <uint32_t>place_in_square(first[i], second[i])
    if bits >= 2 * SMALL_LABELS:
        return -1
    for i in range(n if square_numbers != NULL else 0):
        if square[cells[i]] == 0:
            return -1
    for i in range(n):
        n_new += square[cells[i]] == 0
        square[cells[i]] += 1
    for i in range(n if numbers != NULL else 0):
        numbers[i] = square_numbers[cells[i]]
    for i in range(n if n_new else 0):
        used[cells[i] // SQUARE_SIDE] = 1
    return n_new


cdef class CellCounter:
    """The number of rows of each pair of labels. An object must not be used by two threads at once."""

    cdef Slot* slots
    cdef int64_t* square  # the counts of pairs of small labels; NULL: they have slots
    cdef uint8_t used[SQUARE_SIDE]  # the rows of the square that have counts
    cdef uint32_t* numbers  # of the cells in slots; NULL: cells have no numbers
    cdef uint32_t* square_numbers
    cdef int64_t n_slots
    cdef int64_t n_used  # slots
    cdef readonly int64_t size
    cdef readonly int64_t total

    def __cinit__(self):
        self.n_slots = MIN_SLOTS
        self.slots = <Slot*>new_memory(MIN_SLOTS, sizeof(Slot))

    def __dealloc__(self):
        free(self.slots)
        free(self.square)
        free(self.numbers)
        free(self.square_numbers)

    @property
    def n_bytes(self) -> int:
        """The memory of slots and their numbers."""
        return self.n_slots * (sizeof(Slot) + (0 if self.numbers == NULL else sizeof(uint32_t)))

    cdef int grow(self) except -1:
        """Make the table larger: four times as large while it is small, then twice."""
        cdef int64_t n_slots = self.n_slots * (4 if self.n_slots < 1 << 18 else 2)
        cdef uint32_t* numbers = NULL
        if self.numbers != NULL:
            numbers = <uint32_t*>new_memory(n_slots, sizeof(uint32_t))
        cdef Slot* slots = <Slot*>calloc(n_slots, sizeof(Slot))
        if slots == NULL:
            free(numbers)
            raise MemoryError
        with nogil:
            copy_slots(self.slots, self.numbers, self.n_slots, slots, numbers, n_slots)
        free(self.slots)
        free(self.numbers)
        self.slots = slots
        self.numbers = numbers
        self.n_slots = n_slots
        return 0

    cdef int make_numbers(self) except -1:
        """Number all cells, in the order of `cells`."""
        self.numbers = <uint32_t*>new_memory(self.n_slots, sizeof(uint32_t))
        if self.square != NULL:
            self.square_numbers = <uint32_t*>new_memory(SQUARE_CELLS, sizeof(uint32_t))
        with nogil:
            self.fill_numbers()
        return 0

    cdef void fill_numbers(self) noexcept nogil:
        cdef uint32_t number = 0
        cdef int64_t i
        for i in range(SQUARE_CELLS if self.square != NULL else 0):
            if self.used[i // SQUARE_SIDE] and self.square[i]:
                self.square_numbers[i] = number
                number += 1
        for i in range(self.n_slots):
            if self.slots[i].count:
                self.numbers[i] = number
                number += 1

    cdef int64_t count_until_full(
        self, const int64_t* first, const int64_t* second, const int64_t* counts, int64_t* numbers, int64_t start,
        int64_t stop
    ) noexcept nogil:
        """Count rows, each `counts` times if that is not NULL, and write their numbers, until the table has to grow.

        It grows before the next rows if all of their cells may be new. Returns the first row that was not counted.
        """
        cdef uint64_t mask = <uint64_t>self.n_slots - 1
        cdef int64_t* square = self.square
        cdef Slot* slots = self.slots
        cdef bint is_plain = square != NULL and counts == NULL
        cdef uint64_t places[PREFETCHED_ROWS]
        cdef int64_t rows[PREFETCHED_ROWS]
        cdef uint64_t place
        cdef int64_t cell, i, j, n, n_new, n_in_slots
        while start < stop:
            n = stop - start if stop - start < PREFETCHED_ROWS else PREFETCHED_ROWS
            if 2 * (self.n_used + n) > self.n_slots:
                return start
            n_new = -1
            if is_plain:
                n_new = count_in_square(
                    first + start, second + start, n, square, self.used, self.square_numbers,
                    NULL if numbers == NULL else numbers + start)
            if n_new >= 0:
                self.size += n_new
                start += n
                continue
            n_in_slots = 0
            for i in range(start, start + n):
                if square != NULL and are_small(first[i], second[i]):
                    cell = place_in_square(first[i], second[i])
                    if square[cell] == 0:
                        if self.numbers != NULL:
                            self.square_numbers[cell] = <uint32_t>self.size
                        self.size += 1
                        self.used[cell // SQUARE_SIDE] = 1
                    square[cell] += 1 if counts == NULL else counts[i]
                    if numbers != NULL:
                        numbers[i] = self.square_numbers[cell]
                    continue
                rows[n_in_slots] = i
                places[n_in_slots] = table_hash_pair(<uint64_t>first[i], <uint64_t>second[i]) & mask
                prefetch(&slots[places[n_in_slots]])
                n_in_slots += 1
            for j in range(n_in_slots):
                i = rows[j]
                place = places[j]
                while slots[place].count and (slots[place].first != first[i] or slots[place].second != second[i]):
                    place = (place + 1) & mask
                if slots[place].count == 0:
                    slots[place].first = first[i]
                    slots[place].second = second[i]
                    if self.numbers != NULL:
                        self.numbers[place] = <uint32_t>self.size
                    self.size += 1
                    self.n_used += 1
                slots[place].count += 1 if counts == NULL else counts[i]
                if numbers != NULL:
                    numbers[i] = self.numbers[place]
            start += n
        return stop

    def add(
        self, const int64_t[::1] first, const int64_t[::1] second, const int64_t[::1] counts or None,
        int64_t[::1] numbers or None
    ):
        """Count cells, each once or `counts` times (at least 1), and write the number of each row's cell.

        New cells get the next numbers.
        """
        cdef int64_t stop = first.shape[0]
        cdef int64_t start = 0
        cdef int64_t total
        cdef const int64_t* own_counts = NULL
        cdef int64_t* own_numbers = NULL
        if (
            second.shape[0] != stop or (counts is not None and counts.shape[0] != stop)
            or (numbers is not None and numbers.shape[0] != stop)
        ):
            raise ValueError("the columns have different lengths")
        if stop == 0:
            return
        if counts is not None:
            own_counts = &counts[0]
        if numbers is not None:
            own_numbers = &numbers[0]
        with nogil:
            total = add_counts(own_counts, stop, self.total)
        if total == -1:
            raise ValueError("counts must be at least 1")
        if total < 0:
            raise OverflowError("more than 2**63 - 1 rows")
        self.total = total
        if self.size == 0 and stop >= SQUARE_ROWS and self.square == NULL and has_small_labels(&first[0], &second[0]):
            memset(self.used, 0, sizeof(self.used))
            self.square = <int64_t*>new_memory(SQUARE_CELLS, sizeof(int64_t))
        if own_numbers != NULL and self.numbers == NULL:
            self.make_numbers()
        while True:
            with nogil:
                start = self.count_until_full(&first[0], &second[0], own_counts, own_numbers, start, stop)
            if start == stop:
                return
            self.grow()

    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """(first, second, counts) of the cells that occur, in the order of their numbers if they have any."""
        arrays = np.empty((3, self.size), np.int64)
        cdef int64_t[:, ::1] out = arrays
        cdef int64_t i, j, number
        cdef int64_t n = 0
        with nogil:
            for i in range(SQUARE_SIDE if self.square != NULL else 0):
                for j in range(i * SQUARE_SIDE, (i + 1) * SQUARE_SIDE if self.used[i] else 0):
                    if self.square[j]:
                        number = n if self.numbers == NULL else self.square_numbers[j]
                        out[0, number] = label_of_place(j - i * SQUARE_SIDE)
                        out[1, number] = label_of_place(i)
                        out[2, number] = self.square[j]
                        n += 1
            for i in range(self.n_slots):
                if self.slots[i].count:
                    number = n if self.numbers == NULL else self.numbers[i]
                    out[0, number] = self.slots[i].first
                    out[1, number] = self.slots[i].second
                    out[2, number] = self.slots[i].count
                    n += 1
        return arrays[0], arrays[1], arrays[2]

    def empty(self):
        """Remove all cells, and free their memory. `total` still counts their rows."""
        cdef Slot* slots = <Slot*>new_memory(MIN_SLOTS, sizeof(Slot))
        free(self.slots)
        free(self.square)
        free(self.numbers)
        free(self.square_numbers)
        self.slots = slots
        self.square = NULL
        self.numbers = self.square_numbers = NULL
        self.n_slots = MIN_SLOTS
        self.n_used = self.size = 0


cdef void* new_memory(int64_t n, size_t size) except NULL:
    """Memory for n elements of so many bytes, all 0."""
    cdef void* memory = calloc(n, size)
    if memory == NULL:
        raise MemoryError
    return memory


cdef void copy_slots(
    const Slot* slots, const uint32_t* numbers, int64_t n, Slot* wider, uint32_t* wider_numbers, int64_t n_wider
) noexcept nogil:
    """Copy the slots that are in use to a larger table."""
    cdef uint64_t mask = <uint64_t>n_wider - 1
    cdef uint64_t place
    cdef int64_t i
    for i in range(n):
        if slots[i].count:
            place = table_hash_pair(<uint64_t>slots[i].first, <uint64_t>slots[i].second) & mask
            while wider[place].count:
                place = (place + 1) & mask
            wider[place] = slots[i]
            if numbers != NULL:
                wider_numbers[place] = numbers[i]


cdef bint has_small_labels(const int64_t* first, const int64_t* second) noexcept nogil:
    """Are the labels of most of the first rows small?"""
    cdef int64_t n_small = 0
    cdef int64_t i
    for i in range(SAMPLE_ROWS):
        n_small += are_small(first[i], second[i])
    return 4 * n_small > 3 * SAMPLE_ROWS


cdef int64_t add_counts(const int64_t* counts, int64_t n, int64_t total) noexcept nogil:
    """The sum of total and all counts (NULL: each is 1); -1 if a count is below 1, -2 if the sum exceeds 2**63 - 1."""
    cdef int64_t i
    if counts == NULL:
        return total + n if n <= INT64_MAX - total else -2
    for i in range(n):
        if counts[i] < 1:
            return -1
        if counts[i] > INT64_MAX - total:
            return -2
        total += counts[i]
    return total


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
            normalize(state)


def weigh_numbers(
    const int64_t[::1] numbers,
    const double[::1] weights,
    int64_t[:, ::1] states,
    const int64_t[::1] counts or None,
):
    """Add the weight of each row, `counts` times, to the exact sum of its number. States stay normalized."""
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
        if n < states.shape[0]:
            for i in range(n):
                normalize(&states[numbers[i], 0])
        else:
            for i in range(states.shape[0]):
                normalize(&states[i, 0])
