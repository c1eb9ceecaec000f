"""Errors of every group: means of p - y, (y - p)^2 and |y - p|, in this order, each rounded once.

The rows of a partition (hash_partition.pyx) come with the number of their group (grouped_auc.pyx). They are copied in
the order of the groups, and the terms of each group are summed. Up to FEW_ROWS rows are summed in double-double
arithmetic. Its error is bounded, so the rounding of the mean is nearly always certain (quotient.pxd). Otherwise the sum
uses a superaccumulator. If the rounding is still uncertain, the caller computes the mean with integers.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.quotient cimport (
    DoubleDouble, load_double_double, divide_state, divide_double_doubles, two_sum, count_non_finite,
)
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, CHUNKS_PER_CARRY, STATE_SIZE, add_chunk, normalise

cdef extern from "regression/error_terms.h":
    cdef enum:
        FM_SIGNED, FM_SQUARED, FM_ABSOLUTE
    int error_terms "fm_error_terms"(
        int kind, double parameter, const double* y, const double* p, Py_ssize_t n, double* out
    ) noexcept nogil

cdef enum:
    N_KINDS = 3
    FEW_ROWS = 64


cdef inline DoubleDouble sum_double_double(const double* terms, Py_ssize_t n, double* error) noexcept nogil:
    """Sum at most FEW_ROWS terms, with an error bound above (n 2**-53)^2 times the sum of their absolute values."""
    cdef DoubleDouble total
    cdef DoubleDouble part
    cdef double low = 0
    cdef double size = 0
    cdef bint is_exact = 1
    cdef Py_ssize_t i
    total.high = 0
    for i in range(n):
        part = two_sum(total.high, terms[i])
        total.high = part.high
        part = two_sum(low, part.low)
        low = part.high
        is_exact &= part.low == 0
        size += fabs(terms[i])
    error[0] = 0 if is_exact else size * 2.0 ** -92 + 5e-324
    return two_sum(total.high, low)


cdef inline bint is_moderate(DoubleDouble value) noexcept nogil:
    return 2.0 ** -400 < fabs(value.high) < 2.0 ** 400


cdef void sum_exactly(int64_t* state, const double* values, Py_ssize_t n) noexcept nogil:
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n_chunks = 0
    memset(state, 0, STATE_SIZE * sizeof(int64_t))
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        for i in range(length):
            chunk[i] = values[start + i]
        add_chunk(state, chunk, length, rest)
        start += length
        n_chunks += 1
        if n_chunks % CHUNKS_PER_CARRY == 0:
            normalise(state)
    normalise(state)


cdef bint round_mean(
    const double* terms, Py_ssize_t n, DoubleDouble weight, double weight_error, double* out
) noexcept nogil:
    """Divide the sum of terms by the weight and round once. Return 0 if the rounding is uncertain."""
    cdef int64_t state[STATE_SIZE]
    cdef DoubleDouble total
    cdef double error = 0
    if n <= FEW_ROWS:
        total = sum_double_double(terms, n, &error)
        if total.high == 0 and error == 0:
            out[0] = 0
            return 1
        if is_moderate(total) and divide_double_doubles(total, error, weight, weight_error, out):
            return 1
    sum_exactly(state, terms, n)
    if count_non_finite(state):
        return 0
    if weight_error == 0 and weight.low == 0:
        return divide_state(state, weight, out)
    if not load_double_double(state, &total):
        return 0
    if total.high == 0:
        out[0] = 0
        return 1
    return divide_double_doubles(total, fabs(total.high) * 2.0 ** -92, weight, weight_error, out)


cdef bint sum_weights(const double* weights, Py_ssize_t n, DoubleDouble* out, double* error) noexcept nogil:
    """Sum positive weights. Return 0 if the sum is too large or too small."""
    cdef int64_t state[STATE_SIZE]
    if n <= FEW_ROWS:
        out[0] = sum_double_double(weights, n, error)
        return is_moderate(out[0]) and out.high > 0
    sum_exactly(state, weights, n)
    if not load_double_double(state, out):
        return 0
    error[0] = out.high * 2.0 ** -92
    return 1


cdef void gather_by_group(
    const uint64_t* blocks, bint is_double, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride,
    Py_ssize_t partition, const uint32_t* group_of_row, int64_t* cursors, double* out
) noexcept nogil:
    """Copy one column of a partition in the order of the groups. A cursor moves from the first row past the last."""
    cdef Py_ssize_t block, row
    cdef Py_ssize_t i = 0
    cdef uint32_t group
    cdef const int32_t* span
    for block in range(n_blocks):
        span = offsets + block * row_stride + partition
        for row in range(span[0], span[1]):
            group = group_of_row[i]
            if is_double:
                out[cursors[group]] = (<const double*><uintptr_t>blocks[block])[row]
            else:
                out[cursors[group]] = (<const float*><uintptr_t>blocks[block])[row]
            cursors[group] += 1
            i += 1


cdef inline void set_group_starts(const int64_t* class_rows, Py_ssize_t n_groups, int64_t* cursors) noexcept nogil:
    cdef Py_ssize_t group
    cdef int64_t first_row = 0
    for group in range(n_groups):
        cursors[group] = first_row
        first_row += class_rows[2 * group]


def group_errors(
    const uint64_t[:, ::1] value_blocks, const uint8_t[::1] double_values, const uint64_t[::1] weight_blocks,
    const int32_t[:, ::1] offsets, Py_ssize_t partition, const uint32_t[::1] group_of_row,
    const int64_t[:, ::1] class_rows, Py_ssize_t n_groups, int64_t[::1] cursors, double[:, ::1] scratch,
    double[:, ::1] means, int64_t[:, ::1] uncertain
) -> int:
    """Write means[kind, group] of the groups of a partition. Return how many means are left to the caller.

    value_blocks has the addresses of targets and predictions by block. weight_blocks is empty without weights.
    class_rows[group, 0] is the number of rows of a group. After the call, rows 0 to 2 of scratch hold targets,
    predictions and weights in the order of the groups; row 3 is for terms. uncertain lists the means left to the caller
    as (group, kind, start, stop), with start and stop as columns of scratch.
    """
    cdef Py_ssize_t n_blocks = offsets.shape[0]
    cdef Py_ssize_t row_stride = offsets.shape[1]
    cdef Py_ssize_t group, start, stop, i
    cdef Py_ssize_t n_uncertain = 0
    cdef bint weighted = weight_blocks.shape[0] > 0
    cdef int kind
    cdef int kinds[N_KINDS]
    cdef bint good
    cdef double error = 0
    cdef DoubleDouble weight
    cdef double* y = &scratch[0, 0]
    cdef double* p = &scratch[1, 0]
    cdef double* w = &scratch[2, 0]
    cdef double* terms = &scratch[3, 0]
    kinds[0] = FM_SIGNED
    kinds[1] = FM_SQUARED
    kinds[2] = FM_ABSOLUTE
    with nogil:
        for i in range(2 + weighted):
            set_group_starts(&class_rows[0, 0], n_groups, &cursors[0])
            if i < 2:
                gather_by_group(
                    &value_blocks[i, 0], double_values[i], &offsets[0, 0], n_blocks, row_stride, partition,
                    &group_of_row[0], &cursors[0], &scratch[i, 0])
            else:
                gather_by_group(
                    &weight_blocks[0], 1, &offsets[0, 0], n_blocks, row_stride, partition, &group_of_row[0],
                    &cursors[0], &scratch[i, 0])
        start = 0
        for group in range(n_groups):
            stop = cursors[group]
            good = 1
            if weighted:
                good = sum_weights(w + start, stop - start, &weight, &error)
            else:
                weight = two_sum(<double>(stop - start), 0)
            for kind in range(N_KINDS):
                error_terms(kinds[kind], 0, y + start, p + start, stop - start, terms)
                if weighted:
                    for i in range(stop - start):
                        terms[i] *= w[start + i]
                if not good or not round_mean(terms, stop - start, weight, error, &means[kind, group]):
                    uncertain[n_uncertain, 0] = group
                    uncertain[n_uncertain, 1] = kind
                    uncertain[n_uncertain, 2] = start
                    uncertain[n_uncertain, 3] = stop
                    n_uncertain += 1
            start = stop
    return n_uncertain
