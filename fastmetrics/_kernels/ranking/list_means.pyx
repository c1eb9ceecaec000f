"""Exact sums of the values of ranked lists: of all lists, or of segments of lists that are resampled together.

Sums are states of the superaccumulator (superaccumulator.pxd documents layout and bounds), so they do not depend on the
order of lists or on how they are divided. Running sums of the rows of a list are float64, added rank by rank.
"""

from libc.math cimport NAN, isnan
from libc.stdint cimport int64_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets, need_segments
from fastmetrics._kernels.numeric.quotient cimport count_non_finite, divide_state, two_sum
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, STATE_SIZE, add_chunk, normalize


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
    normalize(weighted)
    normalize(weights)


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
    if group_weights.shape[0]:
        need_length(b"group_weights", group_weights.shape[0], stop)
    need_segments(starts, stop, states, STATE_SIZE, counts, 2)
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
    need_length(b"out", out.shape[0], values.shape[0])
    if offsets.shape[0]:
        need_offsets(b"offsets", &offsets[0], offsets.shape[0], values.shape[0])
    with nogil:
        for i in range(offsets.shape[0] - 1):
            total = 0.0
            for row in range(offsets[i], offsets[i + 1]):
                total += values[row]
                out[row] = total


def unweighted_mean(
    const double[::1] values, bint count_empty, double value_of_empty, int64_t[::1] counts
) -> float | None:
    """The mean of the values of lists, rounded once; None if the exact quotient needs Python's integers (quotient.pxd).

    It is NaN if no list counts. Empty lists and `counts` are as for mean_terms.
    """
    cdef int64_t state[STATE_SIZE]
    cdef double terms[CHUNK]
    cdef double rest[CHUNK]
    cdef double value, result
    cdef Py_ssize_t i
    cdef Py_ssize_t length = 0
    cdef int64_t counted = 0
    cdef int64_t n_empty = 0
    cdef bint is_certain
    need_length(b"counts", counts.shape[0], 2)
    with nogil:
        memset(state, 0, sizeof(state))
        for i in range(values.shape[0]):
            value = values[i]
            if isnan(value):
                n_empty += 1
                if not count_empty:
                    continue
                value = value_of_empty
            terms[length] = value
            length += 1
            counted += 1
            if length == CHUNK:
                add_chunk(state, terms, length, rest)
                length = 0
                normalize(state)
        if length:
            add_chunk(state, terms, length, rest)
        normalize(state)
        counts[0] += values.shape[0]
        counts[1] += n_empty
        result = NAN
        is_certain = counted == 0 or (
            count_non_finite(state) == 0 and divide_state(state, two_sum(<double>counted, 0), &result))
    return result if is_certain else None
