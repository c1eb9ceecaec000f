"""A batch of 64 replicates of weighted rows: sums of rows, and the sweep from tie to tie.

Sums of a batch are (class, word, replicate): low and high words of 64 bits, of the negatives and of the positives, in
units of 2**unit_exponent (wide_weights.pxd). Rows are added to limbs (weighted_batch.h), and limbs to words.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.sweep.wide_weights cimport Wide, sum_of, units_of

cdef extern from "resampling/weighted_batch.h":
    cdef enum:
        FM_UNIT_BUCKET, FM_POSITIVE, FM_LAST_OF_TIE, FM_SUMMED_ROWS
    void add_limbs "fm_add_weighted_rows"(
        const uint16_t* codes, const double* limbs, Py_ssize_t n, int n_limbs, const uint8_t* weights, double* sums
    ) noexcept nogil

cdef enum:
    FM_REPLICATES = 64  # as in weighted_batch.h
    FM_LIMBS = 4
    BLOCK_ROWS = 64  # rows whose limbs are made at once
    TERMS = 256  # of a replicate that wait to be summed


cdef struct PrecisionTerms:
    double* terms  # TERMS of every replicate
    int64_t* states  # the exact sum of every replicate
    uint64_t* uncertain
    Py_ssize_t n_uncertain
    int lengths[FM_REPLICATES]


cdef struct Batch:
    int unit_exponent
    double unit  # 2**unit_exponent, see scale_of_unit
    int n_limbs
    const uint8_t* weights
    uint64_t* above  # the sums so far
    const uint64_t* totals  # the sums of all rows, for statistics that need them
    uint64_t* state  # of the statistic, by replicate
    PrecisionTerms terms
    uint64_t tied[256]  # two words for each class and replicate: the sums of a tie
    double limbs[512]  # of each class and replicate: sums that were not added to words yet


ctypedef void (*end_function)(Batch* batch) noexcept nogil


cdef inline Wide load(const uint64_t* sums, int label, int replicate) noexcept nogil:
    cdef Wide out
    out.low = sums[2 * label * FM_REPLICATES + replicate]
    out.high = sums[(2 * label + 1) * FM_REPLICATES + replicate]
    return out


cdef inline void add(uint64_t* sums, int label, int replicate, Wide more) noexcept nogil:
    cdef Wide total = sum_of(load(sums, label, replicate), more)
    sums[2 * label * FM_REPLICATES + replicate] = total.low
    sums[(2 * label + 1) * FM_REPLICATES + replicate] = total.high


cdef inline bint is_zero(Wide number) noexcept nogil:
    return not number.low | number.high


cdef inline Wide take_limbs(double* limbs, int n_limbs) noexcept nogil:
    """The number with these limbs, each below 2**53; they become 0."""
    cdef Wide out
    cdef Wide limb
    cdef uint64_t value
    cdef int number
    out.low = <uint64_t><int64_t>limbs[0]
    out.high = 0
    limbs[0] = 0
    for number in range(1, n_limbs):
        value = <uint64_t><int64_t>limbs[number * FM_REPLICATES]
        limbs[number * FM_REPLICATES] = 0
        if number == 1:
            limb.low, limb.high = value << 32, value >> 32
        else:
            limb.low, limb.high = 0, value << (32 * (number - 2))
        out = sum_of(out, limb)
    return out


cdef inline void add_sums(Batch* batch, int label, uint64_t* sums) noexcept nogil:
    """Move what was added of a class from limbs to words."""
    cdef int replicate
    cdef double* limbs = &batch.limbs[label * FM_LIMBS * FM_REPLICATES]
    for replicate in range(FM_REPLICATES):
        add(sums, label, replicate, take_limbs(limbs + replicate, batch.n_limbs))


cdef inline void add_rows_to_limbs(
    Batch* batch, const uint16_t* codes, const double* row_weights, Py_ssize_t n
) noexcept nogil:
    """Add at most FM_SUMMED_ROWS rows."""
    cdef double limbs[256]  # BLOCK_ROWS * FM_LIMBS
    cdef Py_ssize_t i
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t length = 0
    cdef Wide units
    while start < n:
        length = n - start if n - start < BLOCK_ROWS else BLOCK_ROWS
        for i in range(length):
            units = units_of(row_weights[start + i], batch.unit_exponent)
            limbs[FM_LIMBS * i] = <double><int64_t>(units.low & 0xFFFFFFFFu)
            limbs[FM_LIMBS * i + 1] = <double><int64_t>(units.low >> 32)
            limbs[FM_LIMBS * i + 2] = <double><int64_t>(units.high & 0xFFFFFFFFu)
            limbs[FM_LIMBS * i + 3] = <double><int64_t>(units.high >> 32)
        add_limbs(codes + start, limbs, length, batch.n_limbs, batch.weights, batch.limbs)
        start += length


cdef inline void add_rows_to_sums(
    Batch* batch, const uint16_t* codes, const double* row_weights, Py_ssize_t n, uint64_t* sums
) noexcept nogil:
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t length = 0
    while start < n:
        length = n - start if n - start < FM_SUMMED_ROWS else FM_SUMMED_ROWS
        add_rows_to_limbs(batch, codes + start, row_weights + start, length)
        add_sums(batch, 0, sums)
        add_sums(batch, 1, sums)
        start += length


cdef inline Py_ssize_t end_of_tie(
    const uint16_t* codes, Py_ssize_t start, Py_ssize_t n, bint* has_positive
) noexcept nogil:
    """The row behind a tie."""
    cdef int flags = 0
    while start < n:
        flags |= codes[start]
        start += 1
        if codes[start - 1] & FM_LAST_OF_TIE:
            break
    has_positive[0] = (flags & FM_POSITIVE) != 0
    return start


cdef inline Py_ssize_t sweep_tie(
    Batch* batch, const uint16_t* codes, const double* row_weights, Py_ssize_t start, Py_ssize_t n,
    end_function end_negatives, end_function end_tie
) noexcept nogil:
    """Add the rows up to the end of the next tie with positives, and return the row behind it.

    `end_negatives` is called when the limbs have the negatives above it, `end_tie` when `tied` has the sums of the tie.
    """
    cdef Py_ssize_t first = start
    cdef Py_ssize_t stop = start
    cdef Py_ssize_t length = 0
    cdef bint has_positive = 0
    while first < n:
        stop = end_of_tie(codes, first, n, &has_positive)
        if has_positive:
            break
        first = stop
    while start < first:
        length = first - start if first - start < FM_SUMMED_ROWS else FM_SUMMED_ROWS
        add_rows_to_limbs(batch, codes + start, row_weights + start, length)
        end_negatives(batch)
        start += length
    if not has_positive:
        return n
    add_rows_to_sums(batch, codes + first, row_weights + first, stop - first, batch.tied)
    end_tie(batch)
    memset(batch.tied, 0, sizeof(batch.tied))
    return stop


cdef inline void sweep_rows(
    Batch* batch, const uint16_t* codes, const double* row_weights, Py_ssize_t n, end_function end_negatives,
    end_function end_tie
) noexcept nogil:
    """Add all rows."""
    cdef Py_ssize_t start = 0
    while start < n:
        start = sweep_tie(batch, codes, row_weights, start, n, end_negatives, end_tie)
