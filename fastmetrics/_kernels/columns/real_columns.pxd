"""Columns of real numbers of any type and layout, read 2048 values at a time as float64.

A column is an array's memory with its strides, so a float32 column, every third row of a matrix or a constant
(stride 0) is never copied as a whole. The array comes through the buffer protocol, which costs a tenth of a typed
memoryview: a call on 100 rows has time for two of them. Integers are widened; from 2**53 on that rounds, which the
reader notices.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer

cdef extern from "errorterms.h":
    cdef enum:
        FM_F64, FM_F32, FM_I8, FM_U8, FM_I16, FM_U16, FM_I32, FM_U32, FM_I64, FM_U64
    const double* fetch "fm_fetch"(
        const char* data, Py_ssize_t stride, int type, Py_ssize_t n, double* out
    ) noexcept nogil
    int any_beyond "fm_any_beyond"(const double* values, Py_ssize_t n) noexcept nogil
    void prefetch "fm_prefetch"(const char* data, Py_ssize_t n_bytes) noexcept nogil

cdef enum:
    FLAG_NOT_FINITE = 1         # what kernels found in values
    FLAG_OUTSIDE = 2
    FLAG_INEXACT = 4
    FEW_ROWS = 1 << 15          # so many rows take less time than a thread to start

cdef struct Column:
    const char* data
    Py_ssize_t rows
    Py_ssize_t row_stride
    Py_ssize_t n_outputs
    Py_ssize_t output_stride
    int type


cdef inline int type_of(const char* code, Py_ssize_t size) noexcept nogil:
    """Of a native number as the buffer protocol names it; -1 for all others."""
    cdef char letter
    if code == NULL or code[0] == 0 or code[1] != 0:
        return -1
    letter = code[0]
    if letter == c"d":
        return FM_F64
    if letter == c"f":
        return FM_F32
    if letter in (c"b", c"h", c"i", c"l", c"q"):
        return FM_I8 if size == 1 else FM_I16 if size == 2 else FM_I32 if size == 4 else FM_I64
    if letter in (c"?", c"B", c"H", c"I", c"L", c"Q"):
        return FM_U8 if size == 1 else FM_U16 if size == 2 else FM_U32 if size == 4 else FM_U64
    return -1


cdef inline bint open_column(object array, Py_buffer* view, Column* column) except -1:
    """Fill `column` of an array of one or two dimensions, to be released; 0 where it holds none of the types."""
    PyObject_GetBuffer(array, view, PyBUF_STRIDES | PyBUF_FORMAT)
    column.data = <const char*>view.buf
    column.type = type_of(view.format, view.itemsize)
    if column.type < 0 or not 1 <= view.ndim <= 2:
        PyBuffer_Release(view)
        return 0
    column.rows = view.shape[0]
    column.row_stride = view.strides[0]
    column.n_outputs = view.shape[1] if view.ndim == 2 else 1
    column.output_stride = view.strides[1] if view.ndim == 2 else 0
    return 1


cdef inline const double* rows_of(
    Column* column, Py_ssize_t output, Py_ssize_t start, Py_ssize_t n, double* room, int* inexact
) noexcept nogil:
    """n values of one output from row `start` on; in `room` where they have to be converted."""
    cdef const char* first = column.data + output * column.output_stride + start * column.row_stride
    cdef const double* values = fetch(first, column.row_stride, column.type, n, room)
    if column.type >= FM_I64:
        inexact[0] |= any_beyond(values, n)
    return values


cdef inline bint open_both(object y_true, object y_pred, Py_buffer* views, Column* columns) except -1:
    """0 where the arrays are of types that are not read; else both are to be released."""
    if not open_column(y_true, &views[0], &columns[0]):
        return 0
    try:
        if open_column(y_pred, &views[1], &columns[1]):
            return 1
    except BaseException:
        PyBuffer_Release(&views[0])
        raise
    PyBuffer_Release(&views[0])
    return 0


cdef inline void close_both(Py_buffer* views) noexcept:
    PyBuffer_Release(&views[0])
    PyBuffer_Release(&views[1])


cdef inline bint open_few(object y_true, object y_pred, object ndarray, Py_buffer* views, Column* columns):
    """Are these two plain columns of one length, not too long? If so, they are to be released."""
    # Subclasses may hide a mask.
    if type(y_true) is not ndarray or type(y_pred) is not ndarray:
        return 0
    try:
        if not open_both(y_true, y_pred, views, columns):
            return 0
    except (ValueError, BufferError):
        return 0
    if (
        columns[0].rows == columns[1].rows and 1 <= columns[0].rows <= FEW_ROWS
        and columns[0].n_outputs == 1 and columns[1].n_outputs == 1
    ):
        return 1
    close_both(views)
    return 0


cdef inline void ask_for(Column* column, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Rows that are read next; a block of rows that is not in one piece of memory is left to the processor."""
    if n > 0 and 0 < column.row_stride <= 8 and column.n_outputs == 1:
        prefetch(column.data + start * column.row_stride, n * column.row_stride)
