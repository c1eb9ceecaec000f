"""Lists of Python's own numbers as typed arrays, without NumPy's search for a common type."""

import numpy as np

from libc.stdint cimport int64_t

cdef extern from *:
    int PyFloat_CheckExact(object value)
    int PyLong_CheckExact(object value)
    int PyBool_Check(object value)
    double PyFloat_AsDouble(object value) except? -1
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1


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
