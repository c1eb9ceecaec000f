"""Sums of which mutual information, entropy and the mutual information expected by chance are made.

Terms are computed in float64 (mutualinfo.h says how, and how exactly) and added without rounding into a state of the
superaccumulator (superaccumulator.pxd): a sum does not depend on the order of cells or classes, on how they are
numbered, or on who adds which part. Sizes are int64, at least 1; products of two are taken in 128 bits.
"""

from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, add_chunk, add_value, normalise,
)

cdef extern from "mutualinfo.h":
    ctypedef struct Long "fm_long":
        uint64_t high
        uint64_t low
    Long product "fm_long_product"(uint64_t x, uint64_t y) noexcept nogil
    Long add_longs "fm_long_sum"(Long x, Long y) noexcept nogil
    double difference "fm_long_difference"(Long x, Long y) noexcept nogil
    double to_double "fm_long_to_double"(Long x) noexcept nogil
    void informations "fm_informations"(
        double* counts, const double* expected, const double* differences, Py_ssize_t n
    ) noexcept nogil
    void entropies "fm_entropies"(double* sizes, const double* rest, double total, Py_ssize_t n) noexcept nogil
    double expected_term "fm_expected"(int64_t a, int64_t b, int64_t total) noexcept nogil


cdef struct Table:
    const int64_t* rows
    const int64_t* columns
    const int64_t* counts
    const int64_t* row_sums
    const int64_t* column_sums
    uint64_t total


cdef Long add_cells(Table table, Py_ssize_t start, Py_ssize_t stop, int64_t* state) noexcept nogil:
    """Add the terms of the cells from start to stop; the sum of their a_i b_j."""
    cdef double counts[CHUNK]
    cdef double expected[CHUNK]
    cdef double apart[CHUNK]
    cdef Py_ssize_t first = start
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n_chunks = 0
    cdef Long own, chance, chances
    chances.high = 0
    chances.low = 0
    while first < stop:
        length = stop - first if stop - first < CHUNK else CHUNK
        for i in range(length):
            own = product(table.total, <uint64_t>table.counts[first + i])
            chance = product(
                <uint64_t>table.row_sums[table.rows[first + i]],
                <uint64_t>table.column_sums[table.columns[first + i]],
            )
            chances = add_longs(chances, chance)
            counts[i] = to_double(own)
            expected[i] = to_double(chance)
            apart[i] = difference(own, chance)
        informations(counts, expected, apart, length)
        add_chunk(state, counts, length, expected)
        first += length
        n_chunks += 1
        if n_chunks % CHUNKS_PER_CARRY == 0:
            normalise(state)
    normalise(state)
    return chances


def sum_information(
    const int64_t[::1] rows, const int64_t[::1] columns, const int64_t[::1] counts, const int64_t[::1] row_sums,
    const int64_t[::1] column_sums, int64_t total, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] state,
):
    """Add n n_ij log(n n_ij / (a_i b_j)) - (n n_ij - a_i b_j), which is not negative, of the cells from start to stop.

    Each cell once, its count at least 1, its codes those of existing sizes; n = total is the sum of either sizes.
    Returns the sum of the cells' a_i b_j: what it lacks to n^2 is the term of all empty cells.
    """
    cdef Table table
    cdef Long chances
    if stop <= start:
        return 0
    table.rows = &rows[0]
    table.columns = &columns[0]
    table.counts = &counts[0]
    table.row_sums = &row_sums[0]
    table.column_sums = &column_sums[0]
    table.total = <uint64_t>total
    with nogil:
        chances = add_cells(table, start, stop, &state[0])
    return (int(chances.high) << 64) | int(chances.low)


cdef void add_entropies(
    const int64_t* sizes, Py_ssize_t n, int64_t total, int64_t* state
) noexcept nogil:
    cdef double terms[CHUNK]
    cdef double others[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n_chunks = 0
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        for i in range(length):
            terms[i] = <double>sizes[start + i]
            others[i] = <double>(total - sizes[start + i])
        entropies(terms, others, <double>total, length)
        add_chunk(state, terms, length, others)
        start += length
        n_chunks += 1
        if n_chunks % CHUNKS_PER_CARRY == 0:
            normalise(state)
    normalise(state)


def sum_entropy(const int64_t[::1] sizes, int64_t total, int64_t[::1] state):
    """Add size log(total / size) of every size."""
    if sizes.shape[0]:
        with nogil:
            add_entropies(&sizes[0], sizes.shape[0], total, &state[0])


cdef void add_expected(
    const int64_t* first, const int64_t* first_times, const int64_t* second, const int64_t* second_times,
    Py_ssize_t n_second, int64_t total, Py_ssize_t start, Py_ssize_t stop, int64_t* state,
) noexcept nogil:
    cdef Py_ssize_t i = start // n_second
    cdef Py_ssize_t j = start - i * n_second
    cdef Py_ssize_t pair
    cdef double term
    for pair in range(start, stop):
        term = expected_term(first[i], second[j], total)
        add_value(state, <double>first_times[i] * <double>second_times[j] * term)
        if (pair - start) % (1 << 28) == 0:
            normalise(state)
        j += 1
        if j == n_second:
            j = 0
            i += 1
    normalise(state)


def sum_expected(
    const int64_t[::1] first, const int64_t[::1] first_times, const int64_t[::1] second,
    const int64_t[::1] second_times, int64_t total, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] state,
):
    """Add the expectation of k log(k n / (a b)) for the pairs of sizes (a, b) numbered start to stop, k rows in common.

    Pair p is first[p // len(second)] and second[p % len(second)], and counts first_times * second_times times. Every
    partition with these sizes is as likely as another (hypergeometric k).
    """
    if stop > start:
        with nogil:
            add_expected(
                &first[0], &first_times[0], &second[0], &second_times[0], second.shape[0], total, start, stop, &state[0]
            )
