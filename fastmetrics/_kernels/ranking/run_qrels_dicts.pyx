"""Reads a run and its qrels, which are dicts of dicts, into columns of scores and grades.

The loops hold the GIL, because they read Python objects. Most time is spent on memory access: a lookup of every
retrieved item would touch every key. So only the judged items, which are few, are looked up in the dict of the run,
which returns their score object. A small table from the address of a score object to its row then gives the row. If
several items have the same score object (for example a small integer), the address is ambiguous: the keys of these rows
are looked up in the qrels.

The code uses the limited API only.
"""

from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next
from cpython.float cimport PyFloat_AsDouble
from cpython.object cimport Py_TYPE, PyObject, PyTypeObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets

cdef extern from "Python.h":
    bint is_float "PyFloat_CheckExact"(object value)
    bint is_integer "PyLong_CheckExact"(object value)
    double integer_as_double "PyLong_AsDouble"(object value) except? -1.0
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* length) except NULL

cdef enum:
    LEAST_TABLE = 16

cdef double EXACT_INTEGER = 9007199254740992.0


cdef class _NumberReader:
    """Converts Python numbers to float64. Types other than float and int are checked once."""

    cdef object check_number_type
    cdef PyTypeObject* checked_type
    cdef bint is_floating

    def __init__(self, check_number_type):
        self.check_number_type = check_number_type
        self.checked_type = NULL

    cdef double number(self, object value) except? -1.0:
        cdef double result
        if is_float(value):
            return PyFloat_AsDouble(value)
        if is_integer(value):
            result = integer_as_double(value)
            if not -EXACT_INTEGER <= result <= EXACT_INTEGER:
                raise OverflowError("integers beyond 2**53 have no exact float64")
            return result
        if Py_TYPE(value) != self.checked_type:
            self.is_floating = self.check_number_type(value)
            self.checked_type = Py_TYPE(value)
        result = PyFloat_AsDouble(value)
        if not self.is_floating and not -EXACT_INTEGER <= result <= EXACT_INTEGER:
            raise OverflowError("integers beyond 2**53 have no exact float64")
        return result


cdef inline uint64_t slot_of(const void* address) noexcept nogil:
    # Objects have addresses that are multiples of 16. The upper half of the product mixes the higher bits.
    return (<uint64_t><uintptr_t>address >> 4) * <uint64_t>0x9E3779B97F4A7C15 >> 32


cdef inline int64_t insert_score(
    const void* score, int64_t row, const PyObject** scores, uint8_t* shared, uint32_t* table, uint64_t mask
) noexcept nogil:
    """Insert the address of a score; return the row that already has it, else -1."""
    cdef uint64_t slot = slot_of(score) & mask
    cdef int64_t other
    while table[slot]:
        other = <int64_t>table[slot] - 1
        if scores[other] == score:
            shared[other] = 1
            shared[row] = 1
            return other
        slot = (slot + 1) & mask
    table[slot] = <uint32_t>(row + 1)
    return -1


cdef inline int64_t row_of(
    const void* score, const PyObject** scores, const uint32_t* table, uint64_t mask
) noexcept nogil:
    cdef uint64_t slot = slot_of(score) & mask
    while table[slot]:
        if scores[table[slot] - 1] == score:
            return <int64_t>table[slot] - 1
        slot = (slot + 1) & mask
    return -1


