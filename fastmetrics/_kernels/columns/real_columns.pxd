"""Columns of real numbers of any type and layout, read as float64, 2048 values at a time.

A column is an array's memory with its strides. A float32 column, every third row of a matrix or a constant (stride 0)
is never copied as a whole. The array is read through the buffer protocol, which costs a tenth of a typed memoryview:
that matters for calls on 100 rows. Integers are widened. From 2**53 on this may round; `load_rows` reports it.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy

cdef extern from "columns/real_column_loops.h":
    cdef enum:
        FM_F64, FM_F32, FM_I8, FM_U8, FM_I16, FM_U16, FM_I32, FM_U32, FM_I64, FM_U64
    const double* fetch "fm_fetch"(
        const char* data, Py_ssize_t stride, int type, Py_ssize_t n, double* out
    ) noexcept nogil
    cdef enum:
        FM_TILE_ROWS, FM_TILE_OUTPUTS
    void fetch_tile "fm_fetch_tile"(
        const char* data, Py_ssize_t row_stride, Py_ssize_t output_stride, int type, Py_ssize_t rows,
        Py_ssize_t outputs, Py_ssize_t more, double* out
    ) noexcept nogil
    enum:
        FM_MATRIX_ROWS, FM_MATRIX_OUTPUTS
    Py_ssize_t size_of_type "fm_size_of_type"(int type) noexcept nogil
    int any_beyond "fm_any_beyond"(const double* values, Py_ssize_t n) noexcept nogil
    void prefetch "fm_prefetch"(const char* data, Py_ssize_t n_bytes) noexcept nogil

cdef enum:
    FLAG_NOT_FINITE = 1         # properties of values that kernels report
    FLAG_OUTSIDE = 2
    FLAG_INEXACT = 4
    FLAG_LOST = 8               # a term of finite values may have lost bits near the ends of the range
    MAX_SHORT_ROWS = 1 << 15    # so many rows take less time than starting a thread

cdef struct RealColumn:
    const char* data
    Py_ssize_t rows
    Py_ssize_t row_stride
    Py_ssize_t n_outputs
    Py_ssize_t output_stride
    int type

cdef struct Matrix:
    const double* values
    Py_ssize_t stride           # from one row to the next, in doubles


cdef inline int number_type(const char* code, Py_ssize_t size) noexcept nogil:
    """The FM_ type of a native number, from its format in the buffer protocol; -1 for any other format."""
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


cdef inline bint open_column(object array, Py_buffer* view, RealColumn* column) except -1:
    """Describe an array of one or two dimensions. Returns 1 with an open buffer, or 0 for an unsupported type."""
    PyObject_GetBuffer(array, view, PyBUF_STRIDES | PyBUF_FORMAT)
    column.data = <const char*>view.buf
    column.type = number_type(view.format, view.itemsize)
    if column.type < 0 or not 1 <= view.ndim <= 2:
        PyBuffer_Release(view)
        return 0
    column.rows = view.shape[0]
    column.row_stride = view.strides[0]
    column.n_outputs = view.shape[1] if view.ndim == 2 else 1
    column.output_stride = view.strides[1] if view.ndim == 2 else 0
    return 1


cdef inline const double* load_rows(
    RealColumn* column, Py_ssize_t output, Py_ssize_t start, Py_ssize_t n, double* scratch, int* inexact
) noexcept nogil:
    """n values of one output from row `start` on, converted into `scratch` if they are not contiguous float64."""
    cdef const char* first = column.data + output * column.output_stride + start * column.row_stride
    cdef const double* values = fetch(first, column.row_stride, column.type, n, scratch)
    if column.type >= FM_I64:
        inexact[0] |= any_beyond(values, n)
    return values


cdef inline void load_tile(
    RealColumn* column, Py_ssize_t output, Py_ssize_t n_outputs, Py_ssize_t start, Py_ssize_t n, Py_ssize_t more,
    double* tile, int* inexact
) noexcept nogil:
    """n <= FM_TILE_ROWS values of up to FM_TILE_OUTPUTS outputs: output k begins at tile[k FM_TILE_ROWS].

    `more` rows follow, which are read next.
    """
    cdef Py_ssize_t k
    fetch_tile(
        column.data + output * column.output_stride + start * column.row_stride, column.row_stride,
        column.output_stride, column.type, n, n_outputs, more, tile)
    if column.type >= FM_I64:
        for k in range(n_outputs):
            inexact[0] |= any_beyond(tile + k * FM_TILE_ROWS, n)


cdef inline bint has_contiguous_rows(RealColumn* column) noexcept nogil:
    """Are the outputs of a row of a matrix side by side?"""
    return column.output_stride == size_of_type(column.type)


cdef inline Matrix load_matrix(
    RealColumn* column, Py_ssize_t output, Py_ssize_t n_outputs, Py_ssize_t start, Py_ssize_t rows, double* scratch,
    int* inexact
) noexcept nogil:
    """Up to FM_MATRIX_OUTPUTS outputs of up to FM_MATRIX_ROWS rows, whose outputs are side by side.

    They are the column's own memory if possible, otherwise converted into `scratch`.
    """
    cdef Matrix matrix
    cdef const char* first = column.data + output * column.output_stride + start * column.row_stride
    cdef const double* values
    cdef Py_ssize_t i
    cdef Py_ssize_t n_copied = rows
    cdef Py_ssize_t width = n_outputs
    if column.type == FM_F64 and column.row_stride % 8 == 0 and <uintptr_t>first % 8 == 0:
        matrix.values = <const double*>first
        matrix.stride = column.row_stride // 8
        return matrix
    if column.row_stride == n_outputs * column.output_stride:  # rows without gaps are read as one
        n_copied = 1
        width = rows * n_outputs
    for i in range(n_copied):
        values = fetch(first + i * column.row_stride, column.output_stride, column.type, width, scratch + i * width)
        if values != scratch + i * width:
            memcpy(scratch + i * width, values, width * sizeof(double))
    if column.type >= FM_I64:
        inexact[0] |= any_beyond(scratch, rows * n_outputs)
    matrix.values = scratch
    matrix.stride = n_outputs
    return matrix


cdef inline Py_ssize_t rows_side_by_side(RealColumn* y, RealColumn* p) noexcept nogil:
    """How many rows of both matrices may be read as one row with the outputs of each; 1 if there are gaps."""
    if y.row_stride != y.n_outputs * y.output_stride or p.row_stride != p.n_outputs * p.output_stride:
        return 1
    return max(FM_MATRIX_OUTPUTS // y.n_outputs, <Py_ssize_t>1)


cdef inline RealColumn join_rows(RealColumn* column, Py_ssize_t n) noexcept nogil:
    """The matrix whose rows are n rows of the column side by side."""
    cdef RealColumn joined = column[0]
    joined.rows = column.rows // n
    joined.row_stride = n * column.row_stride
    joined.n_outputs = n * column.n_outputs
    return joined


cdef inline bint open_columns(object y_true, object y_pred, Py_buffer* views, RealColumn* columns) except -1:
    """Open both columns. Returns 1 with two open buffers, or 0 for an unsupported type."""
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


cdef inline void close_columns(Py_buffer* views) noexcept:
    PyBuffer_Release(&views[0])
    PyBuffer_Release(&views[1])


cdef inline int need_rows(
    Py_buffer* views, RealColumn* columns, Py_ssize_t start, Py_ssize_t stop, const double[::1] weights, bint fit
) except -1:
    """Close the columns and raise ValueError unless both have rows start..stop, with weights, and results `fit`."""
    fit &= columns[0].rows == columns[1].rows and columns[0].n_outputs == columns[1].n_outputs
    fit &= 0 <= start <= stop <= columns[0].rows
    if weights is not None and weights.shape[0]:
        fit &= weights.shape[0] >= stop
    if not fit:
        close_columns(views)
        raise ValueError("rows, weights or results do not fit the columns")
    return 0


cdef inline bint open_short_columns(object y_true, object y_pred, Py_buffer* views, RealColumn* columns):
    """Open two short arrays of equal length. Returns 1 with two open buffers, or 0 if they are not such."""
    try:
        if not open_columns(y_true, y_pred, views, columns):
            return 0
    except (ValueError, BufferError):
        return 0
    if (
        columns[0].rows == columns[1].rows and 1 <= columns[0].rows <= MAX_SHORT_ROWS
        and columns[0].n_outputs == 1 and columns[1].n_outputs == 1
    ):
        return 1
    close_columns(views)
    return 0


cdef inline void prefetch_rows(RealColumn* column, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Prefetch the rows that are read next, if they are contiguous or nearly so."""
    if n > 0 and 0 < column.row_stride <= 8 and column.n_outputs == 1:
        prefetch(column.data + start * column.row_stride, n * column.row_stride)
