"""Labels and scores of a call on few rows, where creating one more array would cost as much as the work.

Arrays are read through their buffers, which costs a tenth of a typed memoryview. A kernel returns None if anything is
unusual. Its caller then takes the general path, which also has the error messages.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t

cdef extern from "columns/binary_labels.h":
    int decode_labels "fm_decode_labels"(char letter, const void* labels, Py_ssize_t n, uint8_t* out) noexcept nogil

cdef enum:
    MAX_SHORT_ROWS = 1 << 16  # so many rows take less time than starting a thread


cdef struct ShortColumns:
    Py_buffer labels
    Py_buffer scores
    Py_ssize_t rows


cdef inline char type_letter(Py_buffer* view) noexcept nogil:
    """The format letter of a contiguous column of at most MAX_SHORT_ROWS rows; 0 for anything else."""
    if view.ndim != 1 or view.format[0] == 0 or view.format[1] != 0 or not 0 < view.shape[0] <= MAX_SHORT_ROWS:
        return 0
    if view.itemsize < 1 or view.strides[0] != view.itemsize or <size_t>view.buf % <size_t>view.itemsize:
        return 0
    return view.format[0]


cdef inline bint open_buffer(object values, Py_buffer* view) except -1:
    """Open the array's buffer. Returns 1 with an open buffer, or 0 if the object has none."""
    try:
        PyObject_GetBuffer(values, view, PyBUF_STRIDES | PyBUF_FORMAT)
    except (BufferError, ValueError):
        return 0
    return 1


cdef inline void release_columns(ShortColumns* columns) noexcept:
    PyBuffer_Release(&columns.labels)
    PyBuffer_Release(&columns.scores)


cdef inline bint open_short_columns(object y_true, object y_score, ShortColumns* columns) except -1:
    """Open both columns. Returns 1 with two open buffers, or 0 if one is unusual."""
    if not open_buffer(y_true, &columns.labels):
        return 0
    if not open_buffer(y_score, &columns.scores):
        PyBuffer_Release(&columns.labels)
        return 0
    columns.rows = columns.labels.shape[0] if type_letter(&columns.labels) else 0
    if columns.rows and type_letter(&columns.scores) in (c"d", c"f"):
        if columns.scores.shape[0] == columns.rows:
            return 1
    release_columns(columns)
    return 0


cdef inline bint decode_block(
    ShortColumns* columns, Py_ssize_t start, Py_ssize_t n, uint8_t* labels, int* seen
) noexcept nogil:
    """Write labels as 0 and 1. Returns false if the labels so far are neither from {0, 1} nor from {-1, 1}."""
    cdef const char* first = <const char*>columns.labels.buf + start * columns.labels.itemsize
    cdef int kinds = decode_labels(columns.labels.format[0], first, n, labels)
    seen[0] |= kinds
    return kinds != 0 and seen[0] < 8 and seen[0] & 5 != 5
