"""The slice of every row, from a code for each column; and how many rows every slice has."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t

cdef enum:
    MOST_COLUMNS = 64
    CHUNK_ROWS = 1024

MAX_COLUMNS = MOST_COLUMNS
MISSING = 65535  # in place of a number: the combination is not in the table


cdef Py_ssize_t look_up_rows(
    const int32_t* table, const uint32_t* sizes, const uint16_t** columns, Py_ssize_t n_columns, Py_ssize_t rows,
    uint16_t* out
) noexcept nogil:
    cdef uint32_t places[CHUNK_ROWS]
    cdef uint32_t outside[CHUNK_ROWS]
    cdef const uint16_t* column
    cdef Py_ssize_t i, n, number
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t n_missing = 0
    cdef uint32_t code, size
    while first < rows:
        n = min(<Py_ssize_t>CHUNK_ROWS, rows - first)
        for i in range(n):
            places[i] = outside[i] = 0
        for number in range(n_columns):
            column = columns[number] + first
            size = sizes[number]
            for i in range(n):
                code = column[i]
                outside[i] |= code >= size
                places[i] = places[i] * size + code
        for i in range(n):
            out[first + i] = <uint16_t>table[0 if outside[i] else places[i]] | <uint16_t>(0 - outside[i])
            n_missing += out[first + i] == 65535
        first += n
    return n_missing


def look_up(const int32_t[::1] table, tuple sizes, list columns, uint16_t[::1] out) -> int:
    """Write the number that a table has for the codes (uint16) of every row; return how many rows have none.

    The table has a row-major place for every combination of codes below `sizes`, less than 2**32 in all, and -1 where a
    combination has no number; numbers are below 65,535. A row without a number gets 65,535.
    """
    cdef const uint16_t* addresses[MOST_COLUMNS]
    cdef uint32_t lengths[MOST_COLUMNS]
    cdef const uint16_t[::1] column
    cdef Py_ssize_t number, n_missing
    cdef Py_ssize_t n_columns = len(columns)
    cdef Py_ssize_t rows = out.shape[0]
    if rows == 0:
        return 0
    if n_columns > MOST_COLUMNS or table.shape[0] == 0:
        raise ValueError(f"a table of {table.shape[0]} numbers of {n_columns} columns")
    for number in range(n_columns):
        column = columns[number]
        if column.shape[0] != rows:
            raise ValueError(f"a column of {column.shape[0]} codes beside {rows} rows")
        addresses[number] = &column[0]
        lengths[number] = sizes[number]
    with nogil:
        n_missing = look_up_rows(&table[0], lengths, addresses, n_columns, rows, &out[0])
    return n_missing


def count_rows(const uint16_t[::1] numbers, const uint8_t[::1] labels or None, int64_t[::1] counts):
    """Add the rows of every number to counts[number]; with labels, those with label 1 alone."""
    cdef Py_ssize_t i
    with nogil:
        if labels is None:
            for i in range(numbers.shape[0]):
                counts[numbers[i]] += 1
        else:
            for i in range(numbers.shape[0]):
                counts[numbers[i]] += labels[i]
