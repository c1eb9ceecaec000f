"""Weighted rows in ascending order of keys, and the pairs that their positives win.

A row is a key and a weight, whose sign says the class: weights are positive. Sums are those of wide_weights.pxd.
"""

from libc.math cimport fabs
from libc.stdint cimport uint64_t

from fastmetrics._kernels.sweep.wide_weights cimport Wide, add_product, add_weight, sum_of, units_of


cdef struct WeightedRow:
    uint64_t key
    double weight  # negated in rows of positives


cdef inline void add_wins(
    const WeightedRow* rows, Py_ssize_t n, int unit_exponent, Wide* by_class, uint64_t* wins
) noexcept nogil:
    """Add the weights of the negatives and positives to by_class, and twice the pairs won to `wins`, four words.

    A pair is weighted by the product of its weights. A tie counts once.
    """
    cdef Py_ssize_t i = 0
    cdef int label
    cdef uint64_t key
    cdef uint64_t sums[4]
    cdef Wide negatives = by_class[0]
    cdef Wide positives = by_class[1]
    cdef Wide units
    cdef Wide tied[2]
    for label in range(4):
        sums[label] = wins[label]
    while i < n:
        key = rows[i].key
        if i + 1 == n or rows[i + 1].key != key:  # a row without ties
            units = units_of(fabs(rows[i].weight), unit_exponent)
            if rows[i].weight < 0:
                add_product(sums, sum_of(negatives, negatives), units)
                positives = sum_of(positives, units)
            else:
                negatives = sum_of(negatives, units)
            i += 1
            continue
        for label in range(2):
            tied[label].low = tied[label].high = 0
        while i < n and rows[i].key == key:
            label = rows[i].weight < 0
            add_weight(&tied[label], fabs(rows[i].weight), unit_exponent)
            i += 1
        # The negatives below with and without the tie: twice those below, and those tied once.
        add_product(sums, sum_of(sum_of(negatives, negatives), tied[0]), tied[1])
        negatives = sum_of(negatives, tied[0])
        positives = sum_of(positives, tied[1])
    for label in range(4):
        wins[label] = sums[label]
    by_class[0] = negatives
    by_class[1] = positives
