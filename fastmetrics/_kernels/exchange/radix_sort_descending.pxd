"""Stable sort of rows by descending score: merge sort for few rows, radix sort for many.

The radix sort reads only the upper half of the digits at first. These 33 bits separate nearly all scores, and an
insertion sort then orders the neighbors that they do not separate. If the insertion sort takes too many moves (many
scores differ by less than 1e-6), the rows are sorted by all digits.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

cdef enum:
    INSERTION_SORT_ROWS = 12    # runs of so many rows are sorted by insertion
    MERGE_SORT_ROWS = 512       # up to so many rows: merge sort
    DIGIT_BITS = 11
    N_DIGITS = 6
    FIRST_UPPER_DIGIT = 3       # the first digit of the upper half
    DIGIT_VALUES = 2048         # 1 << DIGIT_BITS
    MAX_MOVES_PER_ROW = 4       # moves of the insertion sort


cdef struct KeyedRow:
    uint64_t key
    int64_t row


cdef inline uint64_t descending_key(double score) noexcept nogil:
    """A sort key that descends with the score; 0.0 and -0.0 have the same key. The score is not NaN."""
    cdef uint64_t bits
    score += 0.0
    memcpy(&bits, &score, sizeof(bits))
    return bits if bits >> 63 else bits ^ <uint64_t>0x7FFFFFFFFFFFFFFF


cdef inline bint insertion_sort_rows(KeyedRow* rows, Py_ssize_t n, Py_ssize_t max_moves) noexcept nogil:
    """Insertion sort. Returns False after more than `max_moves` moves; the rows are then partly sorted."""
    cdef Py_ssize_t i, j
    cdef KeyedRow row
    for i in range(1, n):
        row = rows[i]
        j = i
        while j > 0 and rows[j - 1].key > row.key:
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = row
        max_moves -= i - j
        if max_moves < 0:
            return False
    return True


cdef inline void merge_sort_rows(KeyedRow* rows, KeyedRow* scratch, Py_ssize_t n) noexcept nogil:
    """Merge sort: runs are sorted by insertion, then merged in pairs between the two arrays."""
    cdef Py_ssize_t start, middle, stop, i, j, k
    cdef Py_ssize_t length = INSERTION_SORT_ROWS
    cdef KeyedRow* source = rows
    cdef KeyedRow* target = scratch
    cdef KeyedRow* swap
    start = 0
    while start < n:
        insertion_sort_rows(rows + start, min(length, n - start), length * length)
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
        memcpy(rows, source, n * sizeof(KeyedRow))


cdef inline void radix_sort_rows(
    KeyedRow* rows, KeyedRow* scratch, Py_ssize_t n, Py_ssize_t first_digit
) noexcept nogil:
    """Radix sort by the digits from `first_digit` on, least significant digit first."""
    cdef int64_t counts[N_DIGITS][DIGIT_VALUES]
    cdef Py_ssize_t i, digit
    cdef int64_t before, count
    cdef uint64_t key
    cdef KeyedRow* source = rows
    cdef KeyedRow* target = scratch
    cdef KeyedRow* swap
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        key = rows[i].key
        for digit in range(first_digit, N_DIGITS):
            counts[digit][(key >> (digit * DIGIT_BITS)) & (DIGIT_VALUES - 1)] += 1
    for digit in range(first_digit, N_DIGITS):
        if counts[digit][(rows[0].key >> (digit * DIGIT_BITS)) & (DIGIT_VALUES - 1)] == n:
            continue
        before = 0
        for i in range(DIGIT_VALUES):
            count = counts[digit][i]
            counts[digit][i] = before
            before += count
        for i in range(n):
            key = (source[i].key >> (digit * DIGIT_BITS)) & (DIGIT_VALUES - 1)
            target[counts[digit][key]] = source[i]
            counts[digit][key] += 1
        swap = source
        source = target
        target = swap
    if source != rows:
        memcpy(rows, source, n * sizeof(KeyedRow))


cdef inline void sort_rows_descending(KeyedRow* rows, KeyedRow* scratch, Py_ssize_t n) noexcept nogil:
    """Stable sort of n rows by key. `scratch` has n elements as well."""
    if n <= MERGE_SORT_ROWS:
        merge_sort_rows(rows, scratch, n)
        return
    radix_sort_rows(rows, scratch, n, FIRST_UPPER_DIGIT)
    if not insertion_sort_rows(rows, n, MAX_MOVES_PER_ROW * n):
        radix_sort_rows(rows, scratch, n, 0)
