"""Rows in the order of their scores, and the pairs won inside every slice of them, in one pass.

A row is one word: its number, whether it is positive, and whether its score is that of the row before. Among equal
scores, negatives come first. The order is made once for all ways to divide the rows into slices: a pass over it keeps,
for every slice, how many negatives it has seen, and how many of them were below the run of equal scores.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastmetrics._kernels.exchange.radix_sort_descending cimport KeyedRow, sort_rows_descending

cdef enum:
    ROW_BITS = 30
    MOST_ROWS = 1 << 30


cdef struct PairsOfSlice:
    int64_t negatives
    int64_t positives
    int64_t below           # negatives below the run of equal scores that was seen last
    int64_t run
    uint64_t wins           # twice the pairs won by the positive, plus ties: the low 64 bits
    uint64_t high_wins


cdef inline void add_row(PairsOfSlice* own, uint32_t word, int64_t run) noexcept nogil:
    """Add the next row; `run` is the number of its run of equal scores."""
    cdef uint64_t positive = word >> 31
    cdef uint64_t won
    own.below = own.below if own.run == run else own.negatives
    own.run = run
    won = <uint64_t>(own.below + own.negatives) & (0 - positive)
    own.wins += won
    own.high_wins += own.wins < won
    own.positives += <int64_t>positive
    own.negatives += 1 - <int64_t>positive


cdef inline bint is_tied(uint32_t word) noexcept nogil:
    return (word >> ROW_BITS) & 1


cdef inline int64_t row_of(uint32_t number, bint positive) noexcept nogil:
    """A row for `order_rows`: its number, below MOST_ROWS, and its class."""
    return <int64_t>number | (<int64_t>positive << 31)


cdef inline void order_rows(KeyedRow* rows, KeyedRow* scratch, Py_ssize_t n, uint32_t* ordered) noexcept nogil:
    """Write the words of n rows in ascending order of their keys. The rows are sorted; `scratch` has n elements."""
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j, stop, out
    sort_rows_descending(rows, scratch, n)
    while i < n:
        stop = i + 1
        while stop < n and rows[stop].key == rows[i].key:
            stop += 1
        out = i
        for j in range(i, stop):
            if not (rows[j].row >> 31):
                ordered[out] = <uint32_t>rows[j].row
                out += 1
        for j in range(i, stop):
            if rows[j].row >> 31:
                ordered[out] = <uint32_t>rows[j].row
                out += 1
        for j in range(i + 1, stop):
            ordered[j] |= <uint32_t>1 << ROW_BITS
        i = stop
