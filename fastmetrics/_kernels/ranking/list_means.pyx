"""Exact sums of the values of ranked lists: of all lists, or of segments of lists that are resampled together.

Sums are states of the superaccumulator (superaccumulator.pxd documents layout and bounds), so they do not depend on the
order of lists or on how they are divided. Running sums of the rows of a list are float64, added rank by rank.
"""

from libc.math cimport isnan
from libc.stdint cimport int64_t

from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, add_chunk, normalise


cdef void add_mean_terms(
    const double* values, const double* group_weights, Py_ssize_t n, bint count_empty, double value_of_empty,
    int64_t* weighted, int64_t* weights, int64_t* counts
) noexcept nogil:
    """As mean_terms, for n lists; group_weights is NULL if every list has weight 1."""
    cdef double terms[CHUNK]
    cdef double masses[CHUNK]
    cdef double rest[CHUNK]
    cdef double value, weight
    cdef Py_ssize_t i
    cdef Py_ssize_t length = 0
    for i in range(n):
        value = values[i]
        counts[0] += 1
        if isnan(value):
            counts[1] += 1
            if not count_empty:
                continue
            value = value_of_empty
        weight = 1.0 if group_weights == NULL else group_weights[i]
        terms[length] = weight * value
        masses[length] = weight
        length += 1
        if length == CHUNK:
            add_chunk(weighted, terms, length, rest)
            add_chunk(weights, masses, length, rest)
            length = 0
    if length:
        add_chunk(weighted, terms, length, rest)
        add_chunk(weights, masses, length, rest)
    normalise(weighted)
    normalise(weights)


def mean_terms(
    const double[::1] values, const double[::1] group_weights, bint count_empty, double value_of_empty,
    const int64_t[::1] starts or None, int64_t[:, :, ::1] states, int64_t[:, ::1] counts
):
    """Add the lists starts[i] to starts[i + 1] to the sums of a mean, w value and w, of state i, and to its counts.

    Without starts, all lists are added to one state. The counts are: lists, empty lists. The value of an empty list is
    NaN. It counts as value_of_empty if count_empty, else it is left out. group_weights is empty if every list has
    weight 1. At most 2**30 lists per call.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t stop = values.shape[0]
    cdef const double* own_weights = NULL
    if values.shape[0] == 0:
        return
    with nogil:
        for i in range(counts.shape[0]):
            if starts is not None:
                first, stop = starts[i], starts[i + 1]
            if group_weights.shape[0]:
                own_weights = &group_weights[first]
            add_mean_terms(
                &values[first], own_weights, stop - first, count_empty, value_of_empty, &states[i, 0, 0],
                &states[i, 1, 0], &counts[i, 0])


def running_sums(const double[::1] values, const int64_t[::1] offsets, double[::1] out):
    """The sum of the values of each row and of the rows before it in its list, rows offsets[i] to offsets[i + 1]."""
    cdef Py_ssize_t i, row
    cdef double total
    with nogil:
        for i in range(offsets.shape[0] - 1):
            total = 0.0
            for row in range(offsets[i], offsets[i + 1]):
                total += values[row]
                out[row] = total
