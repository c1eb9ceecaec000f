"""Sums over the cells and the sizes of a contingency table: of squares, for mutual information and for entropies.

Terms are computed in float64 (formulas and accuracy: mutual_info.h) and added without rounding to a state of the
superaccumulator (superaccumulator.pxd). So a sum does not depend on the order of cells or classes, on their codes, or
on the division of work among threads. Sizes are int64, at least 1; products of two sizes have 128 bits.
"""

from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_range
from fastmetrics._kernels.numeric.superaccumulator cimport (
    STATE_SIZE, CHUNK, add_chunk, add_value, carry_after, normalize,
)

cdef extern from "clustering/mutual_info.h":
    ctypedef struct UInt128 "fm_uint128":
        uint64_t high
        uint64_t low
    UInt128 product "fm_uint128_product"(uint64_t x, uint64_t y) noexcept nogil
    UInt128 add_uint128 "fm_uint128_sum"(UInt128 x, UInt128 y) noexcept nogil
    double difference "fm_uint128_difference"(UInt128 x, UInt128 y) noexcept nogil
    double to_double "fm_uint128_to_double"(UInt128 x) noexcept nogil
    void information_terms "fm_information_terms"(
        double* counts, const double* expected, const double* differences, Py_ssize_t n
    ) noexcept nogil
    void entropy_terms "fm_entropy_terms"(double* sizes, const double* rest, double total, Py_ssize_t n) noexcept nogil
    double expected_term "fm_expected"(int64_t a, int64_t b, int64_t total) noexcept nogil
    uint64_t sum_squares "fm_sum_squares"(const int64_t* counts, Py_ssize_t n) noexcept nogil
    void sum_wide_squares "fm_sum_wide_squares"(const int64_t* counts, Py_ssize_t n, uint64_t* sums) noexcept nogil


cdef struct Table:
    const int64_t* rows
    const int64_t* columns
    const int64_t* counts
    const int64_t* row_sums
    const int64_t* column_sums
    uint64_t total


cdef UInt128 add_cells(Table table, Py_ssize_t start, Py_ssize_t stop, int64_t* state) noexcept nogil:
    """Add the terms of the cells from start to stop. Returns the sum of their a_i b_j."""
    cdef double counts[CHUNK]
    cdef double expected[CHUNK]
    cdef double differences[CHUNK]
    cdef Py_ssize_t first = start
    cdef Py_ssize_t i, length
    cdef UInt128 observed_product, expected_product, expected_sum
    expected_sum.high = 0
    expected_sum.low = 0
    while first < stop:
        length = stop - first if stop - first < CHUNK else CHUNK
        for i in range(length):
            observed_product = product(table.total, <uint64_t>table.counts[first + i])
            expected_product = product(
                <uint64_t>table.row_sums[table.rows[first + i]],
                <uint64_t>table.column_sums[table.columns[first + i]],
            )
            expected_sum = add_uint128(expected_sum, expected_product)
            counts[i] = to_double(observed_product)
            expected[i] = to_double(expected_product)
            differences[i] = difference(observed_product, expected_product)
        information_terms(counts, expected, differences, length)
        add_chunk(state, counts, length, expected)
        first += length
        carry_after(state, first)
    normalize(state)
    return expected_sum


def sum_information(
    const int64_t[::1] rows, const int64_t[::1] columns, const int64_t[::1] counts, const int64_t[::1] row_sums,
    const int64_t[::1] column_sums, int64_t total, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] state,
) -> int:
    """Add n n_ij log(n n_ij / (a_i b_j)) - (n n_ij - a_i b_j), which is not negative, for the cells from start to stop.

    Each cell occurs once, with a count of at least 1 and valid codes. n = total is the sum of either sizes. Returns the
    sum of a_i b_j over these cells; n^2 minus the sum over all non-empty cells is the term of all empty cells.
    """
    cdef Table table
    cdef UInt128 expected_sum
    need_length(b"state", state.shape[0], STATE_SIZE)
    need_range(start, stop, min(rows.shape[0], columns.shape[0], counts.shape[0]))
    if stop <= start:
        return 0
    need_below(b"rows", &rows[start], stop - start, row_sums.shape[0])
    need_below(b"columns", &columns[start], stop - start, column_sums.shape[0])
    table.rows = &rows[0]
    table.columns = &columns[0]
    table.counts = &counts[0]
    table.row_sums = &row_sums[0]
    table.column_sums = &column_sums[0]
    table.total = <uint64_t>total
    with nogil:
        expected_sum = add_cells(table, start, stop, &state[0])
    return (int(expected_sum.high) << 64) | int(expected_sum.low)


