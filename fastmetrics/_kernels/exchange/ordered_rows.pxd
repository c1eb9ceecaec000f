"""Rows in the order of their scores, and the pairs won inside every slice of them, in one pass.

A row is one word: its number, whether it is positive, and whether its score is that of the row before. Among equal
scores, negatives come first. The order is made once for all ways to divide the rows into slices: a pass over it keeps,
for every slice, how many negatives it has seen, and how many of them were below the run of equal scores.

The order of groups is made here, that of buckets in bucket_order.pxd. Only the order of positives among the other rows
counts: where a group has few, its negatives are not sorted.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.exchange.radix_sort_descending cimport KeyedRow, sort_rows_descending

cdef enum:
    ROW_BITS = 30
    MOST_ROWS = 1 << 30
    FEW_POSITIVES = 8           # up to so many in a group, each is compared with the other rows


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
    """A row to be ordered: its number, below MOST_ROWS, and its class."""
    return <int64_t>number | (<int64_t>positive << 31)


cdef inline void order_group(
    KeyedRow* rows, KeyedRow* scratch, Py_ssize_t n, Py_ssize_t n_positives, uint32_t* ordered
) noexcept nogil:
    """Write the words of the n rows of a group, of which both classes have some, in ascending order of their keys.

    Negatives between which no positive is may come in any order, and are not tied: no pair depends on it. The rows may
    be sorted; `scratch` has n elements.
    """
    if n_positives <= FEW_POSITIVES:
        order_around_positives(rows, <uint8_t*>scratch, n, ordered)
    else:
        sort_rows_descending(rows, scratch, n)
        write_words(rows, n, ordered)


cdef inline void order_around_positives(
    KeyedRow* rows, uint8_t* ranks, Py_ssize_t n, uint32_t* ordered
) noexcept nogil:
    """The same for up to FEW_POSITIVES positives.

    The rank of a row is the number of positives below it plus that of positives that are not above it, so rows of one
    rank are tied with a positive, or have the same positives below and above them. Rows are counted by rank, then
    written: of one rank, negatives come first.
    """
    cdef uint64_t positives[FEW_POSITIVES]
    cdef uint32_t tied[2 * FEW_POSITIVES + 1]  # by rank: the flag of a tie if a positive has it, else 0
    cdef uint32_t starts[4 * FEW_POSITIVES + 2]  # by rank and class
    cdef Py_ssize_t i, own, slot
    cdef Py_ssize_t n_positives = 0
    cdef Py_ssize_t n_slots
    cdef uint32_t before = 0
    cdef uint32_t count, place
    cdef uint64_t key
    for i in range(n):
        if rows[i].row >> 31:
            positives[n_positives] = rows[i].key
            n_positives += 1
    n_slots = 4 * n_positives + 2
    memset(starts, 0, sizeof(starts))
    memset(tied, 0, sizeof(tied))
    for i in range(n):
        key = rows[i].key
        slot = 0
        for own in range(n_positives):
            slot += (key > positives[own]) + (key >= positives[own])
        slot = 2 * slot + (rows[i].row >> 31)
        ranks[i] = <uint8_t>slot
        starts[slot] += 1
    for slot in range(n_slots):
        count = starts[slot]
        starts[slot] = before
        before += count
        if slot & 1 and count:
            tied[slot >> 1] = <uint32_t>1 << ROW_BITS
    for i in range(n):
        slot = ranks[i]
        place = starts[slot]
        starts[slot] += 1
        ordered[place] = <uint32_t>rows[i].row | tied[slot >> 1]
    # The first row of a run is not tied with the one before.
    for slot in range(0, n_slots, 2):
        if tied[slot >> 1]:
            place = starts[slot - 1] if slot else 0
            ordered[place] &= ~(<uint32_t>1 << ROW_BITS)


cdef inline void write_words(const KeyedRow* rows, Py_ssize_t n, uint32_t* ordered) noexcept nogil:
    """Write the words of sorted rows."""
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j, stop, out
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
