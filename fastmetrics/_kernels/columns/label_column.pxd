"""A column of labels of any numeric type, read as int64 one block at a time.

Columns are objects with the buffer protocol. A typed memoryview would need one function for every type (or pair of
types), and creating it takes three times as long as counting the hundred rows of a small call.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyObject_GetBuffer
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "columns/label_loops.h":
    uint64_t widen_i8 "fm_widen_i8"(const int8_t* labels, Py_ssize_t n, int64_t* out) noexcept nogil
    uint64_t widen_u8 "fm_widen_u8"(const uint8_t* labels, Py_ssize_t n, int64_t* out) noexcept nogil
    uint64_t widen_i16 "fm_widen_i16"(const int16_t* labels, Py_ssize_t n, int64_t* out) noexcept nogil
    uint64_t widen_u16 "fm_widen_u16"(const uint16_t* labels, Py_ssize_t n, int64_t* out) noexcept nogil
    uint64_t widen_i32 "fm_widen_i32"(const int32_t* labels, Py_ssize_t n, int64_t* out) noexcept nogil
    uint64_t widen_u32 "fm_widen_u32"(const uint32_t* labels, Py_ssize_t n, int64_t* out) noexcept nogil
    uint64_t widen_u64 "fm_widen_u64"(const uint64_t* labels, Py_ssize_t n, int64_t* out) noexcept nogil
    uint64_t widen_f32 "fm_widen_f32"(const float* labels, Py_ssize_t n, int64_t* out) noexcept nogil
    uint64_t widen_f64 "fm_widen_f64"(const double* labels, Py_ssize_t n, int64_t* out) noexcept nogil

cdef enum:
    LABEL_BLOCK = 1024


cdef struct LabelColumn:
    const char* data
    Py_ssize_t rows
    int size
    char kind          # "i" signed, "u" unsigned, "f" floating; 0 for an unsupported type or layout


cdef inline LabelColumn describe_buffer(Py_buffer* view) noexcept:
    cdef LabelColumn column
    cdef char code
    column.data = <const char*>view.buf
    column.rows = 0
    column.size = <int>view.itemsize
    column.kind = 0
    if view.ndim != 1 or view.format == NULL:
        return column
    if view.shape[0] > 1 and view.strides[0] != view.itemsize:
        return column
    code = view.format[0]
    if code == 0 or view.format[1] != 0 or <uint64_t>view.buf % <uint64_t>view.itemsize:
        return column
    column.rows = view.shape[0]
    if code in (c'b', c'h', c'i', c'l', c'q'):
        column.kind = c'i'
    elif code in (c'?', c'B', c'H', c'I', c'L', c'Q'):
        column.kind = c'u'
    elif code in (c'f', c'd'):
        column.kind = c'f'
    return column


cdef inline uint64_t widen(LabelColumn* column, Py_ssize_t start, Py_ssize_t n, int64_t* out) noexcept nogil:
    """Write the n labels from row start on to out. The result has FM_NOT_AN_INTEGER set if a label has no int64."""
    cdef const char* data = column.data + start * column.size
    if column.kind == c'i':
        if column.size == 1:
            return widen_i8(<const int8_t*>data, n, out)
        if column.size == 2:
            return widen_i16(<const int16_t*>data, n, out)
        return widen_i32(<const int32_t*>data, n, out)
    if column.kind == c'u':
        if column.size == 1:
            return widen_u8(<const uint8_t*>data, n, out)
        if column.size == 2:
            return widen_u16(<const uint16_t*>data, n, out)
        if column.size == 4:
            return widen_u32(<const uint32_t*>data, n, out)
        return widen_u64(<const uint64_t*>data, n, out)
    if column.size == 4:
        return widen_f32(<const float*>data, n, out)
    return widen_f64(<const double*>data, n, out)


cdef inline const int64_t* load_labels(
    LabelColumn* column, Py_ssize_t start, Py_ssize_t n, int64_t* scratch, uint64_t* bad
) noexcept nogil:
    """The n labels from row start on: the column's own memory if they are int64, else a copy in scratch."""
    if column.kind == c'i' and column.size == 8:
        return <const int64_t*>column.data + start
    bad[0] |= widen(column, start, n, scratch)
    return scratch


cdef inline bint acquire_buffer(object values, Py_buffer* view) noexcept:
    """Return whether the object has a buffer. The caller must then release it."""
    try:
        PyObject_GetBuffer(values, view, PyBUF_FORMAT | PyBUF_STRIDES)
    except (BufferError, TypeError, ValueError):
        return False
    return True
