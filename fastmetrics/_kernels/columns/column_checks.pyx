"""Checks of one block of a column, made while the block is in cache.

Binary labels of any numeric type become uint8 0 or 1. The kinds of labels seen are returned as SAW_ bits, so that the
caller can decide for the whole column: {0, 1} and {-1, +1} are valid, a mix of -1 and 0 is not, and any other value is
an error whose row the caller then searches. Scores and weights are checked and not changed. Lists of Python's own
numbers become typed arrays, without NumPy's search for a common type.
"""

import numpy as np

from cpython.buffer cimport (
    PyBUF_ANY_CONTIGUOUS, PyBUF_FORMAT, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from fastmetrics._kernels.columns.real_columns cimport RealColumn, any_beyond, fetch, open_column
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_range

cdef enum:
    WIDENED_ROWS = 2048

ctypedef fused label_t:
    uint8_t
    int8_t
    int16_t
    uint16_t
    int32_t
    uint32_t
    int64_t
    uint64_t
    float
    double

ctypedef fused value_t:
    float
    double

MAX_WEIGHT = 1e300

cdef double LARGEST_WEIGHT = 1e300

SAW_ZERO = 1
SAW_ONE = 2
SAW_MINUS_ONE = 4
SAW_OTHER = 8


cdef extern from *:
    int PyFloat_CheckExact(object value)
    int PyLong_CheckExact(object value)
    int PyBool_Check(object value)
    double PyFloat_AsDouble(object value) except? -1
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1

cdef extern from "numeric/vector_math.h":
    int decode_i8 "fm_decode_labels_i8"(const int8_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int any_not_finite_f32 "fm_any_not_finite_f32"(const float* values, Py_ssize_t n) noexcept nogil
    int any_not_finite_f64 "fm_any_not_finite_f64"(const double* values, Py_ssize_t n) noexcept nogil
    int any_outside_f32 "fm_any_outside_f32"(
        const float* values, Py_ssize_t n, double low, double high
    ) noexcept nogil
    int any_outside_f64 "fm_any_outside_f64"(
        const double* values, Py_ssize_t n, double low, double high
    ) noexcept nogil
    int wrong_weights "fm_check_weights"(
        const double* weights, Py_ssize_t n, double most, int64_t* zeros
    ) noexcept nogil
    int any_nan_f32 "fm_any_nan_f32"(const float* values, Py_ssize_t n) noexcept nogil
    int any_nan_f64 "fm_any_nan_f64"(const double* values, Py_ssize_t n) noexcept nogil
    int decode_u8 "fm_decode_labels_u8"(const uint8_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_i16 "fm_decode_labels_i16"(const int16_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_u16 "fm_decode_labels_u16"(const uint16_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_i32 "fm_decode_labels_i32"(const int32_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_u32 "fm_decode_labels_u32"(const uint32_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_i64 "fm_decode_labels_i64"(const int64_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_u64 "fm_decode_labels_u64"(const uint64_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil


cdef inline int decode_floats(const value_t* rows, Py_ssize_t n, uint8_t* labels) noexcept nogil:
    cdef Py_ssize_t i
    cdef value_t value
    cdef uint8_t zero = 0
    cdef uint8_t one = 0
    cdef uint8_t minus_one = 0
    cdef uint8_t other = 0
    cdef uint8_t is_zero, is_one, is_minus_one
    for i in range(n):
        value = rows[i]
        is_zero = value == 0
        is_one = value == 1
        is_minus_one = value == -1
        labels[i] = is_one
        zero |= is_zero
        one |= is_one
        minus_one |= is_minus_one
        other |= 1 - (is_zero | is_one | is_minus_one)
    return zero | (one << 1) | (minus_one << 2) | (other << 3)


def decode_labels(const label_t[::1] values, Py_ssize_t start, Py_ssize_t stop, uint8_t[::1] out, int64_t[::1] seen):
    """out[i] = values[start + i] == 1. The SAW_ bits of the labels are added to seen[0]."""
    cdef Py_ssize_t n = stop - start
    cdef const label_t* rows
    cdef uint8_t* labels
    cdef int kinds
    if n <= 0:
        return
    need_range(start, stop, values.shape[0])
    need_length(b"out", out.shape[0], n)
    need_length(b"seen", seen.shape[0], 1)
    rows = &values[start]
    labels = &out[0]
    with nogil:
        if label_t is int8_t:
            kinds = decode_i8(rows, n, labels)
        elif label_t is uint8_t:
            kinds = decode_u8(rows, n, labels)
        elif label_t is int16_t:
            kinds = decode_i16(rows, n, labels)
        elif label_t is uint16_t:
            kinds = decode_u16(rows, n, labels)
        elif label_t is int32_t:
            kinds = decode_i32(rows, n, labels)
        elif label_t is uint32_t:
            kinds = decode_u32(rows, n, labels)
        elif label_t is int64_t:
            kinds = decode_i64(rows, n, labels)
        elif label_t is uint64_t:
            kinds = decode_u64(rows, n, labels)
        else:
            kinds = decode_floats[label_t](rows, n, labels)
    seen[0] |= kinds


def any_nan(const value_t[::1] values, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] has_nan):
    """Set has_nan[0] to 1 if a value of rows start..stop is NaN."""
    cdef int any_nan_seen
    if start >= stop:
        return
    need_range(start, stop, values.shape[0])
    need_length(b"has_nan", has_nan.shape[0], 1)
    with nogil:
        if value_t is double:
            any_nan_seen = any_nan_f64(&values[start], stop - start)
        else:
            any_nan_seen = any_nan_f32(&values[start], stop - start)
    has_nan[0] |= any_nan_seen


def any_not_finite(object values) -> bool:
    """Is a value NaN or infinite? `values` is a contiguous array of float32 or float64, of any shape.

    The buffer is inspected directly: for few values a typed memoryview would take most of the time.
    """
    cdef Py_buffer view
    cdef int found = 0
    cdef const char* letter
    PyObject_GetBuffer(values, &view, PyBUF_ANY_CONTIGUOUS | PyBUF_FORMAT)
    letter = view.format + (view.format[0] in (c"@", c"=", c"^"))
    if letter[0] == c"d" and view.itemsize == 8:
        with nogil:
            found = any_not_finite_f64(<const double*>view.buf, view.len // 8)
    elif letter[0] == c"f" and view.itemsize == 4:
        with nogil:
            found = any_not_finite_f32(<const float*>view.buf, view.len // 4)
    else:
        found = -1
    PyBuffer_Release(&view)
    if found < 0:
        raise TypeError("values must be float32 or float64")
    return found != 0


def any_outside(const value_t[::1] values, double low, double high) -> bool:
    """Is a value NaN, below `low` or above `high`?"""
    cdef int found = 0
    if values.shape[0]:
        with nogil:
            if value_t is double:
                found = any_outside_f64(&values[0], values.shape[0], low, high)
            else:
                found = any_outside_f32(&values[0], values.shape[0], low, high)
    return found != 0


def check_weights(const double[::1] weights, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] result):
    """Set result[0] to 1 if a weight is negative, NaN or above MAX_WEIGHT. Add the number of zeros to result[1]."""
    cdef int any_invalid = 0
    cdef int64_t n_zero = 0
    need_length(b"result", result.shape[0], 2)
    if stop > start:
        need_range(start, stop, weights.shape[0])
        with nogil:
            any_invalid = wrong_weights(&weights[start], stop - start, LARGEST_WEIGHT, &n_zero)
    result[0] |= any_invalid
    result[1] += n_zero


def widen_integers(object integers, double[::1] out) -> bool:
    """Write integers of any type as float64. Returns False if the magnitude of one is 2**53 or more.

    `integers` is a contiguous array of one dimension, as long as `out`.
    """
    cdef Py_buffer view
    cdef RealColumn column
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n
    cdef int beyond = 0
    if not open_column(integers, &view, &column):
        raise TypeError("the column is not of a type that is read")
    try:
        if column.rows != out.shape[0] or column.n_outputs != 1:
            raise ValueError("columns have different lengths")
        with nogil:
            while start < column.rows:
                n = min(column.rows - start, <Py_ssize_t>WIDENED_ROWS)
                fetch(column.data + start * column.row_stride, column.row_stride, column.type, n, &out[start])
                beyond |= any_beyond(&out[start], n)
                start += n
    finally:
        PyBuffer_Release(&view)
    return beyond == 0


def read_addresses(list arrays) -> NDArray[np.uint64]:
    """The address of each array's data. The arrays are contiguous; the caller keeps them alive."""
    cdef Py_buffer view
    cdef Py_ssize_t i
    found = np.empty(len(arrays), np.uint64)
    cdef uint64_t[::1] out = found
    for i in range(len(arrays)):
        PyObject_GetBuffer(arrays[i], &view, PyBUF_SIMPLE)
        out[i] = <uint64_t>view.buf
        PyBuffer_Release(&view)
    return found


def read_numbers(list values) -> np.ndarray | None:
    """The array that numpy.asarray makes of a list of floats, of integers, of both, or of bools.

    None if the list is empty, or has anything else, also a subclass of these types, or an integer that int64 cannot
    hold.
    """
    if not values:
        return None
    first = values[0]
    if PyFloat_CheckExact(first):
        return read_floats(values)
    if PyLong_CheckExact(first):
        return read_integers(values)
    return read_bools(values) if PyBool_Check(first) else None


def read_floats(list values) -> np.ndarray | None:
    """Floats, and integers among them, as float64; None if there is anything else."""
    cdef Py_ssize_t n = len(values)
    cdef Py_ssize_t row = 0
    cdef int overflow = 0
    array = np.empty(n, np.float64)
    cdef double[::1] numbers = array
    for value in values:
        if row == n:  # another thread appends
            return None
        if PyFloat_CheckExact(value):
            numbers[row] = PyFloat_AsDouble(value)
        elif PyLong_CheckExact(value):
            numbers[row] = <double>PyLong_AsLongLongAndOverflow(value, &overflow)
            if overflow:
                return None
        else:
            return None
        row += 1
    return array if row == n else None


def read_integers(list values) -> np.ndarray | None:
    """Integers as int64, with floats among them as float64; None if there is anything else."""
    cdef Py_ssize_t n = len(values)
    cdef Py_ssize_t row = 0
    cdef int overflow = 0
    array = np.empty(n, np.int64)
    cdef int64_t[::1] numbers = array
    for value in values:
        if row == n:
            return None
        if not PyLong_CheckExact(value):
            return read_floats(values) if PyFloat_CheckExact(value) else None
        numbers[row] = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow:
            return None
        row += 1
    return array if row == n else None


def read_bools(list values) -> np.ndarray | None:
    """Bools; None if there is anything else."""
    cdef Py_ssize_t n = len(values)
    cdef Py_ssize_t row = 0
    array = np.empty(n, np.bool_)
    cdef unsigned char[::1] flags = array.view(np.uint8)
    for value in values:
        if row == n or not PyBool_Check(value):
            return None
        flags[row] = value is True
        row += 1
    return array if row == n else None
