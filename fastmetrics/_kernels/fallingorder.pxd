"""Rows by falling score, equal scores in the order given: stable sorts, by merging where there are few, else by digits.

Of the digits only the upper half is used as a rule: 33 bits tell nearly all scores apart, and neighbours that they do
not tell apart are put right by insertion. Where that would take long (many scores that differ by less than 1e-6) the
rows are sorted by all digits.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

cdef enum:
    RUN = 12                    # rows that are sorted by insertion
    FEW = 512                   # rows that are merged
    DIGIT = 11                  # bits
    DIGITS = 6
    UPPER = 3                   # the first digit of the upper half
    CELLS = 2048                # 1 << DIGIT
    PATIENCE = 4                # steps of insertion for each row


cdef struct Keyed:
    uint64_t key
    int64_t row


cdef inline uint64_t falling_key(double score) noexcept nogil:
    """An integer that is smaller the higher the score; 0.0 and -0.0 are one. No NaN."""
    cdef uint64_t bits
    score += 0.0
    memcpy(&bits, &score, sizeof(bits))
    return bits if bits >> 63 else bits ^ <uint64_t>0x7FFFFFFFFFFFFFFF


cdef inline bint insert_rows(Keyed* rows, Py_ssize_t n, Py_ssize_t patience) noexcept nogil:
    """Sort by insertion; False if it takes more steps than `patience`: the rows are then partly sorted."""
    cdef Py_ssize_t i, j
    cdef Keyed row
    for i in range(1, n):
        row = rows[i]
        j = i
        while j > 0 and rows[j - 1].key > row.key:
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = row
        patience -= i - j
        if patience < 0:
            return False
    return True


cdef inline void merge_rows(Keyed* rows, Keyed* other, Py_ssize_t n) noexcept nogil:
    """Sort runs by insertion, then merge them two by two, from the one array into the other and back."""
    cdef Py_ssize_t start, middle, stop, i, j, k
    cdef Py_ssize_t length = RUN
    cdef Keyed* source = rows
    cdef Keyed* target = other
    cdef Keyed* swap
    start = 0
    while start < n:
        insert_rows(rows + start, min(length, n - start), length * length)
        start += length
    while length < n:
        start = 0
        while start < n:
            middle = min(start + length, n)
            stop = min(middle + length, n)
            i = start
            j = middle
            for k in range(start, stop):
                if i < middle and (j == stop or source[i].key <= source[j].key):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
            start = stop
        swap = source
        source = target
        target = swap
        length *= 2
    if source != rows:
        memcpy(rows, source, n * sizeof(Keyed))


cdef inline void sort_digits(Keyed* rows, Keyed* other, Py_ssize_t n, Py_ssize_t first) noexcept nogil:
    """Sort by the digits from `first` on, the lowest first."""
    cdef int64_t counts[DIGITS][CELLS]
    cdef Py_ssize_t i, digit
    cdef int64_t before, count
    cdef uint64_t key
    cdef Keyed* source = rows
    cdef Keyed* target = other
    cdef Keyed* swap
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        key = rows[i].key
        for digit in range(first, DIGITS):
            counts[digit][(key >> (digit * DIGIT)) & (CELLS - 1)] += 1
    for digit in range(first, DIGITS):
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


cdef inline void sort_falling(Keyed* rows, Keyed* other, Py_ssize_t n) noexcept nogil:
    """Sort rows by key, stably. `other` is scratch of n as well."""
    if n <= FEW:
        merge_rows(rows, other, n)
        return
    sort_digits(rows, other, n, UPPER)
    if not insert_rows(rows, n, PATIENCE * n):
        sort_digits(rows, other, n, 0)
