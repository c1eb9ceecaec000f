"""The AUC of a group of weighted rows: exact sums, as those of wide_weights.pxd, and one rounding of their quotient.

The unit of the weights is the group's own, so that only weights of one group that differ by a factor of more than about
2**60 need wider integers.
"""

from libc.math cimport fabs
from libc.stdint cimport uint64_t

from fastmetrics._kernels.sweep.weighted_rows cimport WeightedRow, add_wins
from fastmetrics._kernels.sweep.wide_weights cimport (
    WIDE_BITS, Span, Wide, add_product, divide_wide, empty_span, exponents_of_span, rounded, scale_of_unit, sum_of,
    widen_span,
)

cdef enum:
    FIRST_RUN = 24  # rows of the first runs of the merge sort, sorted by insertion


cdef inline void sort_few(WeightedRow* rows, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef WeightedRow row
    for i in range(1, n):
        row = rows[i]
        j = i - 1
        while j >= 0 and rows[j].key > row.key:
            rows[j + 1] = rows[j]
            j -= 1
        rows[j + 1] = row


cdef inline WeightedRow* sort_rows(WeightedRow* rows, Py_ssize_t n, WeightedRow* scratch) noexcept nogil:
    """Sort ascending by key; return where the sorted rows are: in `rows` or in `scratch`, which has n elements too."""
    cdef Py_ssize_t width = FIRST_RUN
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t middle, stop, i, j, out
    cdef WeightedRow* swap
    while start < n:
        sort_few(rows + start, min(<Py_ssize_t>FIRST_RUN, n - start))
        start += FIRST_RUN
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(middle + width, n)
            i = out = start
            j = middle
            while i < middle or j < stop:
                if j == stop or (i < middle and rows[i].key <= rows[j].key):
                    scratch[out] = rows[i]
                    i += 1
                else:
                    scratch[out] = rows[j]
                    j += 1
                out += 1
            start = stop
        swap = rows
        rows = scratch
        scratch = swap
        width *= 2
    return rows


cdef inline bint auc_of_rows(const WeightedRow* rows, Py_ssize_t n, double* auc, double* total) noexcept nogil:
    """The AUC of rows in ascending order of keys, 0 if a class is missing, and the sum of their weights.

    Returns 0 if the weights are too far apart, or if a rounding is uncertain.
    """
    cdef Span span = empty_span()
    cdef Py_ssize_t i
    cdef int label
    cdef int unit = 0
    cdef int highest = 0
    cdef int count_bits = 0
    cdef uint64_t wins[4]
    cdef uint64_t all_pairs[4]
    cdef Wide by_class[2]
    for i in range(n):
        widen_span(fabs(rows[i].weight), &span)
    if not exponents_of_span(&span, &unit, &highest):
        unit = highest = 0
    while n >> count_bits:
        count_bits += 1
    if highest - unit + count_bits > WIDE_BITS:
        return 0
    for i in range(4):
        wins[i] = all_pairs[i] = 0
    for label in range(2):
        by_class[label].low = by_class[label].high = 0
    add_wins(rows, n, unit, by_class, wins)
    total[0] = rounded(sum_of(by_class[0], by_class[1]), unit, scale_of_unit(unit))
    auc[0] = 0
    add_product(all_pairs, sum_of(by_class[0], by_class[0]), by_class[1])
    if not (all_pairs[0] | all_pairs[1] | all_pairs[2] | all_pairs[3]):
        return 1
    return divide_wide(wins, all_pairs, auc)
