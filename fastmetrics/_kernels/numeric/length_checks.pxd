"""Checks of what a kernel is given: lengths, and numbers that say where to write. A wrong one is a ValueError."""

from cpython.exc cimport PyErr_Format
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

ctypedef fused index_t:
    uint16_t
    int32_t
    uint32_t
    int64_t


cdef inline int need_length(const char* name, Py_ssize_t found, Py_ssize_t needed) except -1:
    """Raise ValueError unless an array has at least so many elements."""
    if found < needed:
        PyErr_Format(ValueError, b"%s has %zd elements, and %zd are needed", name, found, needed)
    return 0


cdef inline int need_range(Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n) except -1:
    """Raise ValueError unless start..stop is a range of n rows."""
    if not 0 <= start <= stop <= n:
        PyErr_Format(ValueError, b"rows %zd to %zd of %zd", start, stop, n)
    return 0


cdef inline bint any_from(const index_t* values, Py_ssize_t n, Py_ssize_t limit) noexcept nogil:
    """Is a value negative, or `limit` or more?"""
    cdef Py_ssize_t i
    cdef uint64_t signs = 0  # of the values, and of what is left to the greatest one: registers compare no such numbers
    for i in range(n):
        signs |= <uint64_t>values[i] | (<uint64_t>(limit - 1) - <uint64_t>values[i])
    return signs >> 63


cdef inline int need_below(const char* name, const index_t* values, Py_ssize_t n, Py_ssize_t limit) except -1:
    """Raise ValueError unless all values are in 0..limit."""
    cdef bint found
    with nogil:
        found = any_from(values, n, limit)
    if found:
        PyErr_Format(ValueError, b"%s has a value that is not below %zd", name, limit)
    return 0


cdef inline bint rises(const int64_t* offsets, Py_ssize_t n, int64_t limit) noexcept nogil:
    """Do n offsets rise from 0 or more to at most `limit`?"""
    cdef Py_ssize_t i
    cdef bint found = n == 0 or (offsets[0] >= 0 and offsets[n - 1] <= limit)
    for i in range(1, n):
        found &= offsets[i - 1] <= offsets[i]
    return found


cdef inline bint are_spans(const int64_t* starts, const int64_t* stops, Py_ssize_t n, int64_t limit) noexcept nogil:
    """Are n spans starts[i]..stops[i] parts of 0..limit?"""
    cdef Py_ssize_t i
    cdef bint found = True
    for i in range(n):
        found &= (0 <= starts[i]) & (starts[i] <= stops[i]) & (stops[i] <= limit)
    return found


cdef inline int need_spans(
    const char* name, const int64_t* starts, const int64_t* stops, Py_ssize_t n, int64_t limit
) except -1:
    """Raise ValueError unless n spans starts[i]..stops[i] are parts of 0..limit."""
    cdef bint found
    with nogil:
        found = are_spans(starts, stops, n, limit)
    if not found:
        PyErr_Format(ValueError, b"%s has a span that is no part of %zd", name, <Py_ssize_t>limit)
    return 0


cdef inline int need_offsets(const char* name, const int64_t* offsets, Py_ssize_t n, int64_t limit) except -1:
    """Raise ValueError unless n offsets rise from 0 or more to at most `limit`."""
    if not rises(offsets, n, limit):
        PyErr_Format(ValueError, b"%s must rise from 0 or more to at most %zd", name, <Py_ssize_t>limit)
    return 0


cdef inline int need_segments(
    const int64_t[::1] starts, Py_ssize_t rows, int64_t[:, :, ::1] states, Py_ssize_t words, int64_t[:, ::1] counts,
    Py_ssize_t n_counts
) except -1:
    """Raise ValueError unless two sums and the counts of every segment have their places, and segments are of rows.

    Segment i is starts[i] to starts[i + 1]; starts are None if all rows are one segment.
    """
    need_length(b"states", states.shape[0], counts.shape[0])
    need_length(b"sums of a state", states.shape[1], 2)
    need_length(b"words of a sum", states.shape[2], words)
    need_length(b"counts", counts.shape[1], n_counts)
    if starts is not None:
        need_length(b"starts", starts.shape[0], counts.shape[0] + 1)
        need_offsets(b"starts", &starts[0], counts.shape[0] + 1, rows)
    return 0
