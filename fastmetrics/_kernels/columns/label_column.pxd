"""A column of numbers as the kernels of labels read it: whatever its type, int64 a block at a time.

Columns come as objects with the buffer protocol and are looked at here: a typed memoryview would need a function per
type (or pair of types), and takes three times as long as the hundred rows of a small call.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyObject_GetBuffer
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "labelmath.h":
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
    BLOCK = 1024


cdef struct Column:
    const char* data
    Py_ssize_t rows
    int size
    char kind          # "i" signed, "u" unsigned, "f" floating; 0 where nothing here can read it


cdef inline Column column_of(Py_buffer* view) noexcept:
    cdef Column column
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


cdef inline uint64_t widen(Column* column, Py_ssize_t start, Py_ssize_t n, int64_t* out) noexcept nogil:
    """out becomes the labels from start on; FM_NOT_AN_INTEGER in the result if one has no int64."""
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


cdef inline const int64_t* labels_at(
    Column* column, Py_ssize_t start, Py_ssize_t n, int64_t* room, uint64_t* bad
) noexcept nogil:
    """The labels from start on: where they are if they are int64, else widened into room."""
    if column.kind == c'i' and column.size == 8:
        return <const int64_t*>column.data + start
    bad[0] |= widen(column, start, n, room)
    return room


cdef inline bint get_column(object values, Py_buffer* view) noexcept:
    """Whether there is a buffer; then it must be released."""
    try:
        PyObject_GetBuffer(values, view, PyBUF_FORMAT | PyBUF_STRIDES)
    except (BufferError, TypeError, ValueError):
        return False
    return True