cdef void add_entropy_terms(
    const int64_t* sizes, Py_ssize_t n, int64_t total, int64_t* state
) noexcept nogil:
    cdef double terms[CHUNK]
    cdef double rests[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        for i in range(length):
            terms[i] = <double>sizes[start + i]
            rests[i] = <double>(total - sizes[start + i])
        entropy_terms(terms, rests, <double>total, length)
        add_chunk(state, terms, length, rests)
        start += length
        carry_after(state, start)
    normalize(state)


def sum_entropy(const int64_t[::1] sizes, int64_t total, int64_t[::1] state):
    """Add size log(total / size) for every size."""
    need_length(b"state", state.shape[0], STATE_SIZE)
    if sizes.shape[0]:
        with nogil:
            add_entropy_terms(&sizes[0], sizes.shape[0], total, &state[0])


cdef void add_expected_terms(
    const int64_t* first, const int64_t* first_counts, const int64_t* second, const int64_t* second_counts,
    Py_ssize_t n_second, int64_t total, Py_ssize_t start, Py_ssize_t stop, int64_t* state,
) noexcept nogil:
    cdef Py_ssize_t i = start // n_second
    cdef Py_ssize_t j = start - i * n_second
    cdef Py_ssize_t pair
    cdef double term
    for pair in range(start, stop):
        term = expected_term(first[i], second[j], total)
        add_value(state, <double>first_counts[i] * <double>second_counts[j] * term)
        if (pair - start) % (1 << 28) == 0:
            normalize(state)
        j += 1
        if j == n_second:
            j = 0
            i += 1
    normalize(state)


def sum_expected(
    const int64_t[::1] first, const int64_t[::1] first_counts, const int64_t[::1] second,
    const int64_t[::1] second_counts, int64_t total, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] state,
):
    """Add the expectation of k log(k n / (a b)) for the pairs of sizes (a, b) from start to stop, with k common rows.

    Pair p is first[p // len(second)] and second[p % len(second)], and is added first_counts * second_counts times. All
    partitions with these sizes are equally likely, so k is hypergeometric.
    """
    need_length(b"state", state.shape[0], STATE_SIZE)
    need_length(b"first_counts", first_counts.shape[0], first.shape[0])
    need_length(b"second_counts", second_counts.shape[0], second.shape[0])
    need_range(start, stop, first.shape[0] * second.shape[0])
    if stop > start:
        with nogil:
            add_expected_terms(
                &first[0], &first_counts[0], &second[0], &second_counts[0], second.shape[0], total, start, stop,
                &state[0],
            )


cdef object join_words(uint64_t low, uint64_t high):
    """low + 2**64 high, as a Python integer."""
    return low + (<object>high << 64)


def square_sum(const int64_t[::1] counts, bint wide) -> int:
    """The sum of the squares of counts, which are not negative, as a Python integer.

    `wide` must be true if the sum of the counts may be 2**32 or more. The square of a smaller sum fits in 64 bits, and
    so does the sum of squares. Wide squares are added in halves of 32 bits, exactly for any number of counts.
    """
    cdef uint64_t sums[6]
    cdef Py_ssize_t n = counts.shape[0]
    if n == 0:
        return 0
    if not wide:
        with nogil:
            sums[0] = sum_squares(&counts[0], n)
        return sums[0]
    with nogil:
        sum_wide_squares(&counts[0], n, sums)
    return join_words(sums[0], sums[1]) + (join_words(sums[2], sums[3]) << 33) + (join_words(sums[4], sums[5]) << 64)


def max_by_column(const int64_t[::1] columns, const int64_t[::1] counts, int64_t[::1] maxima):
    """Raise maxima[j] to the largest count of column j."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(counts.shape[0]):
            if counts[i] > maxima[columns[i]]:
                maxima[columns[i]] = counts[i]
