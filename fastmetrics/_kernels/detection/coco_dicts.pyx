"""A list of dicts, as json.load returns COCO's annotations and detections, read into columns.

The loop holds the GIL, because it reads Python objects. Each dict is visited once, for all fields. The kernel reads
Python's own int, float and list. At any other value (a NumPy number, a tuple, text, an error) it returns the row and
the field; the caller handles the row and continues after it. Only functions of the limited API are used.
"""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.float cimport PyFloat_AsDouble
from cpython.list cimport PyList_GetItem, PyList_Size
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.numeric.length_checks cimport need_length

cdef extern from "Python.h":
    bint is_dict "PyDict_CheckExact"(object value)
    bint is_float "PyFloat_Check"(object value)
    bint is_integer "PyLong_CheckExact"(object value)
    bint is_list "PyList_CheckExact"(object value)
    long long as_integer "PyLong_AsLongLongAndOverflow"(object value, int* overflow) except? -1
    double integer_as_double "PyLong_AsDouble"(object value) except? -1.0

cdef enum:
    FIELDS = 16

cdef double EXACT_INTEGER = 9007199254740992.0

MOST_FIELDS = FIELDS
ROW = -1                        # instead of a field: the row is not a dict


cdef int read_number(object value, double* out) except -1:
    """Convert a float, or an int that a float can represent exactly; return 0 for other values."""
    if is_float(value):
        out[0] = PyFloat_AsDouble(value)
        return 1
    if is_integer(value):
        try:
            out[0] = integer_as_double(value)
        except OverflowError:
            return 0
        return -EXACT_INTEGER <= out[0] <= EXACT_INTEGER
    return 0


cdef int need_column(
    const char* name, Py_ssize_t n_found, Py_ssize_t n_fields, Py_ssize_t n_rows, Py_ssize_t n
) except -1:
    """Raise ValueError unless there are columns for so many fields, with n rows or more."""
    need_length(name, n_found, n_fields)
    return need_length(name, n_rows, n) if n_fields else 0


def read_rows(
    list rows, Py_ssize_t start, list integers, list numbers, list boxes, int64_t[:, ::1] integer_columns,
    double[:, ::1] number_columns, double[:, :, ::1] box_columns, uint64_t[::1] seen
) -> tuple[int, int]:
    """Read rows[start:] into columns. Bit i of seen[row] is set if the row has field i of integers + numbers + boxes.

    Columns are [field, row], those of boxes [field, row, 4]. Returns (number of rows, 0) at the end. At a value that
    the kernel does not read, it returns (row, field): earlier fields of that row have been read, later ones have not.
    The field is ROW if the row is not a dict.
    """
    cdef Py_ssize_t row, field, box, i
    cdef Py_ssize_t n = PyList_Size(rows)
    cdef Py_ssize_t n_integers = len(integers)
    cdef Py_ssize_t n_numbers = len(numbers)
    cdef Py_ssize_t n_fields = n_integers + n_numbers + len(boxes)
    cdef PyObject* names[FIELDS]
    cdef PyObject* pointer
    cdef object value, mapping
    cdef uint64_t bits
    cdef int overflow
    cdef list all_fields = integers + numbers + boxes
    if n_fields > FIELDS or n > seen.shape[0] or start < 0:
        raise ValueError("too many fields or rows")
    need_column(b"integer_columns", integer_columns.shape[0], n_integers, integer_columns.shape[1], n)
    need_column(b"number_columns", number_columns.shape[0], n_numbers, number_columns.shape[1], n)
    need_column(b"box_columns", box_columns.shape[0], len(boxes), box_columns.shape[1], n)
    if boxes and box_columns.shape[2] != 4:
        raise ValueError("a box has four numbers")
    for field in range(n_fields):
        names[field] = <PyObject*>PyList_GetItem(all_fields, field)
    for row in range(start, n):
        mapping = <object>PyList_GetItem(rows, row)
        if not is_dict(mapping):
            return row, ROW
        bits = 0
        for field in range(n_fields):
            pointer = PyDict_GetItemWithError(mapping, <object>names[field])
            if pointer == NULL:
                continue
            bits |= <uint64_t>1 << field
            value = <object>pointer
            if field < n_integers:
                if not is_integer(value):
                    return row, field
                overflow = 0
                integer_columns[field, row] = as_integer(value, &overflow)
                if overflow:
                    return row, field
            elif field < n_integers + n_numbers:
                if not read_number(value, &number_columns[field - n_integers, row]):
                    return row, field
            else:
                box = field - n_integers - n_numbers
                if not is_list(value) or PyList_Size(value) != 4:
                    return row, field
                for i in range(4):
                    if not read_number(<object>PyList_GetItem(value, i), &box_columns[box, row, i]):
                        return row, field
        seen[row] = bits
    return n, 0
