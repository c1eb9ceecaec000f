"""Selection for quantiles: the rows between two values, and quantiles of short columns with and without weights.

Values are finite doubles. Weights are positive, and their sums are double-doubles (quotient.pxd).
"""

from libc.math cimport NAN, fabs
from libc.string cimport memcpy

from fastmetrics._kernels.numeric.quotient cimport DoubleDouble, add_double_doubles, two_sum

cdef enum:
    MANY_VALUES = 1024
    SAMPLED = 128
    MARGIN = 12  # values of the sample: two standard deviations of a rank in the middle


def take_between(
    const double[::1] values, const double[::1] weights or None, Py_ssize_t start, Py_ssize_t stop, double low,
    double high, double[:, ::1] out
) -> tuple[int, int]:
    """Copy the rows start..stop with low <= value <= high to out[0]. Return their number, and that of lower rows.

    `out` has shape (1, n) with a place for each row. With weights it has shape (3, n): out[1] gets the weights of the
    rows that are copied, and out[2] those of lower rows.
    """
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t n_below = 0
    cdef Py_ssize_t i
    cdef double value
    if stop > values.shape[0] or out.shape[1] < stop - start:
        raise ValueError("rows and results differ in length")
    if weights is not None and (stop > weights.shape[0] or out.shape[0] < 3):
        raise ValueError("weights and results differ in length")
    with nogil:
        if weights is None:
            for i in range(start, stop):
                value = values[i]
                out[0, n] = value
                n += (value >= low) & (value <= high)
                n_below += value < low
        else:
            for i in range(start, stop):
                value = values[i]
                out[0, n] = value
                out[1, n] = weights[i]
                out[2, n_below] = weights[i]
                n += (value >= low) & (value <= high)
                n_below += value < low
    return n, n_below


def middles(const double[:, ::1] columns, Py_ssize_t rank, bint with_next, double[:, ::1] scratch, double[:, ::1] out):
    """Write the value of a rank (from 0) of each column, and the next one if it is wanted; else the value again.

    `columns` has shape (n_columns, n), `scratch` (2, n), and `out` (n_columns, 2). A column of too much work is NaN.
    """
    cdef Py_ssize_t n = columns.shape[1]
    cdef Py_ssize_t column
    if not 0 <= rank < n or scratch.shape[0] < 2 or scratch.shape[1] != n or out.shape[0] != columns.shape[0]:
        raise ValueError("columns, rank and results do not fit")
    with nogil:
        for column in range(columns.shape[0]):
            if not select_rank(
                &columns[column, 0], n, rank, with_next, &scratch[0, 0], &scratch[1, 0], &out[column, 0]
            ):
                out[column, 0] = NAN


