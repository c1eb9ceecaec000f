"""Classes of neighboring scores, and integers of rows that are looked up by class and added by unit."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t

from fastmetrics._kernels.columns.ordered_bits cimport score_t, sort_key
from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length

cdef extern from "resampling/prefetch.h":
    void prefetch "fm_prefetch"(const void* memory) noexcept nogil

FIRST_BITS = 16  # of a key, which say the first class

cdef enum:
    AHEAD = 64  # rows whose places in tables and sums are fetched ahead: they are anywhere


def first_classes(const score_t[::1] scores, int32_t[::1] classes):
    """classes[i] = the first FIRST_BITS bits of the key of scores[i]."""
    cdef Py_ssize_t i
    cdef int shift = 8 * <int>sizeof(score_t) - 16
    need_length(b"classes", classes.shape[0], scores.shape[0])
    with nogil:
        for i in range(scores.shape[0]):
            classes[i] = <int32_t>(sort_key(scores[i]) >> shift)


def divide_classes(
    const score_t[::1] scores, const int32_t[::1] firsts, const uint8_t[::1] shifts, const uint32_t[::1] masks,
    int32_t[::1] classes,
):
    """Divide every class into finer ones: c becomes firsts[c] + ((key of the score >> shifts[c]) & masks[c]).

    `classes` are below the number of `firsts`, and shifts below 64.
    """
    cdef Py_ssize_t i
    cdef int32_t own
    need_length(b"classes", classes.shape[0], scores.shape[0])
    need_length(b"shifts", shifts.shape[0], firsts.shape[0])
    need_length(b"masks", masks.shape[0], firsts.shape[0])
    if not scores.shape[0]:
        return
    need_below(b"classes", &classes[0], classes.shape[0], firsts.shape[0])
    with nogil:
        for i in range(scores.shape[0]):
            own = classes[i]
            classes[i] = firsts[own] + <int32_t>((sort_key(scores[i]) >> (shifts[own] & 63)) & masks[own])


def place_in_slices(
    const int32_t[::1] numbers, const int32_t[::1] joined or None, const uint16_t[::1] slices, int n, int32_t[::1] out
):
    """out[i] = the number of row i, or joined[that number], plus n for every slice before that of the row."""
    cdef Py_ssize_t i
    need_length(b"slices", slices.shape[0], numbers.shape[0])
    need_length(b"out", out.shape[0], numbers.shape[0])
    if not numbers.shape[0]:
        return
    if joined is None:
        with nogil:
            for i in range(numbers.shape[0]):
                out[i] = numbers[i] + slices[i] * n
        return
    need_below(b"numbers", &numbers[0], numbers.shape[0], joined.shape[0])
    with nogil:
        for i in range(numbers.shape[0]):
            out[i] = joined[numbers[i]] + slices[i] * n


def add_by_class(
    const int32_t[::1] units, const int32_t[::1] classes or None, const uint8_t[::1] labels,
    const int64_t[::1] weights, const int32_t[:, :, ::1] table or None, int shift, int64_t[:, :, ::1] sums,
):
    """Add every row to sums[label, unit]: 1 to the first, or the weight, and table[label, class] to the others.

    With weights, what is added to the others is (table times weight) >> shift. Labels are 0 and 1; `weights` are empty,
    or one for each row. Units are fewer than those of `sums`, classes than those of `table`. Products and sums must
    stay below 2**63. Without classes there is no table.
    """
    cdef Py_ssize_t i, k, ahead
    cdef Py_ssize_t n = units.shape[0]
    cdef Py_ssize_t n_units = sums.shape[1]
    cdef Py_ssize_t n_classes = 0 if classes is None else table.shape[1]
    cdef Py_ssize_t n_terms = 0 if classes is None else table.shape[2]
    cdef int64_t weight = 1
    cdef bint weighted = weights.shape[0] > 0
    cdef int64_t* first_sum
    cdef int64_t* out
    cdef const int32_t* first_terms = NULL
    cdef const int32_t* terms
    need_length(b"labels", labels.shape[0], n)
    if weighted:
        need_length(b"weights", weights.shape[0], n)
    if sums.shape[0] != 2 or sums.shape[2] != 1 + n_terms or not 0 <= shift < 63:
        raise ValueError("sums are of two labels, of rows and of every term of the table, and shift is below 63")
    if not n:
        return
    need_below(b"units", &units[0], n, n_units)
    first_sum = &sums[0, 0, 0]
    if classes is not None:
        need_length(b"classes", classes.shape[0], n)
        need_length(b"labels of the table", table.shape[0], 2)
        need_below(b"classes", &classes[0], n, n_classes)
    if n_terms:
        first_terms = &table[0, 0, 0]
    with nogil:
        for i in range(n):
            ahead = i + AHEAD
            if ahead < n:
                prefetch(first_sum + ((labels[ahead] & 1) * n_units + units[ahead]) * (1 + n_terms))
                if n_terms:
                    prefetch(first_terms + ((labels[ahead] & 1) * n_classes + classes[ahead]) * n_terms)
            if weighted:
                weight = weights[i]
            out = first_sum + ((labels[i] & 1) * n_units + units[i]) * (1 + n_terms)
            out[0] += weight
            if not n_terms:
                continue
            terms = first_terms + ((labels[i] & 1) * n_classes + classes[i]) * n_terms
            if weighted:
                for k in range(n_terms):
                    out[1 + k] += (terms[k] * weight) >> shift
            else:
                for k in range(n_terms):
                    out[1 + k] += terms[k]
