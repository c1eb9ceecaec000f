"""Rows by falling score, equal scores in the order given: a stable radix sort, by insertion where there are few."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

cdef enum:
    FEW = 24                    # rows that are sorted by insertion
    DIGIT = 11                  # bits
    DIGITS = 6
    CELLS = 2048                # 1 << DIGIT


cdef struct Keyed:
    uint64_t key
    int64_t row


cdef inline uint64_t falling_key(double score) noexcept nogil:
    """An integer that is smaller the higher the score; 0.0 and -0.0 are one. No NaN."""
    cdef uint64_t bits
    score += 0.0
    memcpy(&bits, &score, sizeof(bits))
    return bits if bits >> 63 else bits ^ <uint64_t>0x7FFFFFFFFFFFFFFF


cdef inline void sort_few(Keyed* rows, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef Keyed row
    for i in range(1, n):
        row = rows[i]
        j = i
        while j > 0 and rows[j - 1].key > row.key:
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = row


cdef inline void sort_falling(Keyed* rows, Keyed* other, Py_ssize_t n) noexcept nogil:
    """Sort rows by key, stably. `other` is scratch of n as well."""
    cdef int64_t counts[DIGITS][CELLS]
    cdef Py_ssize_t i, digit
    cdef int64_t before, count
    cdef uint64_t key
    cdef Keyed* source = rows
    cdef Keyed* target = other
    cdef Keyed* swap
    if n <= FEW:
        sort_few(rows, n)
        return
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        key = rows[i].key
        for digit in range(DIGITS):
            counts[digit][(key >> (digit * DIGIT)) & (CELLS - 1)] += 1
    for digit in range(DIGITS):
        if counts[digit][(rows[0].key >> (digit * DIGIT)) & (CELLS - 1)] == n:
            continue
        before = 0
        for i in range(CELLS):
            count = counts[digit][i]
            counts[digit][i] = before
            before += count
        for i in range(n):
            key = (source[i].key >> (digit * DIGIT)) & (CELLS - 1)
            target[counts[digit][key]] = source[i]
            counts[digit][key] += 1
        swap = source
        source = target
        target = swap
    if source != rows:
        memcpy(rows, source, n * sizeof(Keyed))
