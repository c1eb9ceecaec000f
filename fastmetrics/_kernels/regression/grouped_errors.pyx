"""Errors of every group: means of p - y, (y - p)^2 and |y - p|, in this order, each rounded once.

The groups of a partition are found (partition_groups.pyx). Their rows are copied in the order of the groups, and the
terms of each group are summed. Up to FEW_ROWS rows are summed in double-double arithmetic. Its error is bounded, so the
rounding of the mean is nearly always certain (quotient.pxd). Otherwise the sum uses a superaccumulator. If the rounding
is still uncertain, the caller computes the mean with integers.
"""

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from fastmetrics._kernels.columns.column_blocks cimport memory_of, words_of
from fastmetrics._kernels.exchange.group_table cimport PartitionBlocks
from fastmetrics._kernels.exchange.partition_groups cimport (
    FoundGroups, PartitionedRows, PartitionGroups, find_in_partition,
)
from fastmetrics._kernels.numeric.quotient cimport (
    DoubleDouble, load_double_double, divide_state, divide_double_doubles, two_sum, count_non_finite,
)
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, STATE_SIZE, add_chunk, carry_after, normalize
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

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
    memset(state, 0, STATE_SIZE * sizeof(int64_t))
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        for i in range(length):
            chunk[i] = values[start + i]
        add_chunk(state, chunk, length, rest)
        start += length
        carry_after(state, start)
    normalize(state)


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
    const PartitionBlocks* blocks, Py_ssize_t partition, const void** column, bint is_double,
    const uint32_t* group_of_row, int64_t* cursors, double* out
) noexcept nogil:
    """Copy one column of a partition in the order of the groups. A cursor moves from the first row past the last."""
    cdef Py_ssize_t block, row
    cdef Py_ssize_t i = 0
    cdef uint32_t group
    cdef const int32_t* span
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        for row in range(span[0], span[1]):
            group = group_of_row[i]
            if is_double:
                out[cursors[group]] = (<const double*>column[block])[row]
            else:
                out[cursors[group]] = (<const float*>column[block])[row]
            cursors[group] += 1
            i += 1


cdef inline void set_group_starts(const int64_t* class_counts, Py_ssize_t n_groups, int64_t* cursors) noexcept nogil:
    cdef Py_ssize_t group
    cdef int64_t first_row = 0
    for group in range(n_groups):
        cursors[group] = first_row
        first_row += class_counts[2 * group] + class_counts[2 * group + 1]


cdef struct ErrorMemory:
    int64_t* cursors               # where a group starts; after gathering, where it stops
    double* columns[4]             # targets, predictions and weights in the order of groups, and terms
    double* means
    int64_t* uncertain
    Py_ssize_t most


cdef Py_ssize_t average_groups(const ErrorMemory* memory, Py_ssize_t n_groups, bint weighted) noexcept nogil:
    """Write the means of every group; return how many are left to the caller."""
    cdef Py_ssize_t group, stop, i
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_uncertain = 0
    cdef int kind
    cdef int kinds[N_KINDS]
    cdef bint good
    cdef double error = 0
    cdef DoubleDouble weight
    cdef const double* weights = memory.columns[2]
    cdef double* terms = memory.columns[3]
    cdef int64_t* own
    kinds[0] = FM_SIGNED
    kinds[1] = FM_SQUARED
    kinds[2] = FM_ABSOLUTE
    for group in range(n_groups):
        stop = memory.cursors[group]
        good = 1
        if weighted:
            good = sum_weights(weights + start, stop - start, &weight, &error)
        else:
            weight = two_sum(<double>(stop - start), 0)
        for kind in range(N_KINDS):
            error_terms(kinds[kind], 0, memory.columns[0] + start, memory.columns[1] + start, stop - start, terms)
            if weighted:
                for i in range(stop - start):
                    terms[i] *= weights[start + i]
            if not good or not round_mean(
                    terms, stop - start, weight, error, &memory.means[kind * memory.most + group]):
                own = memory.uncertain + 4 * n_uncertain
                own[0] = group
                own[1] = kind
                own[2] = start
                own[3] = stop
                n_uncertain += 1
        start = stop
    return n_uncertain


cdef class GroupErrors:
    """Averages the errors of the groups of one partition after the other.

    Score 0 of the rows has the targets, score 1 the predictions. After `average`, `means` (kind, group) has the means,
    rows 0 to 2 of `columns` hold targets, predictions and weights in the order of the groups, and `uncertain` lists the
    means that are left to the caller as (group, kind, start, stop), with start and stop as columns of `columns`.
    """

    cdef readonly PartitionGroups groups
    cdef readonly object columns
    cdef readonly object means
    cdef readonly object uncertain
    cdef readonly Py_ssize_t n_uncertain
    cdef ErrorMemory memory
    cdef list kept

    def __cinit__(self, PartitionGroups groups not None, allocate):
        cdef PartitionedRows rows = groups.rows
        cdef Py_ssize_t most = max(1, rows.largest)
        cdef Py_ssize_t i
        if rows.n_scores < 2 or rows.score_bytes[0] not in (4, 8) or rows.score_bytes[1] not in (4, 8):
            raise ValueError("targets and predictions must be two columns of float32 or float64")
        self.groups = groups
        self.kept = []
        self.columns = allocate("columns", np.float64, 4 * most).reshape(4, most)
        self.means = allocate("means", np.float64, N_KINDS * most).reshape(N_KINDS, most)
        self.uncertain = allocate("uncertain", np.int64, 4 * N_KINDS * most).reshape(N_KINDS * most, 4)
        self.memory.cursors = <int64_t*>words_of(self.kept, allocate, "cursors", most)
        self.memory.columns[0] = <double*>memory_of(self.columns, 4 * most, 8)
        for i in range(1, 4):
            self.memory.columns[i] = self.memory.columns[0] + i * most
        self.memory.means = <double*>memory_of(self.means, N_KINDS * most, 8)
        self.memory.uncertain = <int64_t*>memory_of(self.uncertain, 4 * N_KINDS * most, 8)
        self.memory.most = most

    def average(self, Py_ssize_t partition) -> int:
        """Average the errors of the groups of a partition; return how many groups there are."""
        cdef PartitionedRows rows = self.groups.rows
        cdef FoundGroups found = self.groups.memory(partition, partition + 1, False)
        cdef int64_t* class_counts = <int64_t*>memory_of(self.groups.class_counts, 2 * rows.largest, 8)
        cdef const void** column
        cdef Py_ssize_t n_groups, i
        with nogil:
            n_groups = find_in_partition[uint8_t](&found, partition, 0, class_counts, 0)
            for i in range(3 if rows.weights else 2):
                column = rows.weights if i == 2 else rows.scores + i * found.blocks.n_blocks
                set_group_starts(class_counts, n_groups, self.memory.cursors)
                gather_by_group(
                    &found.blocks, partition, column, i == 2 or rows.score_bytes[i] == 8, found.group_of_row,
                    self.memory.cursors, self.memory.columns[i])
            self.n_uncertain = average_groups(&self.memory, n_groups, rows.weights != NULL)
        return n_groups