def join_dicts(
    list run not None, list qrels not None, const int64_t[::1] offsets, check_number_type, double[::1] scores,
    double[::1] grades, double[::1] unretrieved, int64_t[::1] unretrieved_offsets
) -> tuple[int, int, Any, Any, Exception] | None:
    """Scores and grades of the lists (-1 if an item is not judged), and the grades of judged items not retrieved.

    List l is the dict run[l], item to score, with offsets[l + 1] - offsets[l] items, and qrels[l], item to relevance.
    unretrieved has room for all judged items, unretrieved_offsets one element more than there are lists.
    check_number_type(value) raises if the type of the value is not a number, and returns whether it is a floating type.
    Returns None, or the value that is not a number: (list, 0 for the run or 1 for the qrels, item, value, error).
    """
    cdef PyObject* key = NULL
    cdef PyObject* value = NULL
    cdef PyObject* found
    cdef const PyObject** rows
    cdef dict run_items, judged_items
    cdef Py_ssize_t cursor
    cdef Py_ssize_t i = 0
    cdef int64_t row, n, first
    cdef int64_t n_unretrieved = 0
    cdef int64_t longest = 0
    cdef uint64_t mask
    cdef uint64_t size = LEAST_TABLE
    cdef uint32_t* table
    cdef uint8_t* shared
    cdef bint has_shared
    cdef double number
    cdef int side = 0
    cdef _NumberReader numbers = _NumberReader(check_number_type)
    cdef Py_ssize_t n_lists = len(run)
    if len(qrels) != n_lists:
        raise ValueError(f"{n_lists} lists of a run, and {len(qrels)} of qrels")
    need_length(b"offsets", min(offsets.shape[0], unretrieved_offsets.shape[0]), n_lists + 1)
    need_offsets(b"offsets", &offsets[0], n_lists + 1, min(scores.shape[0], grades.shape[0]))
    for i in range(n_lists):
        longest = max(longest, offsets[i + 1] - offsets[i])
    while size < 2 * <uint64_t>longest:
        size *= 2
    # One allocation: the addresses of scores, the table, and the marks of shared scores.
    rows = <const PyObject**>malloc(
        <size_t>(longest + 1) * (sizeof(PyObject*) + 1) + size * sizeof(uint32_t))
    if rows == NULL:
        raise MemoryError
    table = <uint32_t*>(rows + longest + 1)
    shared = <uint8_t*>(table + size)
    try:
        for i in range(n_lists):
            run_items = run[i]
            judged_items = qrels[i]
            first = offsets[i]
            n = offsets[i + 1] - first
            if len(run_items) != n:
                raise RuntimeError("a dict changed its size while it was read")
            size = LEAST_TABLE
            while size < 2 * <uint64_t>n:
                size *= 2
            mask = size - 1
            memset(table, 0, size * sizeof(uint32_t))
            memset(shared, 0, <size_t>n)
            cursor = 0
            row = 0
            has_shared = False
            side = 0
            while row < n and PyDict_Next(run_items, &cursor, &key, &value):
                rows[row] = value
                number = numbers.number(<object>value)
                if number != number:
                    raise ValueError("NaN")
                scores[first + row] = number
                grades[first + row] = -1
                if insert_score(value, row, rows, shared, table, mask) >= 0:
                    has_shared = True
                row += 1
            cursor = 0
            side = 1
            unretrieved_offsets[i] = n_unretrieved
            while PyDict_Next(judged_items, &cursor, &key, &value):
                number = numbers.number(<object>value)
                if not -1.7976931348623157e308 <= number <= 1.7976931348623157e308:
                    raise ValueError("finite numbers are needed")
                found = PyDict_GetItemWithError(run_items, <object>key)
                if found == NULL:
                    if n_unretrieved == unretrieved.shape[0]:
                        raise RuntimeError("a dict changed its size while it was read")
                    unretrieved[n_unretrieved] = number
                    n_unretrieved += 1
                    continue
                row = row_of(found, rows, table, mask)
                if row >= 0 and not shared[row]:
                    grades[first + row] = number
            if has_shared:
                cursor = 0
                row = 0
                while row < n and PyDict_Next(run_items, &cursor, &key, &value):
                    if shared[row]:
                        found = PyDict_GetItemWithError(judged_items, <object>key)
                        if found != NULL:
                            grades[first + row] = numbers.number(<object>found)
                    row += 1
        unretrieved_offsets[n_lists] = n_unretrieved
    except (TypeError, ValueError, OverflowError) as error:
        if key == NULL or value == NULL:
            raise
        return i, side, <object>key, <object>value, error
    finally:
        free(rows)
    return None


def text_bytes(list texts, int64_t[::1] starts, int64_t[::1] stops) -> int:
    """Fill the start and stop of each text, all in UTF-8 one after the other; return the number of bytes."""
    cdef Py_ssize_t length, i
    cdef int64_t end = 0
    need_length(b"starts and stops", min(starts.shape[0], stops.shape[0]), len(texts))
    for i in range(len(texts)):
        PyUnicode_AsUTF8AndSize(texts[i], &length)
        starts[i] = end
        end += length
        stops[i] = end
    return end


def copy_texts(list texts, uint8_t[::1] data):
    """Write the texts to `data`, which has as many bytes as text_bytes returned."""
    cdef Py_ssize_t length, i
    cdef Py_ssize_t end = 0
    cdef const char* text
    for i in range(len(texts)):
        text = PyUnicode_AsUTF8AndSize(texts[i], &length)
        if length > data.shape[0] - end:
            raise RuntimeError("a list changed while it was read")
        if length:
            memcpy(&data[end], text, <size_t>length)
        end += length
