"""Labels and scores of one call, so few that an array more would cost as much as the work.

Arrays are taken as they come and judged by their buffers, which costs a tenth of a typed memoryview. Kernels answer
None where anything is unusual, and their caller goes the long way, which has the texts of the errors.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t

cdef extern from "probabilitymath.h":
    int decode_labels "fm_decode_labels"(char letter, const void* labels, Py_ssize_t n, uint8_t* out) noexcept nogil

cdef enum:
    SHORT = 1 << 16             # rows: one thread takes less time than a second one to start


cdef struct Short:
    Py_buffer labels
    Py_buffer scores
    Py_ssize_t rows


cdef inline char letter_of(Py_buffer* view) noexcept nogil:
    """The type of a plain column of at most SHORT rows; 0 for anything else."""
    if view.ndim != 1 or view.format[0] == 0 or view.format[1] != 0 or not 0 < view.shape[0] <= SHORT:
        return 0
    if view.itemsize < 1 or view.strides[0] != view.itemsize or <size_t>view.buf % <size_t>view.itemsize:
        return 0
    return view.format[0]


cdef inline bint open_view(object values, Py_buffer* view) except -1:
    """The array's memory, to be released after a 1; 0 where its type has no letters."""
    try:
        PyObject_GetBuffer(values, view, PyBUF_STRIDES | PyBUF_FORMAT)
    except (BufferError, ValueError):
        return 0
    return 1


cdef inline void release(Short* columns) noexcept:
    PyBuffer_Release(&columns.labels)
    PyBuffer_Release(&columns.scores)


cdef inline bint open_short(object y_true, object y_score, Short* columns) except -1:
    """Both columns, to be released after a 1; 0 where one is unusual."""
    if not open_view(y_true, &columns.labels):
        return 0
    if not open_view(y_score, &columns.scores):
        PyBuffer_Release(&columns.labels)
        return 0
    columns.rows = columns.labels.shape[0] if letter_of(&columns.labels) else 0
    if columns.rows and letter_of(&columns.scores) in (c"d", c"f"):
        if columns.scores.shape[0] == columns.rows:
            return 1
    release(columns)
    return 0


cdef inline bint decode(Short* columns, Py_ssize_t start, Py_ssize_t n, uint8_t* labels, int* seen) noexcept nogil:
    """Labels as 0 and 1; false when they are, so far, not of the kinds {0, 1} and {-1, 1}."""
    cdef const char* first = <const char*>columns.labels.buf + start * columns.labels.itemsize
    cdef int found = decode_labels(columns.labels.format[0], first, n, labels)
    seen[0] |= found
    return found != 0 and seen[0] < 8 and seen[0] & 5 != 5