cdef inline void take_sample(const double* values, Py_ssize_t n, double* sample) noexcept nogil:
    """Fill the sample with every so many-th value, in order."""
    cdef Py_ssize_t i, place
    cdef double value
    for i in range(SAMPLED):
        value = values[i * n // SAMPLED]
        place = i
        while place > 0 and sample[place - 1] > value:
            sample[place] = sample[place - 1]
            place -= 1
        sample[place] = value


cdef bint select_rank(
    const double* values, Py_ssize_t n, Py_ssize_t rank, bint with_next, double* parts, double* other_parts, double* out
) noexcept nogil:
    """C. A. R. Hoare's FIND without branches: smaller values go to the left end of a buffer, greater ones to the right.

    Many values are first reduced to those between two of a sample (R. W. Floyd and R. L. Rivest, 1975). Return 0 after
    too much work.
    """
    cdef const double* rows = values
    cdef double sample[SAMPLED]
    cdef double* swap
    cdef double pivot, value
    cdef double above = 0
    cdef bint has_above = 0
    cdef Py_ssize_t work = 16 * n + 256
    cdef Py_ssize_t n_less, n_greater, n_between, i
    cdef Py_ssize_t low, high
    if n >= MANY_VALUES:
        take_sample(values, n, sample)
        low = max(rank * SAMPLED // n - MARGIN, 0)
        high = min(rank * SAMPLED // n + MARGIN, SAMPLED - 1)
        n_less = 0
        n_between = 0
        for i in range(n):
            value = values[i]
            parts[n_between] = value
            n_between += (value >= sample[low]) & (value <= sample[high])
            n_less += value < sample[low]
        if n_less <= rank and rank + with_next < n_less + n_between:
            rank -= n_less
            n = n_between
            rows = parts
            parts = other_parts
            other_parts = <double*>rows
    while n > 0 and work > 0:
        work -= n
        pivot = median_of_three(rows[0], rows[n >> 1], rows[n - 1])
        n_less = 0
        n_greater = 0
        for i in range(n):
            value = rows[i]
            parts[n_less] = value
            parts[n - 1 - n_greater] = value
            n_less += value < pivot
            n_greater += value > pivot
        if rank < n_less:
            rows = parts
            n = n_less
            above = pivot
            has_above = 1
        elif rank < n - n_greater:
            out[0] = pivot
            out[1] = pivot
            if with_next and rank == n - n_greater - 1:
                if n_greater:
                    above = parts[n - n_greater]
                    for i in range(n - n_greater + 1, n):
                        above = parts[i] if parts[i] < above else above
                    has_above = 1
                if has_above:
                    out[1] = above
            return 1
        else:
            rows = parts + (n - n_greater)
            rank -= n - n_greater
            n = n_greater
        swap = parts
        parts = other_parts
        other_parts = swap
    return 0


def weighted_middles(
    const double[:, ::1] columns, const double[::1] weights, double low, double low_rest, double high, double high_rest,
    double error, double[:, ::1] scratch, double[:, ::1] out
):
    """Write, for each column, the first value with a mass of `low` at or below it, and the next if that is <= `high`.

    A mass is the sum of the weights, all positive, of values up to one. Both bounds are sums of two doubles; a mass and
    a bound are known to within `error` together. A column where that does not decide is NaN. `columns` has shape
    (n_columns, n), `scratch` (2, n), and `out` (n_columns, 2).
    """
    cdef Py_ssize_t n = columns.shape[1]
    cdef DoubleDouble low_mass = two_sum(low, low_rest)
    cdef DoubleDouble high_mass = two_sum(high, high_rest)
    cdef Py_ssize_t column
    if n == 0 or weights.shape[0] != n or scratch.shape[1] != n or out.shape[0] != columns.shape[0]:
        raise ValueError("columns, weights and results differ in length")
    with nogil:
        for column in range(columns.shape[0]):
            memcpy(&scratch[0, 0], &columns[column, 0], n * sizeof(double))
            memcpy(&scratch[1, 0], &weights[0], n * sizeof(double))
            if not select_weighted(&scratch[0, 0], &scratch[1, 0], n, low_mass, high_mass, error, &out[column, 0]):
                out[column, 0] = NAN


cdef inline double difference(DoubleDouble x, DoubleDouble y) noexcept nogil:
    return (x.high - y.high) + (x.low - y.low)


cdef inline void swap_rows(double* values, double* weights, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef double value = values[i]
    cdef double weight = weights[i]
    values[i] = values[j]
    weights[i] = weights[j]
    values[j] = value
    weights[j] = weight


cdef inline double median_of_three(double x, double y, double z) noexcept nogil:
    cdef double least = x if x < y else y
    cdef double greatest = y if x < y else x
    return least if z < least else greatest if z > greatest else z


cdef bint select_weighted(
    double* values, double* weights, Py_ssize_t n, DoubleDouble low, DoubleDouble high, double error, double* out
) noexcept nogil:
    """Weighted selection by C. A. R. Hoare's FIND. Return 0 if rounding does not decide, or after too much work."""
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t stop = n
    cdef Py_ssize_t work = 16 * n + 256
    cdef Py_ssize_t i, first_equal, first_greater
    cdef DoubleDouble below = two_sum(0, 0)
    cdef DoubleDouble less, up_to, equal
    cdef double pivot, gap
    while start < stop and work > 0:
        work -= stop - start
        pivot = median_of_three(values[start], values[start + ((stop - start) >> 1)], values[stop - 1])
        first_equal = start
        first_greater = stop
        less = below
        equal = two_sum(0, 0)
        i = start
        while i < first_greater:
            if values[i] < pivot:
                less = add_double_doubles(less, two_sum(weights[i], 0))
                swap_rows(values, weights, i, first_equal)
                first_equal += 1
                i += 1
            elif values[i] > pivot:
                first_greater -= 1
                swap_rows(values, weights, i, first_greater)
            else:
                equal = add_double_doubles(equal, two_sum(weights[i], 0))
                i += 1
        gap = difference(less, low)
        if not fabs(gap) > error:
            return 0
        if gap > 0:
            stop = first_equal
            continue
        up_to = add_double_doubles(less, equal)
        gap = difference(up_to, low)
        if not fabs(gap) > error:
            return 0
        if gap < 0:
            below = up_to
            start = first_greater
            continue
        out[0] = pivot
        out[1] = pivot
        gap = difference(up_to, high)
        if not fabs(gap) > error:
            return 0
        if gap < 0 and first_greater < n:
            out[1] = values[first_greater]
            for i in range(first_greater + 1, n):
                out[1] = values[i] if values[i] < out[1] else out[1]
        return 1
    return 0
